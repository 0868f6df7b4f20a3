package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// subscriberJob is the first word of a parent that is a job.
const subscriberJob = "job"

// jobSubscriber is a job as the parent of one of its children. Two children of
// other names may be one and the same job: letting go of one keeps the other.
func jobSubscriber(id, child string) string { return subscriberJob + ":" + id + "/" + child }

// subscriberJobID is the job of such a parent.
func subscriberJobID(parent string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(parent, subscriberJob+":"), "/")
	return id
}

// notifyChunk is how many parents a handler is told of in one call.
const notifyChunk = 500

// CachedResult returns the answer to a question that is kept from before, nil
// when there is none.
func (e *Engine) CachedResult(ctx context.Context, kind string, input json.RawMessage) (json.RawMessage, error) {
	key, err := ResultKey(kind, input)
	if err != nil || key == "" {
		return nil, err
	}
	answer, err := e.results.Get(ctx, key)
	if errors.Is(err, cache.ErrMiss) {
		return nil, nil
	}
	return answer, err
}

// Cancel ends a job, and those of its children that nobody else wants.
func (e *Engine) Cancel(ctx context.Context, id string) error {
	if _, err := e.jobs.Cancel(ctx, id); err != nil {
		return err
	}
	return e.Advance(ctx, id)
}

// Unsubscribe ends the interest of a parent in a job, which is cancelled when
// nobody else wants it.
func (e *Engine) Unsubscribe(ctx context.Context, id, parent string) error {
	cancelled, err := e.jobs.Unsubscribe(ctx, id, parent)
	if err != nil || !cancelled {
		return err
	}
	return e.Advance(ctx, id)
}

// ensureChildren makes or joins the children that a job waits for, and notes which of
// them have ended; then it moves the job on.
func (e *Engine) ensureChildren(ctx context.Context, job *jobs.Job, children []Child) error {
	var (
		news   bool
		failed []error
	)
	for _, child := range children {
		if job.Children[child.Name].State.Ended() {
			continue // the workflow knows it already
		}
		ended, err := e.ensureChild(ctx, job, child)
		news = news || ended
		failed = append(failed, err)
	}
	if err := errors.Join(failed...); err != nil || !news {
		return err
	}
	return e.Advance(ctx, job.ID)
}

// ensureChild reports whether a child has ended; then its end stands in the
// parent's record.
func (e *Engine) ensureChild(ctx context.Context, parent *jobs.Job, child Child) (ended bool, err error) {
	input, err := plainjson.Encode(child.Input)
	if err != nil {
		return false, err
	}
	id := parent.Children[child.Name].Job
	if id == "" {
		answer, err := e.CachedResult(ctx, child.Kind, input)
		if err != nil {
			return false, err
		}
		if answer != nil {
			return true, e.jobs.SetChildOutcome(ctx, parent.ID, child.Name, jobs.Child{State: jobs.Succeeded, Result: answer})
		}
		if id, err = e.createChild(ctx, parent, child); err != nil || id == "" {
			return false, err
		}
	}
	job, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) { // it ended longer ago than records are kept
		job, err = &jobs.Job{State: jobs.Failed, Error: TimedOut()}, nil
	}
	if err != nil {
		return false, err
	}
	if !job.State.Ended() {
		if parent.Class == jobs.Interactive && job.Class == jobs.Bulk { // whoever promoted the parent died over it
			_, err = e.promote(ctx, job)
		}
		return false, err
	}
	return true, e.jobs.SetChildOutcome(ctx, parent.ID, child.Name, jobs.Child{State: job.State, Result: job.Result, Error: job.Error})
}

// createChild makes or joins the job of a child and notes in the parent's record
// which it is. The child knows its parent before the parent knows its child:
// should this process die in between, the child's end still moves the parent
// on, which then asks anew. "" when the parent has ended meanwhile.
func (e *Engine) createChild(ctx context.Context, parent *jobs.Job, child Child) (id string, err error) {
	name := jobSubscriber(parent.ID, child.Name)
	job, err := e.Submit(ctx, child.Kind, child.Input, Requester{Owner: parent.Owner, Class: parent.Class, Subscriber: name})
	if err != nil {
		return "", err
	}
	holder, err := e.jobs.SetChildJob(ctx, parent.ID, child.Name, job.ID)
	if err != nil || holder == job.ID {
		return holder, err
	}
	// Somebody else bound another meanwhile, or the parent has ended.
	return holder, e.Unsubscribe(ctx, job.ID, name)
}

// finalize does what is left to do once a job has ended: let the next asker of
// its question begin anew, tell those who wait, let go of its children. It may
// be done twice, and is until it was done once without an error.
func (e *Engine) finalize(ctx context.Context, job *jobs.Job) error {
	parents, err := e.jobs.PublishEnd(ctx, job)
	if err != nil {
		return err
	}
	if job.State == jobs.Cancelled {
		for name, child := range job.Children {
			if child.Job == "" || child.State.Ended() {
				continue
			}
			if err := e.Unsubscribe(ctx, child.Job, jobSubscriber(job.ID, name)); err != nil {
				return err
			}
		}
	}
	if err := e.notify(ctx, job, parents); err != nil {
		return fmt.Errorf("%w: %w", ErrNotifyIncomplete, err)
	}
	return e.jobs.MarkFinalized(ctx, job)
}

// ErrNotifyIncomplete means that a job has ended, and that not everybody who waits for
// its end could be told. The sweep, or who else looks at the job, tells them.
var ErrNotifyIncomplete = errors.New("tasks: not everybody was told of the end of the job")

// notify moves the parents of a job that has ended on. One that cannot be told
// now does not keep the others waiting.
func (e *Engine) notify(ctx context.Context, job *jobs.Job, parents []string) error {
	byWord, one := map[string][]string{}, len(parents) == 1
	for _, parent := range parents {
		word, _, _ := strings.Cut(parent, ":")
		byWord[word] = append(byWord[word], parent)
	}
	var failed []error
	for word, parents := range byWord {
		for some := range slices.Chunk(parents, notifyChunk) {
			err := e.notifySubscribers(ctx, job, word, some)
			if err == nil && !one { // one alone goes with the set (Settled)
				err = e.jobs.RemoveNotified(ctx, job.ID, some)
			}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (e *Engine) notifySubscribers(ctx context.Context, job *jobs.Job, word string, parents []string) error {
	if word == subscriberJob {
		var failed error
		for _, parent := range parents {
			failed = errors.Join(failed, e.Advance(ctx, subscriberJobID(parent)))
		}
		return failed
	}
	if word == subscriberKey {
		return e.notifyKeys(ctx, job, parents)
	}
	tell, ok := e.notifiers[word]
	if !ok {
		return fmt.Errorf("tasks: nobody here tells a %s of the end of its jobs", word)
	}
	return tell(ctx, job, parents)
}
