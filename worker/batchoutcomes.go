package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// batchOutcomes records the outcomes of batch rows, and emits the event of a
// batch whose last row has one.
type batchOutcomes struct {
	batches  *batch.Store
	webhooks *webhook.Store
	bytes    *pace.Accounts
	log      *slog.Logger
	wake     chan struct{} // holds a value when a row has ended or was parked, so that the window may have room
}

func newBatchOutcomes(
	batches *batch.Store, webhooks *webhook.Store, bytes *pace.Accounts, log *slog.Logger,
) *batchOutcomes {
	return &batchOutcomes{batches, webhooks, bytes, log, make(chan struct{}, 1)}
}

// onJobEnded is the tasks.Notifier of batch rows.
func (o *batchOutcomes) onJobEnded(ctx context.Context, job *jobs.Job, subscribers []string) error {
	return o.eachRow(ctx, job, subscribers, func(id string, row int) error { return o.record(ctx, id, row, job) })
}

// parkSlack is how much longer a row is parked than its job waits: an attempt that
// waits again takes no place in between.
const parkSlack = 15 * time.Second

// onJobWaits parks the rows of a job that does nothing for a time.
func (o *batchOutcomes) onJobWaits(ctx context.Context, job *jobs.Job, subscribers []string, wait time.Duration) error {
	rows := slices.DeleteFunc(subscribers, func(s string) bool { return !strings.HasPrefix(s, tasks.SubscriberBatch+":") })
	return o.eachRow(ctx, job, rows, func(id string, row int) error { return o.batches.Park(ctx, id, row, wait+parkSlack) })
}

// eachRow does something for each subscriber that is a row, and has the window filled.
func (o *batchOutcomes) eachRow(
	ctx context.Context, job *jobs.Job, subscribers []string, do func(batch string, row int) error,
) error {
	for _, subscriber := range subscribers {
		id, index, _ := strings.Cut(strings.TrimPrefix(subscriber, tasks.SubscriberBatch+":"), "#")
		row, err := strconv.Atoi(index)
		if err != nil {
			o.log.ErrorContext(ctx, "invalid subscriber on job", "job", job.ID, "subscriber", subscriber)
			continue
		}
		if err := do(id, row); err != nil {
			return err
		}
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

// record gives a row the outcome of its job, once. When a row had joined the job of a person
// and that job ended because of what a person does not wait for, the row stays running:
// dispatcher.recoverRow gives it a job that waits; also when the cache has lost the result before
// the row got it.
func (o *batchOutcomes) record(ctx context.Context, id string, row int, job *jobs.Job) (err error) {
	if tasks.EndedForPerson(job) || job.State == jobs.Succeeded && job.Result == nil {
		return nil
	}
	var done batch.Recorded
	switch {
	case job.State == jobs.Succeeded:
		done, err = o.batches.Succeed(ctx, id, row, job.Result)
	case job.Error != nil:
		done, err = o.batches.Fail(ctx, id, row, job.Error)
	default:
		cancelled := &jobs.Error{Notice: message.New("error/cancelled.row", nil)}
		done, err = o.batches.Fail(ctx, id, row, cancelled)
	}
	if err == nil && done.Owner != "" {
		_, err = o.bytes.Settle(ctx, pace.Holder{Whole: done.Owner},
			pace.Kept{Size: done.Bytes, TTL: batch.Retention}, pace.Kept{Name: batch.PromiseName(id), Size: -batch.RowRoom})
	}
	if done.Last {
		o.log.InfoContext(ctx, "batch ended", "batch", id)
		return errors.Join(err, o.emitCompleted(ctx, id))
	}
	return err
}

// batchCompleted is the data of the event batch.completed.
type batchCompleted struct {
	ID       string              `json:"id"`
	State    string              `json:"state"` // completed or cancelled
	Rows     int                 `json:"rows"`
	Counts   map[batch.State]int `json:"counts"`
	Created  time.Time           `json:"created"`
	Ended    time.Time           `json:"ended"`
	Location string              `json:"location"`
	Results  string              `json:"results"`

	Metadata map[string]string `json:"metadata,omitempty"` // of the request
}

// emitCompleted emits the event of a batch that has ended. It may be called
// any number of times: every end is one event, and a batch whose failed rows
// are retried ends again.
func (o *batchOutcomes) emitCompleted(ctx context.Context, id string) error {
	b, err := o.batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Ended.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(
		o.bytes.Expire(ctx, b.Owner, batch.AccountName(id), time.Until(b.Expires)),
		o.bytes.Forget(ctx, pace.Holder{Whole: b.Owner}, batch.PromiseName(id)),
	)
	if err != nil {
		return err
	}
	data := batchCompleted{
		ID: id, State: "completed", Rows: b.Rows, Counts: b.Counts,
		Created: localtime.Of(b.Created), Ended: localtime.Of(b.Ended),
		Location: "/v1/batches/" + id, Results: "/v1/batches/" + id + "/results",
		Metadata: b.Options.Metadata,
	}
	if !b.Cancelled.IsZero() {
		data.State = "cancelled"
	}
	subject := fmt.Sprintf("%s@%d", id, b.Ended.UnixMilli())
	return o.webhooks.Emit(ctx, b.Owner, webhook.BatchCompleted, subject, b.Ended, data, b.Options.Webhook)
}
