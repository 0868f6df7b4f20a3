package redisx_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// pipelines counts what a client sends.
type pipelines struct{ single, gathered atomic.Int64 }

func (*pipelines) DialHook(next redis.DialHook) redis.DialHook { return next }

func (p *pipelines) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if command.Name() != "hello" { // of a new connection
			p.single.Add(1)
		}
		return next(ctx, command)
	}
}

func (p *pipelines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		p.gathered.Add(1)
		return next(ctx, commands)
	}
}

func TestCommandsAreGathered(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client, sent := conn.Client(), &pipelines{}
		redisx.Gather(client)
		client.AddHook(sent)
		var callers sync.WaitGroup
		for i := range 100 {
			callers.Go(func() {
				key := fmt.Sprint("gather:", i)
				if err := client.Set(t.Context(), key, i, time.Minute).Err(); err != nil {
					t.Error(err)
				}
				pipe := client.Pipeline()
				got, missing := pipe.Get(t.Context(), key), pipe.Get(t.Context(), "missing:"+key)
				_, err := pipe.Exec(t.Context())
				if n, _ := got.Int(); n != i || !errors.Is(missing.Err(), redis.Nil) || !errors.Is(err, redis.Nil) {
					t.Errorf("%d: %d, %v, %v", i, n, missing.Err(), err)
				}
			})
		}
		callers.Wait()
		script := redis.NewScript("return ARGV[1]") // a script that Redis does not know is sent as text
		if text, err := script.Run(t.Context(), client, []string{"k"}, "x").Text(); text != "x" || err != nil {
			t.Errorf("script: %q %v", text, err)
		}
		var n *redis.IntCmd
		if _, err := client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
			n = p.Incr(t.Context(), "gather:n")
			return nil
		}); err != nil || n.Val() != 1 {
			t.Errorf("transaction: %v %v", n.Val(), err)
		}
		if single, gathered := sent.single.Load(), sent.gathered.Load(); single != 0 || gathered > 80 {
			t.Errorf("%d single commands and %d pipelines of 300 commands", single, gathered)
		}
		gathered := sent.gathered.Load()
		if err := client.Set(redisx.AtOnce(t.Context()), "k", "v", time.Minute).Err(); err != nil ||
			sent.single.Load() != 1 || sent.gathered.Load() != gathered {
			t.Errorf("a command that waits for no others: %v; %d are single", err, sent.single.Load())
		}
	})
}

func TestAGatheredCommandEndsWithItsContextAndItsLine(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer client.Close()
	redisx.Gather(client)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	started := time.Now()
	if err := client.Get(ctx, "k").Err(); err == nil || time.Since(started) > time.Second {
		t.Errorf("context: %v after %v", err, time.Since(started))
	}
	_ = listener.Close()
	if err := client.Get(t.Context(), "k").Err(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("line: %v", err)
	}
}
