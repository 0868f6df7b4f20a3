package redistest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	readyWithin = 20 * time.Second // a loaded machine with two cores
	pollEvery   = 5 * time.Millisecond
)

var errExited = errors.New("redis-server exited")

// daemon is one process of redis-server with a directory of its own.
type daemon struct {
	binary string
	dir    string
	args   []string // port and directory come on top
	port   int
	cmd    *exec.Cmd // nil while it does not run
}

// launch starts a server on a free port and waits until it answers. args may
// depend on the port.
func launch(binary, dir string, args func(port int) ([]string, error)) (*daemon, error) {
	const tries = 5
	var err error
	for range tries {
		d := &daemon{binary: binary, dir: dir}
		if d.port, err = freePort(); err != nil {
			return nil, err
		}
		if d.args, err = args(d.port); err == nil {
			d.args, err = withUsers(dir, d.args)
		}
		if err != nil {
			return nil, err
		}
		if err = d.start(); err == nil {
			return d, nil
		}
		if !errors.Is(err, errExited) {
			return nil, err
		}
	}
	return nil, err
}

func (d *daemon) addr() string { return address(d.port) }

func (d *daemon) client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: d.addr(), MaxRetries: -1, DialerRetries: 1})
}

func (d *daemon) logFile() string { return filepath.Join(d.dir, "log") }

// start starts the process and waits until it answers. After an error the process
// has ended.
func (d *daemon) start() error {
	log, err := os.Create(d.logFile())
	if err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), d.binary, d.args...) //nolint:gosec // a test says what to run
	cmd.Dir = d.dir
	cmd.Stdout, cmd.Stderr = log, log // files: nothing has to copy, no goroutine is left
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	d.cmd = cmd
	if err := d.await(); err != nil {
		d.kill()
		text, _ := os.ReadFile(d.logFile())
		return fmt.Errorf("%w; its log:\n%s", err, text)
	}
	return nil
}

// kill is SIGKILL; it returns when the process is gone.
func (d *daemon) kill() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	d.cmd = nil
}

// await polls until this process answers, not another one on its port.
func (d *daemon) await() error {
	client := d.client()
	defer client.Close()
	return poll(func(ctx context.Context) error {
		if d.exited() {
			return errExited
		}
		if err := dial(ctx, d.addr()); err != nil { // first, as go-redis logs what it cannot dial
			return err
		}
		info, err := client.Info(ctx, "server").Result()
		if err != nil {
			return fmt.Errorf("redis-server does not answer: %w", err)
		}
		if !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", d.cmd.Process.Pid)) {
			return fmt.Errorf("another server has port %d: %w", d.port, errExited)
		}
		return nil
	})
}

func dial(ctx context.Context, addr string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("redis-server does not listen: %w", err)
	}
	return conn.Close()
}

// exited reports, where there is /proc, whether the process has ended although no
// process has waited for it.
func (d *daemon) exited() bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(d.cmd.Process.Pid), "stat"))
	if err != nil {
		return false
	}
	_, fields, _ := bytes.Cut(stat, []byte(") ")) // past the name in brackets stands the state
	return bytes.HasPrefix(fields, []byte("Z"))
}

// poll calls f until it returns nil or an exit, or until the deadline.
func poll(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		err := f(ctx)
		if err == nil || errors.Is(err, errExited) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %v: %w", readyWithin, err)
		case <-ticker.C:
		}
	}
}
