package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
)

// A job moves by Complete, which stores the output of a step, and by Advance, which does
// what follows from its record. Both ask advance, a pure function of the record (workflow.go). Whatever
// ends a job is end, and what follows from the end is follow.

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

// Claim claims the step of a task for one run of a worker, and returns the record of its
// job. It returns nil when there is nothing to run: the step has its output already or its
// job has ended, and then Claim does what the record asks for; a later attempt has the
// step; or an output that the step needs was lost, and is made first.
func (e *Engine) Claim(ctx context.Context, task TaskPayload, worker, claim string) (*jobs.Job, error) {
	result, job, err := e.options.Jobs.Claim(ctx, task.Job, task.Step, task.Attempt, worker, claim)
	switch {
	case err != nil:
		return nil, err
	case result == jobs.AlreadyDone, result == jobs.JobEnded:
		return nil, e.Advance(ctx, task.Job)
	case job != nil && !isNext(job, task.Step):
		return nil, e.postpone(ctx, job, claim)
	}
	return job, nil
}

// isNext reports whether the outputs are there that a claimed step needs. They are not
// when Redis has gone back in time while a run did several steps: it stored the output
// of a later step in a record that has lost those before.
func isNext(job *jobs.Job, step string) bool {
	next, err := advance(job)
	return err != nil || next.Result != nil || next.Failed != nil || slices.Contains(next.Steps, step)
}

// postpone releases a claimed step whose turn has not come, see isNext, and advances the
// job: the outputs that are missing are made first. The sweeper looks soon for the run
// that has lost them.
func (e *Engine) postpone(ctx context.Context, job *jobs.Job, claim string) error {
	if err := e.options.Jobs.Release(ctx, job.ID, claim, false); err != nil {
		return err
	}
	if err := e.Advance(ctx, job.ID); err != nil {
		return err
	}
	return e.options.Jobs.ScheduleCheck(ctx, job.ID, job.Class, recheckRunning)
}

// StepOutput is the output of a step.
type StepOutput struct {
	Step   string
	Output json.RawMessage
}

// Run is one run of a handler. It can go on with a job's next step in the same
// task.
type Run struct {
	Worker, Claim string                     // as in jobs.Step
	CanRun        func(taskType string) bool // reports whether the run can go on with a step; nil: with none
}

// goesOnWith returns the step of the same queue that a run can go on with after another;
// "" for none.
func (r Run) goesOnWith(kind, step string, next Next) string {
	if r.CanRun == nil || len(next.Steps) != 1 {
		return ""
	}
	taskType := kind + ":" + next.Steps[0]
	if policies[taskType].Queue != policies[kind+":"+step].Queue || !r.CanRun(taskType) {
		return ""
	}
	return next.Steps[0]
}

// Continuation is a job whose next step was claimed together with the completion
// of the step before.
type Continuation struct {
	Job  *jobs.Job
	Step string
}

// Complete stores the output of a step and advances the job. The job is as it
// was when the step was claimed: what comes next is known from it, and is stored
// together with the output. Only when another process has changed the job in
// between, or when children come next, the record is read again. A next step that
// the run can go on with is claimed for it and returned.
//
// early, if any, are outputs of the steps that follow, in their order, which the
// same run has made. They are used when the job ends with them.
func (e *Engine) Complete(
	ctx context.Context, job *jobs.Job, step string, output json.RawMessage, by Run, early ...StepOutput,
) (*Continuation, error) {
	after := *job
	after.Outputs, after.Steps = maps.Clone(job.Outputs), maps.Clone(job.Steps)
	after.Outputs[step] = output
	if result, steps := resultWith(&after, step, early); result != nil {
		_, err := e.end(ctx, &after, jobs.End{State: jobs.Succeeded, Result: result, Steps: steps})
		if errors.Is(err, errNotCached) { // what was made is kept, so that it is not made again
			_, storeErr := e.options.Jobs.Complete(ctx, job.ID, step, output, "", "")
			err = errors.Join(err, storeErr)
		}
		return nil, err
	}
	next, err := advance(&after)
	if err != nil || next.Failed != nil || len(next.Children) > 0 {
		if _, err := e.options.Jobs.Complete(ctx, job.ID, step, output, "", ""); err != nil {
			return nil, err
		}
		return nil, e.Advance(ctx, job.ID)
	}
	continued := by.goesOnWith(job.Kind, step, next)
	var worker, claim string // for which the next step is claimed with the output
	if continued != "" {
		worker, claim = by.Worker, by.Claim
	}
	stored, err := e.options.Jobs.Complete(ctx, job.ID, step, output, worker, claim, next.Steps...)
	if err != nil {
		return nil, err
	}
	if !stored.Accepted {
		return nil, e.Advance(ctx, job.ID)
	}
	if stored.Promoted {
		after.Class = jobs.Interactive
	}
	if continued != "" {
		after.Steps[continued] = jobs.Step{State: jobs.StepClaimed, Attempt: 1, Worker: by.Worker, Claim: by.Claim}
		return &Continuation{&after, continued}, nil
	}
	for _, opened := range next.Steps {
		after.Steps[opened] = jobs.Step{State: jobs.StepReady, Attempt: 1}
	}
	return nil, e.advanceFrom(ctx, &after)
}

// resultWith returns the result of a job whose last outputs have just been made: the output of a
// step and those of the steps that ran early after it. It also returns the names of these early
// steps. The result is nil when more steps have to run.
func resultWith(job *jobs.Job, step string, early []StepOutput) (result json.RawMessage, steps []string) {
	last := *job
	last.Outputs, steps = maps.Clone(job.Outputs), append(make([]string, 0, 1+len(early)), step)
	for _, output := range early {
		last.Outputs[output.Step] = output.Output
		steps = append(steps, output.Step)
	}
	next, err := advance(&last)
	if err != nil { // Complete finds it too
		return nil, nil
	}
	return next.Result, steps
}

// Advance reads a job's record and does what comes next, until the job waits for
// a step or a child, or is finalized.
func (e *Engine) Advance(ctx context.Context, id string) error {
	job, err := e.options.Jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		remove := e.options.Jobs.RemoveActive
		return errors.Join(remove(ctx, id, jobs.Interactive), remove(ctx, id, jobs.Bulk))
	}
	if err != nil {
		return err
	}
	return e.advanceFrom(ctx, job)
}

// advanceFrom advances a job from its record as it was just read or written.
func (e *Engine) advanceFrom(ctx context.Context, job *jobs.Job) error {
	for !job.State.Ended() {
		next, err := advance(job)
		switch {
		case err != nil: // an output that cannot be decoded now cannot be decoded later
			_, endErr := e.end(ctx, job, jobs.End{State: jobs.Failed, Error: JobError(err)})
			return errors.Join(err, endErr)
		case next.Failed != nil:
			_, err := e.end(ctx, job, jobs.End{State: jobs.Failed, Error: next.Failed})
			return err
		case next.Result != nil:
			_, err := e.end(ctx, job, jobs.End{State: jobs.Succeeded, Result: next.Result})
			return err
		}
		if err := e.open(ctx, job, next.Steps); err != nil {
			return err
		}
		changed, err := e.ensureChildren(ctx, job, next.Children)
		if err != nil || !changed {
			return err
		}
		if job, err = e.options.Jobs.Get(ctx, job.ID); err != nil {
			return err
		}
	}
	if err := e.addOwnResult(ctx, job); err != nil && !errors.Is(err, jobs.ErrNotFound) {
		return err
	}
	subscribers, err := e.options.Jobs.PublishEnd(ctx, job, rememberedFor(job.Kind, job.Error))
	if err != nil {
		return err
	}
	return e.follow(ctx, job, subscribers)
}

// open makes steps ready and enqueues the tasks of those that wait for a worker.
func (e *Engine) open(ctx context.Context, job *jobs.Job, steps []string) error {
	for _, name := range steps {
		step, opened := job.Steps[name]
		if !opened {
			var err error
			if step, err = e.options.Jobs.Open(ctx, job.ID, name); err != nil {
				return err
			}
		}
		if step.State == jobs.StepReady {
			if err := e.enqueue(ctx, job, name, step.Attempt); err != nil {
				return err
			}
		}
	}
	return nil
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

// errNotCached means that a job has not ended because its result could not be cached.
var errNotCached = errors.New("tasks: the result of the job is not cached")

// end ends a job, once, and does what follows. It returns the record as it is then; nil when
// this call did not end the job, and then it does what its record asks for. A result is
// cached first, so that the next caller finds it; past the deadline a full cache does not
// keep it from the caller.
func (e *Engine) end(ctx context.Context, job *jobs.Job, how jobs.End) (*jobs.Job, error) {
	if how.Result != nil && e.options.BeforeSucceed != nil {
		err := e.options.BeforeSucceed(ctx, job, how.Result)
		if how.Cached = err == nil; err != nil && time.Now().Before(job.Deadline) {
			return nil, fmt.Errorf("%w: %w", errNotCached, err)
		}
	}
	how.Remember = rememberedFor(job.Kind, how.Error)
	ended, subscribers, err := e.options.Jobs.End(ctx, job, how)
	switch {
	case err != nil:
		return nil, err
	case ended == nil:
		return nil, e.Advance(ctx, job.ID)
	}
	if e.options.OnEnd != nil {
		e.options.OnEnd(ended)
	}
	return ended, e.follow(ctx, ended, subscribers)
}

// rememberedFor returns for how long equal requests join a job that failed.
func rememberedFor(kind string, failure *jobs.Error) time.Duration {
	if failure != nil && failure.Permanent && message.IsDefinite(failure.Code) && kind != KindCompare {
		return jobs.RefusalTTL
	}
	return 0
}

// End ends a job, unless it has ended or the claim of how is not valid any more.
func (e *Engine) End(ctx context.Context, job *jobs.Job, how jobs.End) error {
	_, err := e.end(ctx, job, how)
	return err
}

// follow does what follows from the end of a job. Each effect may run twice: the sweeper
// calls follow until it has once returned without an error. The callers that wait are woken
// by the script that ends the job.
func (e *Engine) follow(ctx context.Context, job *jobs.Job, subscribers []string) error {
	for _, effect := range []func(context.Context, *jobs.Job, []string) error{
		e.releaseChildren, // of a cancelled job
		e.notify,          // jobs that wait, rows of batches, webhooks of API keys
		e.finalize,        // the sweeper looks at it no more
	} {
		if err := effect(ctx, job, subscribers); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) finalize(ctx context.Context, job *jobs.Job, _ []string) error {
	return e.options.Jobs.MarkFinalized(ctx, job)
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

// Errors of CancelFor.
var (
	// ErrNotRequester means that the API key did not request the job.
	ErrNotRequester = errors.New("tasks: the API key did not request the job")
	// ErrStillNeeded means that others wait for the job, which continues.
	ErrStillNeeded = errors.New("tasks: others wait for the job")
)

// CancelFor unsubscribes an API key from a job, which is cancelled unless others
// wait for it. It returns the job as it is afterwards: a job that had ended
// before stays as it ended.
func (e *Engine) CancelFor(ctx context.Context, id, owner string) (*jobs.Job, error) {
	job, err := e.options.Jobs.Get(ctx, id)
	if err != nil || job.State.Ended() {
		return job, err
	}
	subscribers, err := e.options.Jobs.Subscribers(ctx, id)
	if err != nil {
		return nil, err
	}
	var unsubscribed error
	subscribed := false
	for _, subscriber := range subscribers {
		if key, _, ok := keyOf(subscriber); !ok || key != owner {
			continue
		}
		subscribed = true
		unsubscribed = errors.Join(unsubscribed, e.Unsubscribe(ctx, id, subscriber))
	}
	if !subscribed {
		return job, ErrNotRequester
	}
	job, err = e.options.Jobs.Get(ctx, id)
	switch {
	case err != nil || job.State.Ended(): // then the sweeper does what could not be done, as while Redis is full
		return job, err
	case unsubscribed != nil:
		return nil, unsubscribed
	}
	return job, ErrStillNeeded
}

// Cancel cancels a job, and those of its children that no one else waits for.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	job, err := e.options.Jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return e.Advance(ctx, id)
	}
	if err != nil {
		return err
	}
	_, err = e.end(ctx, job, jobs.End{State: jobs.Cancelled})
	return err
}

// Unsubscribe removes a subscriber from a job, which is cancelled when that was
// the last one.
func (e *Engine) Unsubscribe(ctx context.Context, id, subscriber string) error {
	cancelled, err := e.options.Jobs.Unsubscribe(ctx, id, subscriber)
	if err != nil || !cancelled {
		return err
	}
	job, err := e.options.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	if e.options.OnEnd != nil {
		e.options.OnEnd(job)
	}
	return e.advanceFrom(ctx, job)
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

// CachedResult returns the cached result for a kind of job and its input, nil
// when there is none.
func (e *Engine) CachedResult(ctx context.Context, kind string, input json.RawMessage) (json.RawMessage, error) {
	key, err := ResultKey(kind, input)
	if err != nil || key == "" {
		return nil, err
	}
	return e.options.Results.Get(ctx, key)
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
