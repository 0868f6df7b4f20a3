// Package redistest starts real Redis servers for tests: a single one, a set with
// Sentinel, a Cluster, or one behind a proxy that can be cut. Every server listens
// on its own port and ends with the test, at the latest with the test process.
package redistest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// Server is a redis-server of one test.
type Server struct {
	Addr string // host:port
	URL  string // redis://host:port

	t      testing.TB
	daemon *daemon
}

// Option is a setting of a server.
type Option func(args []string) []string

// AOF makes the server write to the disk before it replies, so that Kill and Restart
// lose no acknowledged write.
func AOF() Option { return Args("--appendonly", "yes", "--appendfsync", "always") }

// Args adds arguments of redis-server: "--maxmemory-policy", "allkeys-lru".
func Args(more ...string) Option {
	return func(args []string) []string { return append(args, more...) }
}

// Start starts a server for the time of the test. Without options it stores nothing
// on disk.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	d, err := launch(needRedis(t), t.TempDir(), serverArgs(options...))
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	return own(t, d)
}

func own(t testing.TB, d *daemon) *Server {
	t.Helper()
	t.Cleanup(func() {
		d.reportRefused(t)
		d.kill()
	})
	return &Server{Addr: d.addr(), URL: asUser("redis://" + d.addr()), t: t, daemon: d}
}

func serverArgs(options ...Option) func(int) ([]string, error) {
	return func(port int) ([]string, error) {
		args := []string{"--port", strconv.Itoa(port), "--bind", loopback, "--save", "", "--appendonly", "no"}
		for _, option := range options {
			args = option(args)
		}
		return slices.Clip(args), nil
	}
}

// Kill ends the server as kill -9 does, and returns when it has ended.
func (s *Server) Kill() {
	s.t.Helper()
	s.daemon.kill()
}

// Restart kills the server if it runs, starts it again with the same port and
// directory, and returns when it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.daemon.kill()
	if err := s.daemon.start(); err != nil {
		s.t.Fatalf("redistest: restart: %v", err)
	}
}

// RestartLoading kills the server, after it has saved its data, and starts it again
// so that it answers LOADING for about d.
func (s *Server) RestartLoading(d time.Duration) {
	s.t.Helper()
	client := s.daemon.client()
	const keys = 200
	value := make([]byte, 2048) // more than the interval at which it answers
	for i := range keys {
		_, _ = rand.Read(value) // not compressible
		if err := client.Set(s.t.Context(), "ballast:"+strconv.Itoa(i), value, 0).Err(); err != nil {
			s.t.Fatalf("redistest: ballast: %v", err)
		}
	}
	if err := client.Save(s.t.Context()).Err(); err != nil {
		s.t.Fatalf("redistest: save: %v", err)
	}
	all := max(client.DBSize(s.t.Context()).Val(), keys)
	_ = client.Close()
	before := s.daemon.args
	s.daemon.args = append(slices.Clone(before),
		"--key-load-delay", strconv.FormatInt(d.Microseconds()/all, 10), "--loading-process-events-interval-bytes", "1024")
	s.Restart()
	s.daemon.args = before
}

// FailSaves has every snapshot of the server fail from now on, so that it answers
// writes with MISCONF, until repair. The server needs SavePoint.
func (s *Server) FailSaves() (repair func()) {
	s.t.Helper()
	client := s.daemon.client()
	defer client.Close()
	blocked := filepath.Join(s.daemon.dir, "dump.rdb") // a directory cannot be replaced by a file
	if err := poll(func(context.Context) error {       // a snapshot under way may write the file again
		_ = os.Remove(blocked)
		return os.MkdirAll(filepath.Join(blocked, "full"), 0o700)
	}); err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	s.save(client, "err")
	return func() {
		s.t.Helper()
		if err := os.RemoveAll(blocked); err != nil {
			s.t.Fatalf("redistest: %v", err)
		}
		client := s.daemon.client()
		defer client.Close()
		s.save(client, "ok")
	}
}

// save makes a snapshot in the background and waits for its outcome.
func (s *Server) save(client *redis.Client, want string) {
	s.t.Helper()
	err := poll(func(ctx context.Context) error {
		_ = client.BgSave(ctx).Err() // one may be under way
		info, err := client.Info(ctx, "persistence").Result()
		if err == nil && !strings.Contains(info, "rdb_last_bgsave_status:"+want+"\r\n") {
			err = fmt.Errorf("the status of the snapshot is not %s", want)
		}
		return err
	})
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
}

// SavePoint makes the server refuse writes after a snapshot that failed. It makes none
// by itself within a day.
func SavePoint() Option { return Args("--save", "86400 1000000000") }

// Open connects to a URL for the time of the test.
func Open(t testing.TB, url string) *redisx.Conn {
	t.Helper()
	conn := open(t, redisx.Options{URL: url})
	asTest(t, conn, url)
	return conn
}

func open(t testing.TB, options redisx.Options) *redisx.Conn {
	t.Helper()
	conn, err := redisx.Open(t.Context(), options)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func needRedis(t testing.TB) string {
	t.Helper()
	return testenv.Binary(t, "redis-server", "valkey-server")
}

// Signal sends a signal to the server: SIGSTOP makes it accept connections and answer
// nothing, until SIGCONT.
func (s *Server) Signal(signal os.Signal) {
	s.t.Helper()
	if err := s.daemon.cmd.Process.Signal(signal); err != nil {
		s.t.Fatalf("redistest: signal: %v", err)
	}
}
