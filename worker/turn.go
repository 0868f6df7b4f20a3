package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// turn is the place of a person's task among the tasks of other keys. The zero value
// belongs to a task of a batch, which needs no place.
type turn struct {
	s         *stepHandler
	ctx       context.Context //nolint:containedctx // that of the task
	queue, id string
	owner     string
	ready     bool
	err       error
	begun     sync.WaitGroup
}

const (
	// turnMargin is how much longer than its task a place is kept.
	turnMargin = 30 * time.Second
	// turnDelay is how soon a task that has lost its place is looked at again, if the
	// end of another's turn does not run it before.
	turnDelay = 2 * time.Second
)

var errNoTurn = errors.New("worker: other tasks of the same key have all the places that one key may have")

// beginTurn takes the place of a task that was delivered, while the caller claims its
// step. One that is delivered for the first time has a place already; one that is
// retried may have to wait again.
func (s *stepHandler) beginTurn(ctx context.Context, owner string) *turn {
	queue, named := asynq.GetQueueName(ctx)
	if owner == "" || !named || tasks.IsBulkQueue(queue) {
		return &turn{ready: true}
	}
	s.turns.PersonGoesOn()
	id, _ := asynq.GetTaskID(ctx)
	t := &turn{s: s, ctx: ctx, queue: queue, id: id, owner: owner}
	lease := time.Duration(0) // a task has a deadline
	if deadline, ok := ctx.Deadline(); ok {
		lease = time.Until(deadline) + turnMargin
	}
	t.begun.Go(func() { t.ready, t.err = s.engine.BeginTurn(ctx, queue, owner, id, lease) })
	return t
}

// beginComputing waits until a step may use a processor, and returns the function that ends that
// use: the step must not wait for a network meanwhile. Steps of batches yield to those of people.
func beginComputing(ctx context.Context, turns *pace.Processor, job *jobs.Job) (end func(), err error) {
	if job.Class == jobs.Bulk {
		return turns.BeginBatch(ctx)
	}
	turns.PersonGoesOn()
	return func() {}, nil
}

// wait returns nil when the task has its place.
func (t *turn) wait() error {
	t.begun.Wait()
	switch {
	case t.err != nil:
		return t.err
	case !t.ready:
		return &retryError{turnDelay, tasks.Snooze(turnDelay, errNoTurn)}
	}
	return nil
}

// end gives the place back. A failure is harmless: the place is a lease.
func (t *turn) end() {
	t.begun.Wait()
	if t.owner == "" || !t.ready {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	if err := t.s.engine.EndTurn(ctx, t.queue, t.owner, t.id); err != nil {
		t.s.log.Warn("place of a task is not given back before its lease ends", "task", t.id, "error", err)
	}
}
