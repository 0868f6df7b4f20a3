package redisx_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{redis.Nil, false},
		{errors.New("WRONGTYPE Operation against a key holding the wrong kind of value"), false},
		{fmt.Errorf("jobs: %w", io.ErrUnexpectedEOF), true},
		{errors.New("LOADING Redis is loading the dataset in memory"), true},
		{errors.New("asynq: OOM command not allowed when used memory > 'maxmemory'"), true},
		{errors.New("READONLY You can't write against a read only replica. script: 1f"), true},
		{errors.New("ERR a script failed"), false},
		{fmt.Errorf("jobs: %w", redis.ErrClosed), true},
		{errors.New("redis: cluster has no nodes"), true},
		{errors.New("redis: no sentinels configured"), true},
		{errors.New("redis: all sentinels specified in configuration are unreachable: redis: nil"), true},
		{errors.Join(redis.Nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}), true},
	} {
		if got := redisx.IsUnavailable(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

func TestRealServersAreUnavailable(t *testing.T) {
	t.Parallel()
	full := redistest.Open(t, redistest.Start(t, redistest.Args("--maxmemory", "1")).URL)
	if err := full.Client().Set(t.Context(), "k", "v", 0).Err(); !redisx.IsUnavailable(err) {
		t.Errorf("without memory: %v", err)
	}
	gone := redistest.Start(t)
	conn := redistest.Open(t, gone.URL)
	gone.Kill()
	if err := conn.Client().Set(t.Context(), "k", "v", 0).Err(); !redisx.IsUnavailable(err) {
		t.Errorf("killed: %v", err)
	}
}
