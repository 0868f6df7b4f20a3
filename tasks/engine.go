package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
)

// Engine moves jobs on: it opens the steps that are next, puts their tasks in
// the queue, and ends jobs whose outputs are all there. Every method may be
// called twice, by anyone, at any time.
type Engine struct {
	Store *jobs.Store
	// Succeeding is called with a job and its result before the job ends, so
	// that the result is where the next caller looks for it first. May be
	// called twice. Nil in processes that end no jobs.
	Succeeding func(context.Context, *jobs.Job, json.RawMessage) error
	// OneByOne makes a sweep look at one job at a time, for tests that must
	// run the same way every time.
	OneByOne bool

	client    *asynq.Client
	inspector *asynq.Inspector
}

// NewEngine makes an Engine on a Redis connection that stays the caller's.
func NewEngine(client redis.UniversalClient, store *jobs.Store) *Engine {
	return &Engine{
		Store:     store,
		client:    asynq.NewClientFromRedisClient(client),
		inspector: asynq.NewInspectorFromRedisClient(client),
	}
}

// Estimate returns the job that estimates a listing: a new one, or the one
// that is in flight. The URL must be canonical.
func (e *Engine) Estimate(ctx context.Context, url, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.EstimateAs(ctx, EstimateInput{URL: url}, owner, class)
}

// EstimatePasted is Estimate for a page that the caller sent: it must be in
// the paste store under its hash.
func (e *Engine) EstimatePasted(ctx context.Context, url, hash, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.EstimateAs(ctx, EstimateInput{URL: url, Page: hash}, owner, class)
}

// EstimateAs is Estimate with all that a caller may say: a page, which must be
// in the paste store, and a label.
func (e *Engine) EstimateAs(ctx context.Context, asked EstimateInput, owner string, class jobs.Class) (*jobs.Job, error) {
	input, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	deadline := deadlineInteractive
	if class == jobs.Bulk {
		deadline = deadlineBulk
	}
	job, joined, err := e.Store.Create(ctx, jobs.New{
		Kind: KindEstimate, Class: class, Owner: owner, Input: input, Deadline: deadline,
	})
	if err != nil || joined {
		return job, err
	}
	return job, e.move(ctx, job)
}

// Advance looks at a job's record and does what comes next.
func (e *Engine) Advance(ctx context.Context, id string) error {
	job, err := e.Store.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return errors.Join(e.Store.Forget(ctx, id, jobs.Interactive), e.Store.Forget(ctx, id, jobs.Bulk))
	}
	if err != nil {
		return err
	}
	return e.move(ctx, job)
}

func (e *Engine) move(ctx context.Context, job *jobs.Job) error {
	if job.State.Ended() {
		return e.Store.Settle(ctx, job)
	}
	next, err := advance(job)
	if err != nil { // an output that cannot be read will not get better
		return errors.Join(err, e.Fail(ctx, job.ID, "", "", JobError(err)))
	}
	if next.Result != nil {
		return e.succeed(ctx, job, next.Result)
	}
	for _, step := range next.Steps {
		state, attempt, err := e.Store.Open(ctx, job.ID, step)
		if err != nil {
			return err
		}
		if state == jobs.StepReady {
			if err := e.enqueue(ctx, job, step, attempt); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) succeed(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	if e.Succeeding != nil {
		// A place for the next caller is no reason to keep an answer from this one.
		if err := e.Succeeding(ctx, job, result); err != nil && time.Now().Before(job.Deadline) {
			return err
		}
	}
	if _, err := e.Store.Succeed(ctx, job.ID, result); err != nil {
		return err
	}
	return e.Advance(ctx, job.ID) // settles it as it ended, which may be otherwise
}

// Fail ends a job with an error on the word of the run that holds the claim.
func (e *Engine) Fail(ctx context.Context, id, step, claim string, failure *jobs.Error) error {
	if _, err := e.Store.Fail(ctx, id, step, claim, failure); err != nil {
		return err
	}
	return e.Advance(ctx, id)
}

// enqueue puts the task of an attempt in the queue. That it is there already
// is no error.
func (e *Engine) enqueue(ctx context.Context, job *jobs.Job, step string, attempt int) error {
	task, err := newTask(job, step, attempt)
	if err != nil {
		return err
	}
	_, err = e.client.EnqueueContext(ctx, task)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Ask puts a task that belongs to no job in the queue, once for each slot of
// time however many ask. What it does may be done twice.
func (e *Engine) Ask(ctx context.Context, taskType string, slot time.Duration, now time.Time) error {
	policy, ok := policies[taskType]
	if !ok {
		return fmt.Errorf("tasks: no such task %q", taskType)
	}
	_, err := e.client.EnqueueContext(ctx, asynq.NewTask(taskType, []byte("{}")),
		asynq.TaskID(fmt.Sprintf("%s.%d", taskType, now.Truncate(slot).Unix())),
		asynq.Queue(policy.Queue),
		asynq.MaxRetry(policy.Retries),
		asynq.Timeout(policy.Timeout))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}
