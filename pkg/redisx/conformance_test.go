package redisx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// deadline bounds waits for events that must happen. A test that passes does not
// wait that long.
const deadline = 20 * time.Second

func TestEveryKindStores(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client, ctx := conn.Client(), t.Context()
		for i := range 32 { // on a cluster: all servers
			key := fmt.Sprintf("key:%d", i)
			must(t, client.Set(ctx, key, i, 0).Err())
			if got, err := client.Get(ctx, key).Int(); err != nil || got != i {
				t.Fatalf("GET %s: %d, %v", key, got, err)
			}
		}
		if err := client.Get(ctx, "missing").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("GET of a missing key: %v, want redis.Nil", err)
		}
	})
}

func TestEveryKindExpires(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client, ctx := conn.Client(), t.Context()
		must(t, client.Set(ctx, "short", "x", 200*time.Millisecond).Err())
		must(t, client.Set(ctx, "long", "x", time.Hour).Err())
		if ttl, err := client.PTTL(ctx, "long").Result(); err != nil || ttl <= 59*time.Minute || ttl > time.Hour {
			t.Errorf("PTTL long: %v, %v", ttl, err)
		}
		eventually(t, "short expires", func() bool { return errors.Is(client.Get(ctx, "short").Err(), redis.Nil) })
		must(t, client.Get(ctx, "long").Err())
	})
}

var casScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[2], redis.call("GET", KEYS[1]), "PX", 60000)
redis.call("DEL", KEYS[1])
return 1`)

func TestEveryKindRunsScriptsOnOneHashTag(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client, ctx := conn.Client(), t.Context()
		must(t, client.Set(ctx, "{job}:a", "v", 0).Err())
		for i, want := range []int64{1, 0} {
			got, err := casScript.Run(ctx, client, []string{"{job}:a", "{job}:b"}, "v").Int64()
			if err != nil || got != want {
				t.Fatalf("run %d: %d, %v; want %d", i, got, err, want)
			}
		}
		if got := client.Get(ctx, "{job}:b").Val(); got != "v" {
			t.Errorf("b = %q", got)
		}
	})
}

func TestEveryKindPublishes(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client, ctx := conn.Client(), t.Context()
		subscription := client.Subscribe(ctx, "done")
		defer subscription.Close()
		if _, err := subscription.Receive(ctx); err != nil { // the server has it
			t.Fatal(err)
		}
		must(t, client.Publish(ctx, "done", "j1").Err())
		if got := receive(t, subscription.Channel()); got.Payload != "j1" {
			t.Errorf("message %q", got.Payload)
		}
	})
}

func TestEveryKindCarriesAsynq(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		handled := make(chan string, 8)
		failed := false
		server := asynq.NewServer(conn.AsynqOpt(), asynq.Config{
			Concurrency:              2,
			Queues:                   map[string]int{"scrape": 9, "scrape_bulk": 1},
			TaskCheckInterval:        20 * time.Millisecond,
			DelayedTaskCheckInterval: 50 * time.Millisecond,
			RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
			LogLevel:                 asynq.FatalLevel,
		})
		mux := asynq.NewServeMux()
		mux.HandleFunc("once", func(_ context.Context, task *asynq.Task) error {
			handled <- string(task.Payload())
			return nil
		})
		mux.HandleFunc("again", func(_ context.Context, task *asynq.Task) error {
			if !failed {
				failed = true
				return errors.New("first attempt")
			}
			handled <- string(task.Payload())
			return nil
		})
		must(t, server.Start(mux))
		t.Cleanup(server.Shutdown)

		client := asynq.NewClient(conn.AsynqOpt())
		t.Cleanup(func() { _ = client.Close() })
		for _, c := range []struct{ kind, payload, queue string }{
			{"once", "now", "scrape"}, {"once", "bulk", "scrape_bulk"}, {"again", "retried", "scrape"},
		} {
			task := asynq.NewTask(c.kind, []byte(c.payload))
			_, err := client.EnqueueContext(t.Context(), task,
				asynq.Queue(c.queue), asynq.TaskID(c.payload), asynq.Retention(time.Hour), asynq.Timeout(deadline))
			must(t, err)
		}
		delayed := asynq.NewTask("once", []byte("later"))
		_, err := client.EnqueueContext(t.Context(), delayed, asynq.Queue("scrape"), asynq.ProcessIn(time.Second))
		must(t, err)

		got := map[string]bool{}
		for range 4 {
			got[receive(t, handled)] = true
		}
		if len(got) != 4 {
			t.Errorf("handled %v, want now, bulk, retried and later", got)
		}
		inspect(t, conn)
	})
}

// inspect asks what Asynqmon asks, and a task id for the second time.
func inspect(t *testing.T, conn *redisx.Conn) {
	t.Helper()
	inspector := asynq.NewInspector(conn.AsynqOpt())
	defer inspector.Close()
	eventually(t, "the tasks are completed", func() bool {
		info, err := inspector.GetQueueInfo("scrape")
		must(t, err)
		return info.Completed == 2 && info.Active == 0
	})
	if queues, err := inspector.Queues(); err != nil || len(queues) != 2 {
		t.Errorf("queues %v, %v", queues, err)
	}
	client := asynq.NewClient(conn.AsynqOpt())
	defer client.Close()
	_, err := client.Enqueue(asynq.NewTask("once", nil), asynq.Queue("scrape"), asynq.TaskID("now"))
	if err == nil {
		t.Error("a task id was taken twice")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(deadline):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(deadline)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-end:
			t.Fatalf("never: %s", what)
		case <-ticker.C:
		}
	}
}
