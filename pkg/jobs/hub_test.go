package jobs_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
)

// looksSeen counts the commands of every look of a Hub.
type looksSeen struct {
	command string // the first of a look

	mu    sync.Mutex
	sizes []int
}

func (*looksSeen) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*looksSeen) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (l *looksSeen) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if commands[0].Name() == l.command {
			l.mu.Lock()
			l.sizes = append(l.sizes, len(commands))
			l.mu.Unlock()
		}
		return next(ctx, commands)
	}
}

// looked returns a client of an embedded Redis, and the looks at it with a command.
func looked(t *testing.T, command string) (redis.UniversalClient, *looksSeen) {
	t.Helper()
	client, seen := redistest.Embedded(t).Client(), &looksSeen{command: command}
	client.AddHook(seen)
	return client, seen
}

func TestAllWhoFollowCostOneLook(t *testing.T) {
	t.Parallel()
	client, seen := looked(t, "hmget")
	store := jobs.NewStore(client)
	hub := jobs.NewHub(store)
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	must(t)(client.HSet(t.Context(), "other", "waiting", 1).Err())

	const each = 20
	var signals []<-chan struct{}
	var leaves []func()
	for range each {
		moved, leave := hub.Watch(job.ID)
		signals, leaves = append(signals, moved), append(leaves, leave)
		moved, leave = hub.WatchHash("other", "waiting")
		signals, leaves = append(signals, moved), append(leaves, leave)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	defer running.Wait()
	defer cancel()
	allSignalled := func(what string) {
		t.Helper()
		for i, moved := range signals {
			select {
			case <-moved:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: follower %d was not signals", what, i)
			}
		}
	}
	allSignalled("at the first sight")
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{}`)})
	must(t)(err)
	must(t)(client.HSet(t.Context(), "other", "waiting", 2).Err())
	allSignalled("moved on")

	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, size := range seen.sizes {
		if size != 4 { // two commands for each of two records
			t.Fatalf("looks of %v commands", seen.sizes)
		}
	}
	for _, leave := range leaves {
		leave()
	}
	if n := hub.Waiting(); n != 0 {
		t.Errorf("%d still follow", n)
	}
}

// TestEndsWithoutAMessageAreFoundByOneLook: callers who wait for two jobs learn of their ends, although
// no message comes, and the looks ask for each job once.
func TestEndsWithoutAMessageAreFoundByOneLook(t *testing.T) {
	t.Parallel()
	client, seen := looked(t, "hget")
	store := jobs.NewStore(client)
	hub := jobs.NewHub(store)
	ctx, cancel := context.WithCancel(t.Context())
	var running, waiting sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	defer running.Wait()
	defer cancel()
	const each = 20
	one, other := run(t, store, newJob("https://a.example/1")), run(t, store, newJob("https://a.example/2"))
	for range each {
		for _, job := range []*jobs.Job{one, other} {
			ended, leave := hub.Ended(job.ID)
			waiting.Go(func() {
				<-ended
				leave()
			})
		}
	}
	keys, err := client.Keys(ctx, "job:*").Result()
	must(t)(err)
	for _, key := range keys {
		must(t)(client.HSet(ctx, key, "state", string(jobs.Cancelled)).Err())
	}
	waiting.Wait()
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if len(seen.sizes) == 0 || slices.Max(seen.sizes) != 2 {
		t.Errorf("got looks with %v commands, want 2: one for each job", seen.sizes)
	}
}

// TestOneUnreadableRecordHidesNoEnd of another job.
func TestOneUnreadableRecordHidesNoEnd(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	store := jobs.NewStore(conn.Client())
	other := run(t, store, newJob("https://a.example/1"))
	keys, err := conn.Client().Keys(t.Context(), "job:*"+other.ID).Result()
	must(t)(err)
	must(t)(conn.Client().Del(t.Context(), keys...).Err())
	must(t)(conn.Client().Set(t.Context(), keys[0], "no record", 0).Err())
	gone, err := store.ListEnded(t.Context(), []string{other.ID, "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
	if err == nil || !slices.Equal(gone, []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}) {
		t.Errorf("got %v, %v; want the job that is not there, and an error", gone, err)
	}
}
