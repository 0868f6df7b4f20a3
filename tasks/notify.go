package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
)

// A subscriber is notified of a job's end. Its name is a word, a colon and what
// the notifier of that word needs: "job:<id>/<child>" is a job that waits for a
// child, "key:<id>" the API key of a caller, with "?<query>" when it reads the result at
// the job's URL with that query. Other words come with Options.Notifiers.
const (
	subscriberJob = "job"
	subscriberKey = "key"
)

// jobSubscriber names a job as the subscriber of one of its children. The name
// of the child is part of it because two children may share one job: releasing
// the one keeps the other.
func jobSubscriber(id, child string) string { return subscriberJob + ":" + id + "/" + child }

// subscriberJobID returns the id of the job that a subscriber names.
func subscriberJobID(subscriber string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(subscriber, subscriberJob+":"), "/")
	return id
}

// keySubscriber names an API key as a subscriber, with the query of the URL at which it
// reads the result. A key that asks for one job with two queries gets an event for each.
func keySubscriber(owner, query string) string {
	if query == "" {
		return subscriberKey + ":" + owner
	}
	return subscriberKey + ":" + owner + "?" + query
}

// subscriber returns the name of the subscriber that a requester is.
func (r Requester) subscriber() string {
	if r.isCaller() {
		return keySubscriber(r.Owner, r.Query)
	}
	return r.Subscriber
}

// keyOf returns the API key that a subscriber names, and its query; false for a subscriber
// of another kind.
func keyOf(subscriber string) (owner, query string, ok bool) {
	name, ok := strings.CutPrefix(subscriber, subscriberKey+":")
	owner, query, _ = strings.Cut(name, "?")
	return owner, query, ok
}

// SubscriberBatch is the first word of a subscriber that is a row of a batch.
const SubscriberBatch = "batch"

// RowSubscriber names a row of a batch as the subscriber of its job:
// "batch:<id>#<index of the row>".
func RowSubscriber(batch string, row int) string {
	return fmt.Sprintf("%s:%s#%d", SubscriberBatch, batch, row)
}

// LeaveRow returns what batch.Store.Release calls for the rows of a cancelled batch: their jobs
// are cancelled unless others wait for them.
func (e *Engine) LeaveRow(batch string) func(ctx context.Context, job string, row int) error {
	return func(ctx context.Context, job string, row int) error {
		return e.Unsubscribe(ctx, job, RowSubscriber(batch, row))
	}
}

// notifyChunk is how many subscribers are notified in one call.
const notifyChunk = 500

// ErrNotifyIncomplete means that a job has ended and that not all its subscribers
// could be notified. The sweeper notifies the others.
var ErrNotifyIncomplete = errors.New("tasks: not all subscribers of the job were notified")

// notify notifies the subscribers of a job that has ended, and removes those that
// it has notified. One that cannot be notified does not delay the others.
func (e *Engine) notify(ctx context.Context, job *jobs.Job, subscribers []string) error {
	byWord := map[string][]string{}
	for _, subscriber := range subscribers {
		word, _, _ := strings.Cut(subscriber, ":")
		byWord[word] = append(byWord[word], subscriber)
	}
	var errs []error
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		notifier, ok := e.notifiers[word]
		if !ok {
			errs = append(errs, fmt.Errorf("tasks: this process has no notifier for %q", word))
			continue
		}
		for chunk := range slices.Chunk(byWord[word], notifyChunk) {
			err := notifier(ctx, job, chunk)
			if err == nil && len(subscribers) > 1 { // a single one is removed by MarkFinalized
				err = e.options.Jobs.RemoveNotified(ctx, job.ID, chunk)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrNotifyIncomplete, err)
	}
	return nil
}

// notifyJobs advances the jobs that wait for a child.
func (e *Engine) notifyJobs(ctx context.Context, _ *jobs.Job, subscribers []string) error {
	errs := make([]error, 0, len(subscribers))
	for _, subscriber := range subscribers {
		errs = append(errs, e.Advance(ctx, subscriberJobID(subscriber)))
	}
	return errors.Join(errs...)
}

// jobCompletedEvent is the data of the webhook event job.completed. The result
// itself is at Location, for callers with the API key.
type jobCompletedEvent struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	State    jobs.State     `json:"state"`
	Created  time.Time      `json:"created"`
	Ended    time.Time      `json:"ended"`
	URLs     []string       `json:"urls,omitempty"` // of the listings or the sheet
	Location string         `json:"location"`
	Error    *vehicle.Error `json:"error,omitempty"`

	Metadata json.RawMessage `json:"metadata,omitempty"` // of the request
}

// eventError returns the error of a job as the API writes it: with what was found of a car
// that was not matched.
func eventError(why *jobs.Error) *vehicle.Error {
	if why == nil {
		return nil
	}
	var found Refusal
	_ = json.Unmarshal(why.Details, &found) // those of other errors are not for the caller
	return &vehicle.Error{
		Message: why.Message, Code: why.Code, Text: why.Text, Values: why.Values, Candidates: found.Candidates, Car: found.Car,
		Cars: found.Cars,
	}
}

// notifyKeys emits the event job.completed to the webhooks of API keys.
func (e *Engine) notifyKeys(ctx context.Context, job *jobs.Job, subscribers []string) error {
	errs := make([]error, 0, 1+len(subscribers))
	owners := make([]string, 0, len(subscribers))
	for _, subscriber := range subscribers {
		owner, query, _ := keyOf(subscriber)
		owners = append(owners, owner)
		data := jobCompletedEvent{
			ID: job.ID, Kind: job.Kind, State: job.State, Created: localtime.Of(job.Created), Ended: localtime.Of(job.Ended),
			URLs: URLsOf(job), Location: "/v1/jobs/" + job.ID, Error: eventError(job.Error),
		}
		subject := job.ID
		if query != "" {
			data.Location += "?" + query
			subject += "?" + query
		}
		read, _ := url.ParseQuery(query) // we have written it
		data.Metadata = json.RawMessage(read.Get("metadata"))
		said, err := plainjson.Encode(data)
		if err == nil {
			event := json.RawMessage(message.ViewIn(read.Get("lang")).Of(said))
			err = e.options.Webhooks.Emit(ctx, owner, webhook.JobCompleted, subject, job.Ended, event, read.Get("webhook"))
		}
		errs = append(errs, err)
	}
	slices.Sort(owners)
	errs = append(errs, e.nameListings(ctx, slices.Compact(owners), job))
	return errors.Join(errs...)
}
