// Package clitest runs the program in processes of its own, for tests that kill
// them or measure them. The test binary must be the program too: see
// testscript.Main.
package clitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Process is the program as a process of its own.
type Process struct {
	Started Line          // the line of the log that said that the process was ready
	Over    chan struct{} // closed when the process has ended

	command *exec.Cmd

	mu   sync.Mutex
	last []string // the last lines of the log
}

// Line is what tests need of a line of the log.
type Line struct {
	Msg     string `json:"msg"`
	Worker  string `json:"worker"`
	Address string `json:"address"`
}

// Start starts a command of the program "ushuru" and returns when its log has
// the message ready; an error when it ended before.
func Start(t testing.TB, ready string, args ...string) (*Process, error) {
	t.Helper()
	return StartProgram(t, "ushuru", nil, ready, args...)
}

// StartProgram does what Start does with another build of the program and more
// variables of the environment.
func StartProgram(t testing.TB, program string, env []string, ready string, args ...string) (*Process, error) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	//nolint:gosec,noctx // the arguments are those of a test; the process ends with it
	p := &Process{command: exec.Command(path, args...), Over: make(chan struct{})}
	p.command.SysProcAttr, p.command.Env = endsWithParent(), append(os.Environ(), env...)
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	started := make(chan Line, 1)
	go func() {
		defer close(p.Over)
		for lines := bufio.NewScanner(stderr); lines.Scan(); { // to its end, so that the pipe never fills
			var line Line
			if p.add(lines.Text()); json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == ready {
				started <- line
			}
		}
	}()
	select {
	case p.Started = <-started:
		return p, nil
	case <-p.Over:
		return nil, fmt.Errorf("ushuru did not start: %s", p.Tail())
	}
}

// add stores the last lines of the log.
func (p *Process) add(line string) {
	const maxLines = 2000
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, line)
	p.last = p.last[max(0, len(p.last)-maxLines):]
}

// Log returns the lines of the log, the last 2,000 of them.
func (p *Process) Log() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.last)
}

// Tail returns the last lines of the log.
func (p *Process) Tail() string {
	const lines = 20
	log := p.Log()
	return strings.Join(log[max(0, len(log)-lines):], "\n")
}

// PID returns the process's number.
func (p *Process) PID() int { return p.command.Process.Pid }

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// Wait waits until the process has ended, and returns an error unless its exit
// status is 0.
func (p *Process) Wait() error {
	<-p.Over // before Wait of the command, which closes the pipe
	return p.command.Wait()
}

// Kill is SIGKILL; it returns when the process has ended. It may be called twice.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	_ = p.Wait()
}
