package tasks

import (
	"context"
	"errors"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// Requester says for whom a job is made.
type Requester struct {
	Owner string // id of the API key
	Class jobs.Class
	// Query is that of the URL at which the API key reads the result: the event about its end
	// has that URL.
	Query string
	// Subscriber is notified of the job's end: another job, or a name whose first
	// word has a Notifier. An empty Subscriber means the API key itself.
	Subscriber string
	// Attachment is the page or file that came with the request, for the workers; nil
	// for none. It is deleted when the job ends. A job that is joined has one already.
	Attachment []byte
	Origin     jobs.Origin // of the request that causes the job
}

// isCaller reports whether the API key itself waits for the job.
func (r Requester) isCaller() bool { return r.Subscriber == "" && r.Owner != "" }

// Submit returns the job for an input: a new one, or the running one of the same
// kind and input, which is promoted when it is bulk and the requester is not. It
// does not read the cache (see CachedResult).
func (e *Engine) Submit(ctx context.Context, kind string, input any, by Requester) (*jobs.Job, error) {
	canonical, err := plainjson.Encode(input)
	if err != nil {
		return nil, err
	}
	deadline := workflows[kind].deadline
	if by.Class == jobs.Bulk {
		deadline = deadlineBulk
	}
	first, err := advance(&jobs.Job{Kind: kind, Class: by.Class, Owner: by.Owner, Input: canonical, State: jobs.Queued})
	if err != nil {
		return nil, err
	}
	wanted := jobs.New{
		Kind: kind, Class: by.Class, Owner: by.Owner, Input: canonical, Deadline: deadline, Subscriber: by.subscriber(),
		Attachment: by.Attachment, Listed: by.isCaller(), Query: by.Query, Origin: by.Origin,
	}
	job, joined, err := e.options.Jobs.Create(ctx, wanted, first.Steps...)
	if err == nil && joined {
		err = e.addResult(ctx, job)
	}
	if errors.Is(err, jobs.ErrNotFound) { // its result has expired
		if _, err = e.options.Jobs.ForgetRefusal(ctx, job.DedupKey); err == nil {
			job, joined, err = e.options.Jobs.Create(ctx, wanted, first.Steps...)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !joined:
		return job, e.advanceFrom(ctx, job)
	case by.Class != jobs.Interactive || job.State.Ended():
		return job, nil
	case job.Class == jobs.Bulk:
		return e.promote(ctx, job, by)
	}
	return job, e.joinTurn(ctx, job, by)
}

// DedupKey returns the hash under which equal inputs of a kind share one job.
func DedupKey(kind string, input any) (string, error) {
	canonical, err := plainjson.Encode(input)
	return jobs.DedupKey(kind, canonical), err
}

// Estimate submits the estimate of a listing. The URL must be canonical.
func (e *Engine) Estimate(ctx context.Context, url, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.Submit(ctx, KindEstimate, EstimateInput{URL: url}.For(owner), Requester{Owner: owner, Class: class})
}

// promote makes an interactive job of a bulk one: its ready steps, and those of
// its children, move to the queue of interactive jobs. If the process dies in
// between, the sweeper does the rest: it looks for a ready step in the queue of
// the job's class. From now on it takes the turns of the key that asked last.
func (e *Engine) promote(ctx context.Context, job *jobs.Job, by Requester) (*jobs.Job, error) {
	promoted, err := e.options.Jobs.Promote(ctx, job)
	if err != nil {
		return nil, err
	}
	current, err := e.options.Jobs.Get(ctx, job.ID)
	if err != nil || !promoted {
		return current, err
	}
	owned := *current
	owned.Owner, owned.Origin.Network, owned.Origin.Visitor = by.Owner, by.Origin.Network, by.Origin.Visitor
	for name, step := range current.Steps {
		if step.State != jobs.StepReady {
			continue
		}
		requeued, err := e.requeue(ctx, &owned, name, step)
		if err != nil {
			return nil, err
		}
		if requeued {
			e.deleteTask(job, name, step.Attempt)
		}
	}
	for _, child := range current.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if err := e.promoteChild(ctx, child.Job, &owned); err != nil {
			return nil, err
		}
	}
	return current, nil
}

func (e *Engine) promoteChild(ctx context.Context, id string, parent *jobs.Job) error {
	child, err := e.options.Jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil || child.Class != jobs.Bulk || child.State.Ended() {
		return err
	}
	_, err = e.promote(ctx, child, Requester{Owner: parent.Owner, Origin: parent.Origin})
	return err
}
