package rig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
)

// Process is this program as a process of its own.
type Process struct {
	Address string // where it listens, of an API

	command *exec.Cmd
	ended   chan struct{}
	last    string // the last line of its log, once it has ended
}

// StartProcess starts a command of this program and returns when its log has the
// message ready. It ends when ctx does, or by Stop or Kill.
func StartProcess(ctx context.Context, ready string, args ...string) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	//nolint:gosec // this program
	p := &Process{command: exec.CommandContext(ctx, program, args...), ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), "LOG_LEVEL=info", "LOG_FORMAT=json", "DRAIN_DELAY=0s")
	p.command.SysProcAttr, p.command.Args[0] = endsWithParent(), "ushuru"
	log, err := p.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	started := make(chan string, 1)
	go p.follow(log, ready, started)
	select {
	case p.Address = <-started:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("lab: ushuru %s ended: %s", args[0], p.last)
	}
}

// follow reads the log to its end, so that the pipe never fills.
func (p *Process) follow(log io.Reader, ready string, started chan<- string) {
	defer close(p.ended)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct {
			Msg     string `json:"msg"`
			Address string `json:"address"`
		}
		p.last = lines.Text()
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == ready {
			select {
			case started <- line.Address:
			default:
			}
		}
	}
	_ = p.command.Wait()
}

// Stop asks the process to end, and kills it when that takes long.
func (p *Process) Stop() {
	const timeout = 15 * time.Second
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(timeout):
		p.Kill()
	}
}

// Kill is SIGKILL; it returns when the process has ended.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// Memory returns what Linux says of the memory that the process holds now, and the most
// that it held, in bytes; 0 elsewhere.
func (p *Process) Memory() (now, most int64) {
	return statusField(p.command.Process.Pid, "VmRSS:"), statusField(p.command.Process.Pid, "VmHWM:")
}

// statusField returns a field of /proc/PID/status in bytes; 0 when there is none.
func statusField(pid int, field string) int64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == field {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

// StartAPI starts an API on a free port of this machine, and returns a client with a
// new key. Its keys may keep and run as much as Redis holds.
func StartAPI(ctx context.Context, conn *redisx.Conn, redisURL string) (*Process, *client.Client, error) {
	key, _, err := keys.NewStore(conn.Client()).Create(ctx, "bench")
	if err != nil {
		return nil, nil, err
	}
	p, err := StartProcess(ctx, "API listening", "api", "--redis-url", redisURL, "--listen", "127.0.0.1:0", "--allow-loopback",
		"--admin-addr", "off", "--key-bytes", "0", "--key-batch-items", "0")
	if err != nil {
		return nil, nil, err
	}
	api, err := client.New(client.Options{URL: "http://" + p.Address, Key: key})
	if err != nil {
		p.Stop()
		return nil, nil, err
	}
	return p, api, nil
}

// StartWorker starts a worker of roles that calls the authority at an address as fast
// as it can.
func StartWorker(ctx context.Context, redisURL, authority, roles string) (*Process, error) {
	if authority == "" {
		return nil, errors.New("lab: a worker without an authority")
	}
	return StartProcess(ctx, "worker started", "worker", "--redis-url", redisURL, "--authority-url", authority,
		"--roles", roles, "--authority-rate", "0", "--fetch-rate", "0", "--allow-loopback", "--admin-addr", "off")
}

// Time returns the processor time of the process; 0 on systems without /proc.
func (p *Process) Time() time.Duration {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.command.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5); Linux shows it in hundredths of a second
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	ticks := 0
	for _, field := range [][]byte{fields[user], fields[system]} {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
