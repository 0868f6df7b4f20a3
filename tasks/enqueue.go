package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
)

// The tasks of people take turns by key (pace.Turns): a key that has all the places
// that one key may have waits, and the others go first. A task that waits for its
// turn is in the queue with a delay, which its turn ends. Batches have their own rule
// (fairShares in worker).

// parkedFor is the delay of a task that waits for its turn. It is over only when the
// process that gave the turn died before it could say so.
const parkedFor = time.Minute

// turnOwner returns the owner whose turns the tasks of a job take; "" when they take none.
func turnOwner(job *jobs.Job) string {
	if job.Class == jobs.Bulk {
		return ""
	}
	return pace.PartOf(job.Caller(), job.Origin.Visitor)
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
		_, err = e.enqueueTask(ctx, task, asynq.ProcessIn(parkedFor))
		return err
	}
	isNew, err := e.enqueueTask(ctx, task)
	if err == nil && !isNew && turnOwner(job) != "" {
		e.run(ctx, queue, id) // it may still wait
	}
	return err
}

// enterTurn reports whether the task of a job has a place. When key A joins a job that key B
// started, the task may also use A's turn, so that A does not wait longer than for a job of its
// own.
func (e *Engine) enterTurn(ctx context.Context, job *jobs.Job, queue, id string) (bool, error) {
	owner := turnOwner(job)
	if owner == "" {
		return true, nil
	}
	ready, err := e.turns.Enter(ctx, queue, owner, id, 0)
	if ready || err != nil {
		return ready, err
	}
	subscribers, err := e.options.Jobs.Subscribers(ctx, job.ID)
	if err != nil {
		return false, err
	}
	for _, subscriber := range subscribers {
		other, _, isKey := keyOf(subscriber)
		if !isKey || other == job.Owner {
			continue
		}
		if ready, err = e.turns.Enter(ctx, queue, other, id, 0); ready || err != nil {
			return ready, err
		}
	}
	return false, nil
}

// joinTurn lends the turns of a requester to the steps of another's job that it has joined.
func (e *Engine) joinTurn(ctx context.Context, job *jobs.Job, by Requester) error {
	owner := pace.PartOf(pace.Caller(by.Owner, by.Origin.Network), by.Origin.Visitor)
	if owner == "" || owner == turnOwner(job) {
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
// stops. It does so at each interval.
func (e *Engine) OfferTurns(ctx context.Context, queue, worker string, places int, interval time.Duration) error {
	ready, err := e.turns.Offer(ctx, queue, worker, places, interval)
	if err != nil {
		return err
	}
	return e.runReady(ctx, queue, ready)
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
		e.announce(ctx, queue)
	}
	return !errors.Is(err, asynq.ErrTaskNotFound)
}

// newTask makes the task of one attempt at a step.
func newTask(job *jobs.Job, step string, attempt int) (*asynq.Task, error) {
	taskType := job.Kind + ":" + step
	policy, ok := policies[taskType]
	if !ok {
		return nil, fmt.Errorf("tasks: no such task %q", taskType)
	}
	data, err := plainjson.Encode(TaskPayload{job.ID, step, attempt, PagesOf(job), turnOwner(job)})
	if err != nil {
		return nil, err
	}
	return asynq.NewTask(taskType, data,
		asynq.TaskID(taskID(job.ID, step, attempt)),
		asynq.Queue(queueOf(policy, job.Class)),
		asynq.MaxRetry(noRetryLimit), // the job's record counts the retries, so that asynq never archives a task
		asynq.Timeout(taskTimeout(job.Kind, step)+timeoutMargin)), nil
}

// taskTimeout is how long the task of a step may take: a handler goes on with the
// steps that follow it in the same queue.
func taskTimeout(kind, step string) (total time.Duration) {
	queue := policies[kind+":"+step].Queue
	steps := workflows[kind].parts
	for _, name := range steps[max(slices.Index(steps, step), 0):] {
		if policy := policies[kind+":"+name]; policy.Queue == queue {
			total += policy.Timeout
		}
	}
	return total
}

// taskID is the same for the same attempt at the same step, so that a task can be
// enqueued twice without harm.
func taskID(job, step string, attempt int) string {
	return fmt.Sprintf("%s.%s.%d", job, step, attempt)
}

// timeoutMargin is how much later than the handler asynq ends a task, so that the
// handler writes the outcome first.
const timeoutMargin = 15 * time.Second

// EnqueueAfter enqueues the task of the present attempt at a step, to be delivered
// after a delay.
func (e *Engine) EnqueueAfter(ctx context.Context, job *jobs.Job, step string, delay time.Duration) error {
	task, err := newTask(job, step, job.Steps[step].Attempt)
	if err == nil {
		_, err = e.enqueueTask(ctx, task, asynq.ProcessIn(delay))
	}
	return err
}

// TypeDispatch is the task that turns waiting rows of batches into jobs, as many
// as may run at once.
const TypeDispatch = "batch:dispatch"

// dispatchTaskIDs are the ids of the tasks: while one runs, which may have read
// the batches already, another may wait.
var dispatchTaskIDs = []string{"batch:dispatch.1", "batch:dispatch.2"}

// EnqueueDispatch enqueues a dispatch, unless one waits already.
func (e *Engine) EnqueueDispatch(ctx context.Context) error {
	for _, id := range dispatchTaskIDs {
		if isNew, err := e.enqueueTask(ctx, maintenanceTask(TypeDispatch, id)); isNew || err != nil {
			return err
		}
	}
	return nil
}

// EnqueueOnce enqueues a task that belongs to no job, once for each slot of time
// however many processes call it. The task may run twice.
func (e *Engine) EnqueueOnce(ctx context.Context, taskType string, slot time.Duration, now time.Time) error {
	if _, ok := policies[taskType]; !ok {
		return fmt.Errorf("tasks: no such task %q", taskType)
	}
	_, err := e.enqueueTask(ctx, maintenanceTask(taskType, fmt.Sprintf("%s.%d", taskType, now.Truncate(slot).Unix())))
	return err
}

// maintenanceTask makes a task that belongs to no job.
func maintenanceTask(taskType, id string) *asynq.Task {
	policy := policies[taskType]
	return asynq.NewTask(taskType, []byte("{}"),
		asynq.TaskID(id), asynq.Queue(policy.Queue), asynq.MaxRetry(policy.MaxRetries), asynq.Timeout(policy.Timeout))
}

// enqueueTask enqueues a task, unless it is enqueued already, and announces it unless it has a delay.
func (e *Engine) enqueueTask(ctx context.Context, task *asynq.Task, delay ...asynq.Option) (isNew bool, err error) {
	info, err := e.client.EnqueueContext(ctx, task, delay...)
	switch {
	case errors.Is(err, asynq.ErrTaskIDConflict):
		return false, nil
	case err != nil:
		return false, err
	case delay == nil:
		e.announce(ctx, info.Queue)
	}
	return true, nil
}

// bulkAnnouncements is how long an announcement of a task of a batch waits for others.
const bulkAnnouncements = 5 * time.Millisecond

// announce tells the workers that a queue has a new task, in the background. Those of a
// batch are announced together. Without the message the workers find the task later.
func (e *Engine) announce(ctx context.Context, queue string) {
	value, _ := e.announcing.LoadOrStore(queue, &atomic.Bool{})
	waiting, _ := value.(*atomic.Bool)
	if !waiting.CompareAndSwap(false, true) {
		return
	}
	publish := func() {
		waiting.Store(false)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = e.options.Redis.Publish(ctx, jobs.ChannelEnqueued, queue).Err()
	}
	if e.options.Sequential {
		publish()
		return
	}
	delay := time.Duration(0)
	if IsBulkQueue(queue) {
		delay = bulkAnnouncements
	}
	time.AfterFunc(delay, publish)
}

// Redeliver enqueues a ready step as a new attempt, when asynq holds the task of the
// old one but no worker runs it: asynq would bring that one again after a minute or
// two. It does nothing when the step has another attempt or state by now.
func (e *Engine) Redeliver(ctx context.Context, id, step string, attempt int) error {
	job, err := e.options.Jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil || job.State.Ended() {
		return err
	}
	seen := job.Steps[step]
	if seen.State != jobs.StepReady || seen.Attempt != attempt || attempt >= MaxAttempts {
		return nil
	}
	_, err = e.requeue(ctx, job, step, seen)
	return err
}

// promote makes an interactive job of a bulk one: its ready steps, and those of
// its children, move to the queue of interactive jobs. If the process dies in
// between, the sweeper does the rest: it looks for a ready step in the queue of
// the job's class. From now on it takes the turns of the key that asked last.
func (e *Engine) promote(ctx context.Context, id string, by Requester) (*jobs.Job, error) {
	job, promoted, err := e.options.Jobs.Promote(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !promoted: // it may have ended meanwhile, and left its result to the cache
		return job, e.addResult(ctx, job)
	}
	owned := *job
	owned.Owner, owned.Origin.Network, owned.Origin.Visitor = by.Owner, by.Origin.Network, by.Origin.Visitor
	for name, step := range job.Steps {
		if step.State != jobs.StepReady {
			continue
		}
		if err := e.enqueue(ctx, &owned, name, step.Attempt); err != nil {
			return nil, err
		}
		// A worker that takes the task of the attempt before all the same finds it stale.
		_ = e.inspector.DeleteTask(policies[job.Kind+":"+name].Queue+BulkSuffix, taskID(id, name, step.Attempt-1))
	}
	for _, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if _, err := e.promote(ctx, child.Job, by); err != nil && !errors.Is(err, jobs.ErrNotFound) {
			return nil, err
		}
	}
	return job, nil
}

// requeue raises the attempt of a step and enqueues the task of the new attempt.
// It reports false when the step is no longer as it was seen.
func (e *Engine) requeue(ctx context.Context, job *jobs.Job, name string, seen jobs.Step) (bool, error) {
	attempt, err := e.options.Jobs.Requeue(ctx, job.ID, name, seen)
	if err != nil || attempt == 0 {
		return false, err
	}
	if err := e.leaveTurn(ctx, job, name, seen.Attempt); err != nil {
		return false, err
	}
	return true, e.enqueue(ctx, job, name, attempt)
}
