package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	// A batch is a parent of jobs: "batch:<id>#<row>".
	subscriberBatch = "batch"

	dispatchConcurrency = 8                     // rows begun at the same time
	dispatchDebounce    = 50 * time.Millisecond // ends of jobs within it are one reason to feed

	batchCheckInterval = time.Second      // how often batches are looked at
	stuckAfter         = 15 * time.Second // after which a row at work is looked at
)

// dispatcher hands the rows of batches on, a window full at a time, and brings
// back what became of them. It may be cut off anywhere: a row that was taken
// is looked at again, and what became of it is noted once.
type dispatcher struct {
	redis    redis.UniversalClient
	batches  *batch.Store
	webhooks *webhook.Store
	engine   *tasks.Engine
	window   int
	log      *slog.Logger
	wake     chan struct{} // a row has ended: there may be room
}

func newDispatcher(client redis.UniversalClient, engine *tasks.Engine, window int, log *slog.Logger) *dispatcher {
	return &dispatcher{client, batch.NewStore(client), webhook.NewStore(client), engine, window, log, make(chan struct{}, 1)}
}

// ProcessTask feeds. What fails is fed by the next.
func (f *dispatcher) ProcessTask(ctx context.Context, _ *asynq.Task) error {
	if err := f.dispatch(ctx); err != nil && ctx.Err() == nil {
		f.log.WarnContext(ctx, "batches were not fed", "error", err)
	}
	return nil
}

// run asks to be fed when rows have ended, until ctx ends.
func (f *dispatcher) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		if err := f.engine.EnqueueDispatch(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "batches cannot be fed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(dispatchDebounce):
		}
	}
}

// dispatch begins rows until the window is full or none waits.
func (f *dispatcher) dispatch(ctx context.Context) error {
	for {
		open, err := f.batches.ListActive(ctx)
		if err != nil {
			return err
		}
		begun, err := f.dispatchShares(ctx, open)
		if err != nil || begun == 0 {
			return err
		}
	}
}

// dispatchShares takes each batch's share and begins it. It returns how many rows that
// were.
func (f *dispatcher) dispatchShares(ctx context.Context, open []batch.ActiveBatch) (int, error) {
	shares := fairShares(open, f.window)
	if len(shares) == 0 {
		return 0, nil
	}
	var (
		group errgroup.Group
		mu    sync.Mutex
		begun int
		fed   []string
	)
	working := map[string]map[int]string{} // batch → row → the job at work on it
	group.SetLimit(dispatchConcurrency)
	for _, b := range open {
		n := shares[b.ID]
		if n == 0 {
			continue
		}
		taken, err := f.batches.ClaimRows(ctx, b.ID, n)
		if err != nil {
			return 0, errors.Join(err, group.Wait())
		}
		fed = append(fed, b.ID)
		mu.Lock()
		working[b.ID] = map[int]string{}
		mu.Unlock()
		for _, row := range taken {
			group.Go(func() error {
				job, err := f.submitRow(ctx, row, b.Owner)
				mu.Lock()
				defer mu.Unlock()
				begun++
				if job != "" {
					working[row.Batch][row.Index] = job
				}
				return err
			})
		}
	}
	failed := []error{group.Wait()}
	for id, rows := range working {
		failed = append(failed, f.batches.SetRowJobs(ctx, id, rows))
	}
	return begun, errors.Join(append(failed, f.batches.MarkServed(ctx, fed...))...)
}

// submitRow has a row worked on: it is answered from the cache, or by the job that
// is returned. Starting it twice joins the same job.
func (f *dispatcher) submitRow(ctx context.Context, row batch.ClaimedRow, owner string) (id string, err error) {
	asked := tasks.EstimateInput{URL: row.URL, ModelBody: row.ModelBody}
	input, err := json.Marshal(asked)
	if err != nil {
		return "", err
	}
	answer, err := f.engine.CachedResult(ctx, tasks.KindEstimate, input)
	if err != nil {
		return "", err
	}
	if answer != nil {
		return "", f.recordOutcome(ctx, row.Batch, row.Index, &jobs.Job{State: jobs.Succeeded, Result: answer})
	}
	parent := fmt.Sprintf("%s:%s#%d", subscriberBatch, row.Batch, row.Index)
	job, err := f.engine.Submit(ctx, tasks.KindEstimate, asked, tasks.Requester{Owner: owner, Class: jobs.Bulk, Subscriber: parent})
	if err != nil {
		return "", err
	}
	if job.State.Ended() { // it was answered a moment ago
		return "", f.recordOutcome(ctx, row.Batch, row.Index, job)
	}
	return job.ID, nil
}

// onJobEnded notes in batches what became of a job of theirs.
func (f *dispatcher) onJobEnded(ctx context.Context, job *jobs.Job, parents []string) error {
	for _, parent := range parents {
		id, text, _ := strings.Cut(strings.TrimPrefix(parent, subscriberBatch+":"), "#")
		row, err := strconv.Atoi(text)
		if err != nil {
			f.log.ErrorContext(ctx, "a job has a parent that is none", "job", job.ID, "parent", parent)
			continue
		}
		if err := f.recordOutcome(ctx, id, row, job); err != nil {
			return err
		}
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return nil
}

// recordOutcome notes what became of one row.
func (f *dispatcher) recordOutcome(ctx context.Context, id string, row int, job *jobs.Job) (err error) {
	var last bool
	switch {
	case job.State == jobs.Succeeded:
		last, err = f.batches.Succeed(ctx, id, row, job.Result)
	case job.Error != nil:
		last, err = f.batches.Fail(ctx, id, row, job.Error)
	default:
		why := &jobs.Error{Code: "cancelled", Message: "The work was cancelled before it was done."}
		last, err = f.batches.Fail(ctx, id, row, why)
	}
	if last {
		f.log.InfoContext(ctx, "batch ended", "batch", id)
		return errors.Join(err, f.emitCompleted(ctx, id))
	}
	return err
}

// sweep looks at the batches at work, if no other worker just did: at rows of
// which nothing was heard, and whether there is room for more.
func (f *dispatcher) sweep(ctx context.Context) error {
	mine, err := f.redis.SetNX(ctx, "batches:swept", 1, batchCheckInterval).Result()
	if err != nil || !mine {
		return err
	}
	open, err := f.batches.ListActive(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, b := range open {
		if b.Ended || b.Missing {
			// Who asked to be told is told before nobody looks at it any more.
			err := f.emitCompleted(ctx, b.ID)
			if err == nil {
				err = f.batches.RemoveActive(ctx, b)
			}
			failed = append(failed, err)
			continue
		}
		if b.Running > 0 {
			failed = append(failed, f.recoverRows(ctx, b))
		}
	}
	_, err = f.dispatchShares(ctx, open)
	return errors.Join(append(failed, err)...)
}

// recoverRows looks at the rows of a batch that have been at work for a while, in
// case who began them, or who was to say how they ended, is gone.
func (f *dispatcher) recoverRows(ctx context.Context, b batch.ActiveBatch) error {
	stuck, err := f.batches.ListStuck(ctx, b.ID, stuckAfter)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(dispatchConcurrency)
	for _, row := range stuck {
		group.Go(func() error { return f.recoverRow(ctx, row, b.Owner) })
	}
	return group.Wait()
}

// recoverRow finds out what is the matter with a row.
func (f *dispatcher) recoverRow(ctx context.Context, row batch.ClaimedRow, owner string) error {
	id := row.Job
	job, err := f.engine.Store.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound): // or there is none yet
		id, err = f.submitRow(ctx, row, owner)
	case err == nil && job.State.Ended():
		return f.recordOutcome(ctx, row.Batch, row.Index, job)
	}
	if err != nil || id == "" {
		return err
	}
	return f.batches.SetRowJobs(ctx, row.Batch, map[int]string{row.Index: id}) // look again later
}
