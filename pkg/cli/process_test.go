package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
)

// process is one of ours that runs as a process of its own.
type process struct {
	command *exec.Cmd
	started line          // what it said when it was ready
	over    chan struct{} // closed when it has ended

	mu   sync.Mutex
	said []string // the last lines of its log
}

// line is what tests need of a line of the log.
type line struct {
	Msg     string `json:"msg"`
	Worker  string `json:"worker"`
	Address string `json:"address"`
}

// startProcess starts a command of this binary and returns when it has said
// that it is ready; an error when it ended before.
func startProcess(t *testing.T, ready string, args ...string) (*process, error) {
	t.Helper()
	path, err := exec.LookPath("ushuru")
	must(t, err)
	p := &process{command: exec.Command(path, args...), over: make(chan struct{})}
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := p.command.StderrPipe()
	must(t, err)
	must(t, p.command.Start())
	t.Cleanup(p.kill)
	started := make(chan line, 1)
	go func() {
		defer close(p.over)
		for lines := bufio.NewScanner(stderr); lines.Scan(); { // to its end, so that the pipe never fills
			var said line
			if p.keep(lines.Text()); json.Unmarshal(lines.Bytes(), &said) == nil && said.Msg == ready {
				started <- said
			}
		}
	}()
	select {
	case p.started = <-started:
		return p, nil
	case <-p.over:
		return nil, fmt.Errorf("ushuru did not start: %s", p.tail())
	}
}

// keep keeps the last lines of the log.
func (p *process) keep(text string) {
	const most = 20
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, text)
	p.said = p.said[max(0, len(p.said)-most):]
}

func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

// A terminal that closes must not end a process without a word.
func TestHangupStopsAsTermDoes(t *testing.T) {
	// Where SIGHUP is ignored, as under nohup, a child would inherit that; what is
	// caught it does not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	server := redistest.Start(t)
	p, err := startProcess(t, "API listening", "api", "--allow-loopback", "--redis-url", server.URL, "--listen", "127.0.0.1:0",
		"--drain-delay", "0s")
	must(t, err)
	must(t, p.command.Process.Signal(syscall.SIGHUP))
	select {
	case <-p.over:
	case <-time.After(20 * time.Second):
		t.Fatal("it runs on")
	}
	err = p.command.Wait()
	if said := p.tail(); err != nil || !strings.Contains(said, "hangup") || !strings.Contains(said, "API stopped") {
		t.Errorf("%v: %s", err, said)
	}
}

// kill is SIGKILL; it returns when the process is gone. It may be called twice.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.over // before Wait, which closes the pipe
	_ = p.command.Wait()
}
