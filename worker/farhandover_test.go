package worker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// handOver is a far queue between Redis and asynq, of which the test plays both.
type handOver struct {
	*farQueue

	t      *testing.T
	server *miniredis.Miniredis
	call   dequeueCall
}

func newHandOver(t *testing.T, slots int) *handOver {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	h := &handOver{t: t, server: server, farQueue: &farQueue{
		redis: client, name: "q", slots: slots, woken: make(chan struct{}, 1), freed: make(chan struct{}, 1),
	}}
	h.call = dequeueCall{h.load(), []string{"tasks", "q:paused", "active", "lease"}, nil}
	if task := h.take(); task != "" { // the first look goes to Redis, and tells the queue asynq's script
		t.Fatalf("there is a task %q", task)
	}
	h.taken, h.unsure = nil, false
	return h
}

// load loads a script that takes a task, as asynq does when Redis does not know it.
func (h *handOver) load() string {
	h.t.Helper()
	sha, err := h.redisClient().ScriptLoad(h.t.Context(), "return redis.call('RPOP', KEYS[1])").Result()
	if err != nil {
		h.t.Fatal(err)
	}
	return sha
}

func (h *handOver) redisClient() *redis.Client {
	client, _ := h.redis.(*redis.Client)
	if client == nil {
		h.t.Fatal("no client")
	}
	return client
}

// enqueue adds tasks; a message names each.
func (h *handOver) enqueue(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if _, err := h.server.Lpush("tasks", name); err != nil {
			h.t.Fatal(err)
		}
		h.wake(false)
	}
}

// take is asynq's look for a task; "" when there is none.
func (h *handOver) take() string {
	h.t.Helper()
	text, err := h.dequeue(h.t.Context(), h.call).Text()
	if err != nil && !errors.Is(err, redis.Nil) {
		h.t.Fatal(err)
	}
	return text
}

func (h *handOver) fetchOnce(wantMore bool) {
	h.t.Helper()
	if more, err := h.fetch(h.t.Context()); err != nil || more != wantMore {
		h.t.Fatalf("fetch: %v, %v, want %v", more, err, wantMore)
	}
}

func (h *handOver) wantRoom(room int, when string) {
	h.t.Helper()
	if got := h.room(); got != room {
		h.t.Errorf("%d free slots %s, want %d", got, when, room)
	}
}

func TestATaskIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	h := newHandOver(t, 3)
	h.enqueue("a", "b", "c", "d", "e")
	h.fetchOnce(true) // in one round trip as many as there are slots
	h.wantRoom(0, "with all tasks fetched")
	if left, err := h.server.List("tasks"); err != nil || fmt.Sprint(left) != "[e d]" {
		t.Fatalf("%v are left in Redis, %v", left, err)
	}
	for _, want := range []string{"a", "b", "c", ""} {
		if got := h.take(); got != want {
			t.Errorf("asynq got %q, want %q", got, want)
		}
	}
	h.wantRoom(0, "before the tasks run")
	for range 3 {
		h.begin()
	}
	h.wantRoom(0, "while the tasks run")
	h.end()
	h.wantRoom(1, "after one has ended")
	select {
	case <-h.freed:
	default:
		t.Error("the free slot is not signalled")
	}
	h.fetchOnce(true)
	if got := h.take(); got != "d" {
		t.Errorf("asynq got %q, want d", got)
	}
	h.wantRoom(0, "with another task")
}

func TestASlotOfATaskThatDoesNotRunIsFreed(t *testing.T) {
	t.Parallel()
	h := newHandOver(t, 1)
	h.enqueue("a")
	h.fetchOnce(false)
	if got := h.take(); got != "a" {
		t.Fatalf("asynq got %q", got)
	}
	h.wantRoom(0, "while asynq has the task")
	h.taken[0] = time.Now().Add(-time.Minute)
	h.wantRoom(1, "a minute later")
}

func TestNoTaskIsLostWithTheScriptOrTheLine(t *testing.T) {
	t.Parallel()
	h := newHandOver(t, 4)
	h.enqueue("a", "b")
	if err := h.redisClient().ScriptFlush(t.Context()).Err(); err != nil { // Redis has restarted
		t.Fatal(err)
	}
	h.fetchOnce(false)
	h.call.sha = h.load() // asynq's next look goes to Redis itself and sends the text
	if got := h.take(); got != "a" {
		t.Errorf("asynq got %q after a restart of Redis, want a", got)
	}
	h.server.SetError("LOADING")
	if more, err := h.fetch(t.Context()); err == nil || !more {
		t.Errorf("a fetch over a cut line: %v, %v", more, err)
	}
	h.server.SetError("")
	h.fetchOnce(false)
	if got := h.take(); got != "b" {
		t.Errorf("asynq got %q after a cut, want b", got)
	}
}
