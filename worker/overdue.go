package worker

import (
	"context"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
)

// overdueAfter is by how much a handler may exceed its timeout. One that obeys its context has
// ended by then.
const overdueAfter = 15 * time.Second

// overdue knows the handlers that have not ended in time: each holds a place of its worker, and
// maybe a lock. It is safe for concurrent use.
type overdue struct {
	log *slog.Logger

	mu    sync.Mutex
	count map[string]int // by task type
}

// names returns the task types of the handlers that have not ended in time.
func (o *overdue) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.count))
}

func (o *overdue) add(taskType string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[taskType] += n; o.count[taskType] == 0 {
		delete(o.count, taskType)
	}
}

// watch runs a handler, and logs its stack once when it has not ended in time. On nil it only runs it.
func (o *overdue) watch(ctx context.Context, taskType string, timeout time.Duration, handle func()) {
	if o == nil {
		handle()
		return
	}
	self := goroutine()
	timer := time.AfterFunc(timeout+overdueAfter, func() {
		o.add(taskType, 1)
		o.log.ErrorContext(ctx, "a handler has not ended though its time was up", "task", taskType,
			"timeout", timeout, "stack", stackOf(self))
	})
	defer func() {
		if !timer.Stop() {
			o.add(taskType, -1)
		}
	}()
	handle()
}

// handler watches a handler that the queue gives its time.
func (o *overdue) handler(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) (err error) {
		deadline, _ := ctx.Deadline() // every task has one
		o.watch(ctx, task.Type(), time.Until(deadline), func() { err = next.ProcessTask(ctx, task) })
		return err
	})
}

// goroutine returns how a stack names the goroutine that calls.
func goroutine() string {
	const enough = 64
	head := make([]byte, enough)
	name, _, _ := strings.Cut(string(head[:runtime.Stack(head, false)]), "[")
	return name
}

// stackOf returns the stack of a goroutine; "" when it has ended.
func stackOf(name string) string {
	const most = 4 << 20
	all := make([]byte, most)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.HasPrefix(stack, name+"[") {
			return stack
		}
	}
	return ""
}
