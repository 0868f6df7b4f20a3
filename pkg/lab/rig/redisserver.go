package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// RedisServer is a redis-server on a socket, with the durability that the service
// recommends.
type RedisServer struct {
	URL string

	dir, socket string
	command     *exec.Cmd
}

// NewRedisServer starts an empty server. Stop ends it and removes its files.
func NewRedisServer(ctx context.Context) (*RedisServer, error) {
	dir, err := os.MkdirTemp("", "ushuru-bench")
	if err != nil {
		return nil, err
	}
	s := &RedisServer{dir: dir, socket: filepath.Join(dir, "redis")}
	s.URL = "redis-socket://" + s.socket
	if err := s.Start(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Start starts a server that does not run, with what it had, and returns when it answers.
func (s *RedisServer) Start(ctx context.Context) error {
	//nolint:gosec // the arguments are ours
	s.command = exec.CommandContext(context.WithoutCancel(ctx), "redis-server",
		"--port", "0", "--unixsocket", s.socket, "--dir", s.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "everysec")
	s.command.SysProcAttr = endsWithParent()
	if err := s.command.Start(); err != nil {
		s.command = nil
		return fmt.Errorf("give --redis-url, or install redis-server: %w", err)
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: s.socket, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	const interval, longest = 20 * time.Millisecond, time.Minute
	for deadline := time.Now().Add(longest); ; {
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("redis-server did not start: %w", err)
		}
		time.Sleep(interval)
	}
}

// Kill ends the server as a crash does; what it stored stays.
func (s *RedisServer) Kill() {
	if s.command == nil {
		return
	}
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
	_ = os.Remove(s.socket)
	s.command = nil
}

// Stop ends the server and removes its files.
func (s *RedisServer) Stop() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// WithRedis calls a function with an empty Redis of its own.
func WithRedis(ctx context.Context, do func(conn *redisx.Conn, url string) error) error {
	return WithRedisServer(ctx, func(conn *redisx.Conn, server *RedisServer) error { return do(conn, server.URL) })
}

// WithRedisServer does what WithRedis does, for a function that kills the server.
func WithRedisServer(ctx context.Context, do func(conn *redisx.Conn, server *RedisServer) error) error {
	server, err := NewRedisServer(ctx)
	if err != nil {
		return err
	}
	defer server.Stop()
	conn, err := redisx.Open(ctx, redisx.Options{URL: server.URL})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return do(conn, server)
}
