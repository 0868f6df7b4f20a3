package tasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
)

// The tasks of people take turns by key (pkg/fair): a key that has all the places
// that one key may have waits, and the others go first. A task that waits for its
// turn is in the queue with a delay, which its turn ends. Batches have their own rule
// (fairShares in worker).

// parkedFor is the delay of a task that waits for its turn. It is over only when the
// process that gave the turn died before it could say so.
const parkedFor = time.Minute

// Anonymous is the owner of the jobs of visitors without a key.
const Anonymous = fair.Anonymous

// turnOwner returns for whom the tasks of a job take turns; "" when they do not.
func turnOwner(job *jobs.Job) string {
	if job.Class == jobs.Bulk {
		return ""
	}
	return job.Owner
}

// enqueue enqueues the task of an attempt at a step, or lets it wait for its turn. A
// task that is enqueued already is not an error.
func (e *Engine) enqueue(ctx context.Context, job *jobs.Job, step string, attempt int) error {
	task, err := newTask(job, step, attempt)
	if err != nil {
		return err
	}
	queue, id := policies[task.Type()].Queue, taskID(job.ID, step, attempt)
	ready, err := e.enterTurn(ctx, job, queue, id)
	switch {
	case err != nil:
		return err
	case !ready:
		return e.enqueueTask(ctx, task, asynq.ProcessIn(parkedFor))
	}
	_, err = e.client.EnqueueContext(ctx, task)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		if turnOwner(job) != "" {
			e.run(ctx, queue, id) // it may still wait
		}
		return nil
	}
	if err == nil {
		e.announce(queueOf(policies[task.Type()], job.Class))
	}
	return err
}

// enterTurn reports whether the task of a job has a place. Everyone who waits for the
// job lends it a turn: who asks for what another key asks for does not wait longer.
func (e *Engine) enterTurn(ctx context.Context, job *jobs.Job, queue, id string) (bool, error) {
	owner := turnOwner(job)
	if owner == "" {
		return true, nil
	}
	ready, err := e.turns.Enter(ctx, queue, owner, id, 0)
	if ready || err != nil {
		return ready, err
	}
	subscribers, err := e.jobs.Subscribers(ctx, job.ID)
	if err != nil {
		return false, err
	}
	for _, subscriber := range subscribers {
		other, _, isKey := keyOf(subscriber)
		if !isKey || other == owner {
			continue
		}
		if ready, err = e.turns.Enter(ctx, queue, other, id, 0); ready || err != nil {
			return ready, err
		}
	}
	return false, nil
}

// joinTurn lends the turns of a key to the steps of another's job that it has joined.
func (e *Engine) joinTurn(ctx context.Context, job *jobs.Job, owner string) error {
	if owner == "" || owner == job.Owner {
		return nil
	}
	for name, step := range job.Steps {
		if step.State != jobs.StepReady {
			continue
		}
		queue, id := policies[job.Kind+":"+name].Queue, taskID(job.ID, name, step.Attempt)
		ready, err := e.turns.Enter(ctx, queue, owner, id, 0)
		if err != nil {
			return err
		}
		if ready {
			e.run(ctx, queue, id)
		}
	}
	return nil
}

// leaveTurn gives the place of an attempt back that is over.
func (e *Engine) leaveTurn(ctx context.Context, job *jobs.Job, step string, attempt int) error {
	owner := turnOwner(job)
	if owner == "" {
		return nil
	}
	return e.EndTurn(ctx, policies[job.Kind+":"+step].Queue, owner, taskID(job.ID, step, attempt))
}

// BeginTurn reports whether a task that a worker has begun has a place, for at most
// as long as lease. When not, the task waits for its turn, and must end.
func (e *Engine) BeginTurn(ctx context.Context, queue, owner, id string, lease time.Duration) (bool, error) {
	return e.turns.Enter(ctx, queue, owner, id, lease)
}

// EndTurn gives the place of a task back, and runs those that get it.
func (e *Engine) EndTurn(ctx context.Context, queue, owner, id string) error {
	ready, err := e.turns.Leave(ctx, queue, owner, id)
	if err != nil {
		return err
	}
	return e.runReady(ctx, queue, ready)
}

// OfferTurns says how many places a worker has for the tasks of people; 0 when it
// stops. It does so at each interval. It returns how many all workers have.
func (e *Engine) OfferTurns(
	ctx context.Context, queue, worker string, places int, interval time.Duration,
) (total int, err error) {
	total, ready, err := e.turns.Offer(ctx, queue, worker, places, interval)
	if err != nil {
		return 0, err
	}
	return total, e.runReady(ctx, queue, ready)
}

// runReady runs tasks that have got a place. The place of one that does not exist any
// more goes to the next.
func (e *Engine) runReady(ctx context.Context, queue string, ready []string) error {
	for len(ready) > 0 {
		id := ready[0]
		ready = ready[1:]
		if e.run(ctx, queue, id) {
			continue
		}
		next, err := e.turns.Leave(ctx, queue, "", id)
		if err != nil {
			return err
		}
		ready = slices.Concat(ready, next)
	}
	return nil
}

// run ends the delay of a task. It reports false when there is no such task. Another
// failure is made up for by the sweeper, which enqueues the task again.
func (e *Engine) run(ctx context.Context, queue, id string) bool {
	err := e.inspector.RunTask(queue, id)
	if err == nil {
		e.announce(queue)
	}
	return !errors.Is(err, asynq.ErrTaskNotFound)
}
