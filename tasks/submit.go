package tasks

import (
	"context"
	"encoding/json"
	"errors"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// Requester is the caller or the job that requests a job.
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
		return e.promote(ctx, job.ID, by)
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

// SubmitResult returns a job that has succeeded with a result that was cached, so that
// the subscribers of a job are notified of it too; the running one, if there is one. When
// this process dies in between, the sweeper has the job make its result. The input is canonical.
func (e *Engine) SubmitResult(
	ctx context.Context, kind string, input json.RawMessage, by Requester, result json.RawMessage,
) (*jobs.Job, error) {
	job, joined, err := e.options.Jobs.Create(ctx, jobs.New{
		Kind: kind, Class: by.Class, Owner: by.Owner, Input: input, Deadline: workflows[kind].deadline,
		Subscriber: by.subscriber(), Listed: by.isCaller(), Query: by.Query,
	})
	switch {
	case err != nil:
		return nil, err
	case joined:
		return job, e.NotifyRequester(ctx, job, by)
	}
	ended, err := e.end(ctx, job, jobs.End{State: jobs.Succeeded, Result: result})
	if ended != nil || err != nil {
		return ended, err
	}
	return e.options.Jobs.Get(ctx, job.ID) // the sweeper was here first
}

// NotifyRequester notifies the API key that has requested a job, if the job had ended by
// then: it was not subscribed. Doing so again changes nothing.
func (e *Engine) NotifyRequester(ctx context.Context, job *jobs.Job, by Requester) error {
	if !by.isCaller() || !job.State.Ended() {
		return nil
	}
	return e.notifyKeys(ctx, job, []string{by.subscriber()})
}

// CachedResult returns the cached result for a kind of job and its input, nil
// when there is none.
func (e *Engine) CachedResult(ctx context.Context, kind string, input json.RawMessage) (json.RawMessage, error) {
	key, err := ResultKey(kind, input)
	if err != nil || key == "" {
		return nil, err
	}
	return e.options.Results.Get(ctx, key)
}

// Job returns a job with its result; jobs.ErrNotFound when either has expired.
func (e *Engine) Job(ctx context.Context, id string) (*jobs.Job, error) {
	job, err := e.options.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return job, e.addOwnResult(ctx, job)
}

// addOwnResult is addResult for the row whose job made the result: it does not say that the result
// was cached, although only the cache stores it.
func (e *Engine) addOwnResult(ctx context.Context, job *jobs.Job) error {
	had := job.Result != nil
	err := e.addResult(ctx, job)
	if err == nil && !had && job.Result != nil {
		job.Result, err = cache.Marked(job.Result, false)
	}
	return err
}

// addResult adds the result that the cache alone has of the job of a row. It returns
// jobs.ErrNotFound when it has expired there.
func (e *Engine) addResult(ctx context.Context, job *jobs.Job) (err error) {
	if job.State != jobs.Succeeded || job.Result != nil {
		return nil
	}
	job.Result, err = e.CachedResult(ctx, job.Kind, job.Input)
	if err == nil && job.Result == nil {
		err = jobs.ErrNotFound
	}
	return err
}

// CachedAll returns the cached results under keys, in one round trip; nil for each that
// is not cached.
func (e *Engine) CachedAll(ctx context.Context, keys []cache.Key) ([]json.RawMessage, error) {
	results := make([]json.RawMessage, len(keys))
	if len(keys) == 0 {
		return results, nil
	}
	cached, err := e.options.Results.GetAll(ctx, keys)
	for i := range cached {
		results[i] = cached[i]
	}
	return results, err
}

// ensureChildren makes sure that the children that a job waits for exist, and
// records the outcomes of those that have ended. It reports whether there was
// such an outcome.
func (e *Engine) ensureChildren(ctx context.Context, job *jobs.Job, children []Child) (changed bool, err error) {
	var errs []error
	for _, child := range children {
		if job.Children[child.Name].State.Ended() {
			continue // its outcome is in the record
		}
		ended, err := e.ensureChild(ctx, job, child)
		changed = changed || ended
		errs = append(errs, err)
	}
	return changed, errors.Join(errs...)
}

// ensureChild takes the result of a child from the cache, or creates or joins its
// job. It reports whether the child has ended and its outcome is in the parent's
// record.
func (e *Engine) ensureChild(ctx context.Context, parent *jobs.Job, child Child) (ended bool, err error) {
	id := parent.Children[child.Name].Job
	if id == "" {
		input, err := plainjson.Encode(child.Input)
		if err != nil {
			return false, err
		}
		cached, err := e.CachedResult(ctx, child.Kind, input)
		if err != nil {
			return false, err
		}
		if cached != nil {
			outcome := jobs.Child{State: jobs.Succeeded, Result: cached}
			return true, e.options.Jobs.SetChildOutcome(ctx, parent.ID, child.Name, outcome)
		}
		if id, err = e.createChild(ctx, parent, child); err != nil || id == "" {
			return false, err
		}
	}
	job, err := e.Job(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound): // it ended longer ago than records are retained
		job = &jobs.Job{State: jobs.Failed, Error: TimedOut()}
	case err != nil:
		return false, err
	case job.State.Ended():
	case parent.Class == jobs.Interactive && job.Class == jobs.Bulk:
		// The process that promoted the parent may have crashed before it promoted
		// this child.
		_, err = e.promote(ctx, job.ID, Requester{Owner: parent.Owner, Origin: parent.Origin})
		return false, err
	default:
		return false, nil
	}
	return true, e.options.Jobs.SetChildOutcome(ctx, parent.ID, child.Name, jobs.Child{
		State: job.State, Result: job.Result, Error: job.Error,
	})
}

// createChild creates or joins the job of a child and records its id in the
// parent's record. It returns the id, "" when the parent has ended. The child
// knows its parent before the parent knows its child: if this process dies in
// between, the child's end still advances the parent, which then creates or
// joins the child again.
func (e *Engine) createChild(ctx context.Context, parent *jobs.Job, child Child) (id string, err error) {
	subscriber := jobSubscriber(parent.ID, child.Name)
	job, err := e.Submit(ctx, child.Kind, child.Input, Requester{
		Owner: parent.Owner, Class: parent.Class, Subscriber: subscriber, Origin: parent.Origin,
	})
	if err != nil {
		return "", err
	}
	recorded, err := e.options.Jobs.SetChildJob(ctx, parent.ID, child.Name, job.ID)
	if err != nil || recorded == job.ID {
		return recorded, err
	}
	// Another process recorded another job, or the parent has ended.
	return recorded, e.Unsubscribe(ctx, job.ID, subscriber)
}

// releaseChildren unsubscribes a cancelled job from all children in its record. A cancelled job
// gets no more children.
func (e *Engine) releaseChildren(ctx context.Context, ended *jobs.Job, _ []string) error {
	if ended.State != jobs.Cancelled {
		return nil
	}
	job, err := e.options.Jobs.Get(ctx, ended.ID)
	if err != nil {
		return err
	}
	for name, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if err := e.Unsubscribe(ctx, child.Job, jobSubscriber(job.ID, name)); err != nil {
			return err
		}
	}
	return nil
}
