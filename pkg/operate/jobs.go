package operate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/metrics"
	"ushuru/tasks"
)

// Errors of actions on jobs.
var (
	// ErrEnded means that a job had ended before it could be cancelled.
	ErrEnded = errors.New("the job had ended before")
	// ErrNotFailed means that a job that is to be retried has not failed and was not cancelled.
	ErrNotFailed = errors.New("operate: only a job that failed or was cancelled can be retried")
	// ErrUploadGone means that the page or file of a job was deleted at its end.
	ErrUploadGone = errors.New("operate: the caller sent a page or file for the job, which is deleted at its end;" +
		" only the caller can send it again")
	// ErrBatchRow means that a job belongs to a row of a batch.
	ErrBatchRow = errors.New("operate: the job belongs to a row of a batch: retry the batch")
)

const (
	jobsAtOnce = 200 // records that are read at once
	maxEnded   = 1000
)

// maxListedBatches bounds the batches of one key that are listed.
const maxListedBatches = 1000

// rowsAtOnce is how many rows of a batch are read at once.
const rowsAtOnce = 500

// JobFilter says which jobs are listed. The zero value is those that have not ended.
type JobFilter struct {
	State jobs.State
	Key   string // id of the API key
	Kind  string
	Step  string // the step that runs or has failed
	Code  string // of the error
	Limit int    // 0: no limit
}

func (f JobFilter) matches(job *jobs.Job) bool {
	return (f.State == "" && !job.State.Ended() || f.State == job.State) &&
		(f.Key == "" || f.Key == job.Owner) && (f.Kind == "" || f.Kind == job.Kind) &&
		(f.Code == "" || job.Error != nil && f.Code == job.Error.Code) &&
		(f.Step == "" || slices.Contains(OpenSteps(job), f.Step))
}

// BatchFilter says which batches are listed.
type BatchFilter struct {
	Key     string // id of the API key; "" for all
	Running bool   // only batches that have not ended
	Limit   int    // 0: no limit
}

// OpenSteps returns the steps of a job that are not done: running steps, or the step with
// which the job failed.
func OpenSteps(job *jobs.Job) (steps []string) {
	for name, step := range job.Steps {
		if step.State != jobs.StepDone {
			steps = append(steps, name)
		}
	}
	slices.Sort(steps)
	return steps
}

// Jobs returns the jobs of all API keys that match, newest first. With a
// code it finds every failed job whose record is stored, at most the newest 20,000 of each step.
// Without a code it finds of the ended jobs the newest 1,000 that each key has requested.
func (o *Operator) Jobs(ctx context.Context, f JobFilter) (found []*jobs.Job, err error) {
	list := func() ([]string, error) { return o.jobs.ListActive(ctx, jobs.Interactive, jobs.Bulk) }
	switch {
	case f.State == jobs.Failed && f.Code != "":
		list = func() ([]string, error) { return o.listFailed(ctx, f) }
	case f.State.Ended():
		list = func() ([]string, error) { return o.listEnded(ctx, f) }
	}
	ids, err := list()
	if err != nil {
		return nil, err
	}
	slices.Sort(ids) // by time
	slices.Reverse(ids)
	ids = slices.Compact(ids)
	for chunk := range slices.Chunk(ids, jobsAtOnce) {
		all, err := o.jobs.GetAll(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, job := range all {
			if f.matches(job) {
				found = append(found, job)
			}
		}
		if f.Limit > 0 && len(found) >= f.Limit {
			return found[:f.Limit], nil
		}
	}
	return found, nil
}

// listFailed returns the ids of jobs that failed with a code.
func (o *Operator) listFailed(ctx context.Context, f JobFilter) (ids []string, err error) {
	for _, step := range tasks.StepTypes() {
		if f.Step != "" && !strings.HasSuffix(step, ":"+f.Step) {
			continue
		}
		failed, err := metrics.FailedJobs(ctx, o.options.Redis, step, f.Code)
		if err != nil {
			return nil, err
		}
		ids = append(ids, failed...)
	}
	return ids, nil
}

// listEnded returns the ids of jobs in an ended state that keys have requested.
func (o *Operator) listEnded(ctx context.Context, f JobFilter) (ids []string, err error) {
	owners, err := o.owners(ctx, f.Key)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		all, _, err := o.jobs.List(ctx, owner, "", maxEnded, f.State)
		if err != nil {
			return nil, err
		}
		for _, job := range all {
			ids = append(ids, job.ID)
		}
	}
	return ids, nil
}

// Job returns a job of any API key.
func (o *Operator) Job(ctx context.Context, id string) (*jobs.Job, error) {
	job, err := o.jobs.Get(ctx, id)
	return job, notFound(err)
}

// CancelJob ends a job for everyone who waits for it, and returns it. The error is
// ErrEnded when it had ended before.
func (o *Operator) CancelJob(ctx context.Context, id string) (*jobs.Job, error) {
	return act(ctx, o, "jobs cancel", id, func() (*jobs.Job, error) {
		job, err := o.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		if job.State.Ended() {
			return job, fmt.Errorf("%w: %s", ErrEnded, job.State)
		}
		return o.cancelJob(ctx, id)
	})
}

// cancelJob ends a job. What this process cannot do after the end, such as telling a
// batch, the workers do.
func (o *Operator) cancelJob(ctx context.Context, id string) (*jobs.Job, error) {
	cancelErr := o.engine.Cancel(ctx, id)
	job, err := o.Job(ctx, id)
	if err == nil && !job.State.Ended() {
		err = cancelErr
	}
	return job, err
}

// RetryJob submits the input of a job that failed or was cancelled again, for the same API
// key, and returns the new job, or the one that runs for the same input.
func (o *Operator) RetryJob(ctx context.Context, id string) (*jobs.Job, error) {
	return act(ctx, o, "jobs retry", id, func() (*jobs.Job, error) {
		job, err := o.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		return o.retryJob(ctx, job)
	})
}

func (o *Operator) retryJob(ctx context.Context, job *jobs.Job) (*jobs.Job, error) {
	switch {
	case job.State != jobs.Failed && job.State != jobs.Cancelled:
		return nil, ErrNotFailed
	case job.Attached:
		return nil, ErrUploadGone
	case job.Class == jobs.Bulk:
		return nil, ErrBatchRow
	}
	if _, err := o.jobs.ForgetRefusal(ctx, job.DedupKey); err != nil {
		return nil, err
	}
	return o.engine.Submit(ctx, job.Kind, job.Input, tasks.Requester{Owner: job.Owner, Class: job.Class})
}

// Retried is what RetryFailed has reached.
type Retried struct {
	Jobs    int
	Rows    int // of batches
	LeftOut int // jobs that only the caller can send again
}

// RetryFailed retries the failed jobs that match, at most as many as the filter's limit, and
// without a step and a kind the rows of batches that failed with the code. After an error it may
// be called again: what is tried again is no longer among the failed.
func (o *Operator) RetryFailed(ctx context.Context, f JobFilter) (Retried, error) {
	target := "all: " + strings.Join(strings.Fields(f.Kind+" "+f.Step+" "+f.Code), " ")
	return act(ctx, o, "jobs retry", target, func() (r Retried, err error) {
		f.State = jobs.Failed
		failed, err := o.Jobs(ctx, f)
		for _, job := range failed {
			if err != nil {
				break
			}
			switch _, retryErr := o.retryJob(ctx, job); {
			case retryErr == nil:
				r.Jobs++
				err = o.forgetFailed(ctx, job)
			case errors.Is(retryErr, ErrBatchRow): // below
			case isNotRetryable(retryErr):
				r.LeftOut++
			default:
				err = retryErr
			}
		}
		if err == nil && f.Step == "" && f.Kind == "" {
			r.Rows, err = o.retryRows(ctx, f)
		}
		return r, err
	})
}

// forgetFailed takes a job that is tried again from those that have failed.
func (o *Operator) forgetFailed(ctx context.Context, job *jobs.Job) error {
	for _, step := range OpenSteps(job) {
		if err := metrics.ForgetFailed(ctx, o.options.Redis, job.Kind+":"+step, job.Error.Code, job.ID); err != nil {
			return err
		}
	}
	return nil
}

// retryRows makes the rows of batches wait again that failed with a code.
func (o *Operator) retryRows(ctx context.Context, f JobFilter) (retried int, err error) {
	all, err := o.Batches(ctx, BatchFilter{Key: f.Key})
	if err != nil {
		return 0, err
	}
	for _, b := range all {
		if b.Counts[batch.Failed] == 0 {
			continue
		}
		rows, err := o.failedRows(ctx, b.ID, f.Code)
		if err == nil && len(rows) > 0 {
			err = o.batches.Retry(ctx, b.ID, rand.Text(), rows...)
		}
		if err != nil && !errors.Is(err, batch.ErrNotFound) && !errors.Is(err, batch.ErrNoneFailed) {
			return retried, err
		}
		retried += len(rows)
	}
	if retried == 0 {
		return 0, nil
	}
	return retried, o.engine.EnqueueDispatch(ctx)
}

// failedRows returns the indexes of the rows of a batch that failed with a code.
func (o *Operator) failedRows(ctx context.Context, id, code string) (rows []int, err error) {
	reader, err := o.batches.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	for next := 0; next >= 0; {
		var items []batch.Item
		if items, next, err = reader.Next(ctx, next, rowsAtOnce, batch.Failed, false); err != nil {
			return nil, err
		}
		for _, item := range items {
			if item.Error != nil && item.Error.Code == code {
				rows = append(rows, item.Index)
			}
		}
	}
	return rows, nil
}

// isNotRetryable reports whether an error of RetryJob means that the job can never be
// retried.
func isNotRetryable(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotFailed) || errors.Is(err, ErrUploadGone)
}

// Batches returns the batches of all API keys that match, newest first.
func (o *Operator) Batches(ctx context.Context, f BatchFilter) (found []*batch.Batch, err error) {
	owners, err := o.owners(ctx, f.Key)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		all, err := o.batches.List(ctx, owner, "", cmp.Or(f.Limit, maxListedBatches))
		if err != nil {
			return nil, err
		}
		for _, b := range all {
			if !f.Running || b.Ended.IsZero() {
				found = append(found, b)
			}
		}
	}
	slices.SortFunc(found, func(a, b *batch.Batch) int { return b.Created.Compare(a.Created) })
	if f.Limit > 0 {
		found = found[:min(len(found), f.Limit)]
	}
	return found, nil
}

// Batch returns a batch of any API key.
func (o *Operator) Batch(ctx context.Context, id string) (*batch.Batch, error) {
	b, err := o.batches.Get(ctx, id)
	return b, notFound(err)
}

// CancelBatch ends a batch: rows that wait or run are cancelled. What has succeeded is kept. A job
// that others wait for too continues for them.
func (o *Operator) CancelBatch(ctx context.Context, id string) (*batch.Batch, error) {
	return act(ctx, o, "batches cancel", id, func() (*batch.Batch, error) {
		if _, err := o.Batch(ctx, id); err != nil {
			return nil, err
		}
		return o.cancelBatch(ctx, id)
	})
}

func (o *Operator) cancelBatch(ctx context.Context, id string) (*batch.Batch, error) {
	if err := o.batches.Cancel(ctx, id); err != nil {
		return nil, err
	}
	err := unlessFull(o.batches.Release(ctx, id, o.engine.LeaveRow(id)))
	err = errors.Join(err, unlessFull(o.engine.EnqueueDispatch(ctx))) // other batches take the places
	b, readErr := o.Batch(ctx, id)
	return b, errors.Join(err, readErr)
}

// RetryBatch makes the failed and the cancelled rows of a batch wait again, and returns it. The error is
// batch.ErrNoneFailed when there are none.
func (o *Operator) RetryBatch(ctx context.Context, id string) (*batch.Batch, error) {
	return act(ctx, o, "batches retry", id, func() (*batch.Batch, error) {
		if _, err := o.Batch(ctx, id); err != nil {
			return nil, err
		}
		if err := o.batches.Retry(ctx, id, rand.Text()); err != nil {
			return nil, err
		}
		if err := o.engine.EnqueueDispatch(ctx); err != nil {
			return nil, err
		}
		return o.Batch(ctx, id)
	})
}
