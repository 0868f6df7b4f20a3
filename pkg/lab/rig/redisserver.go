package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ushuru/pkg/redisx"
)

// StartRedis starts an empty redis-server on a socket, with the durability that
// the service recommends, and returns its URL. stop ends it and removes its
// files.
func StartRedis(ctx context.Context) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "ushuru-bench")
	if err != nil {
		return "", nil, err
	}
	socket := filepath.Join(dir, "redis")
	//nolint:gosec // the arguments are ours
	command := exec.CommandContext(context.WithoutCancel(ctx), "redis-server",
		"--port", "0", "--unixsocket", socket, "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "everysec")
	command.SysProcAttr = endsWithParent()
	if err := command.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("give --redis-url, or install redis-server: %w", err)
	}
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = os.RemoveAll(dir)
	}
	for range 200 {
		if _, err = os.Stat(socket); err == nil {
			return "redis-socket://" + socket, stop, nil
		}
		select {
		case <-ctx.Done():
			stop()
			return "", nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	stop()
	return "", nil, fmt.Errorf("redis-server did not start: %w", err)
}

// WithRedis calls a function with an empty Redis of its own.
func WithRedis(ctx context.Context, do func(conn *redisx.Conn, url string) error) error {
	url, stop, err := StartRedis(ctx)
	if err != nil {
		return err
	}
	defer stop()
	conn, err := redisx.Open(ctx, redisx.Options{URL: url})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return do(conn, url)
}
