package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	dispatchConcurrency = 8                      // rows submitted at the same time
	dispatchDebounce    = 100 * time.Millisecond // jobs that end within it cause one dispatch

	batchCheckInterval = time.Second      // between checks of all active batches
	stuckAfter         = 15 * time.Second // a row that runs for longer is checked
)

// parkSlack is how much longer a row is parked than its job waits: an attempt that
// waits again takes no place in between.
const parkSlack = 15 * time.Second

// parkedWindows is how many times as many rows as run may be parked. Each has a job,
// which the sweeper looks at.
const parkedWindows = 10

// reservedPart is the part of the window that a key gets although others fill it.
const reservedPart = 10

// dispatcher turns waiting batch rows into jobs, at most window of them at a
// time. Its process may die at any point: a row that was claimed is checked
// again, and its outcome is recorded once. It emits the event of a batch whose last row has one.
type dispatcher struct {
	redis    redis.UniversalClient
	batches  *batch.Store
	engine   *tasks.Engine // which tells the dispatcher of the end of jobs
	webhooks *webhook.Store
	bytes    *pace.Accounts
	window   int
	log      *slog.Logger
	wake     chan struct{} // holds a value when a row has ended or was parked, so that the window may have room
}

// ProcessTask dispatches rows. A failure is only logged: the next dispatch
// task or check of the batches makes up for it.
func (d *dispatcher) ProcessTask(ctx context.Context, _ *asynq.Task) error {
	if err := d.dispatch(ctx); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "batch dispatch failed", "error", err)
	}
	return nil
}

// run enqueues a dispatch when rows have ended, until ctx ends.
func (d *dispatcher) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		if err := d.engine.EnqueueDispatch(ctx); err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "batch dispatch was not enqueued", "error", err)
		}
		if pace.Sleep(ctx, dispatchDebounce) != nil {
			return
		}
	}
}

// dispatch submits rows until the window is full or no row waits.
func (d *dispatcher) dispatch(ctx context.Context) error {
	for {
		active, err := d.batches.ListActive(ctx)
		if err != nil {
			return err
		}
		submitted, err := d.dispatchShares(ctx, active)
		if err != nil || submitted == 0 {
			return err
		}
	}
}

// dispatchShares claims each batch's share of the window and submits its rows.
// It returns their number.
func (d *dispatcher) dispatchShares(ctx context.Context, active []batch.ActiveBatch) (int, error) {
	shares := fairShares(active, d.window)
	if len(shares) == 0 {
		return 0, nil
	}
	served := slices.DeleteFunc(slices.Clone(active), func(b batch.ActiveBatch) bool { return shares[b.ID] == 0 })
	var submitted atomic.Int64
	err := logs.Each(served, dispatchConcurrency, func(b batch.ActiveBatch) error {
		rows, err := d.batches.ClaimRows(ctx, b.ID, shares[b.ID])
		if err != nil {
			return err
		}
		submitted.Add(int64(len(rows)))
		ids, err := d.submitRows(ctx, rows, b, max(dispatchConcurrency/len(shares), 1))
		return errors.Join(err, d.setJobs(ctx, b.ID, ids))
	})
	ids := make([]string, len(served))
	for i, b := range served {
		ids[i] = b.ID
	}
	return int(submitted.Load()), errors.Join(err, d.batches.MarkServed(ctx, ids...))
}

// fairShares returns how many rows of each batch may be submitted, so that at most
// window rows run over all batches. Parked rows do not count, as long as there are not
// too many. Each row goes to the API key with the fewest running rows, and of its
// batches to the one with the fewest; among equals, to the batch that was served least
// recently, which is their order in active. A key that has less than a tenth of the
// window, parked rows included, always gets that: rows of another may run for long.
func fairShares(active []batch.ActiveBatch, window int) map[string]int {
	ofKey, parkedOfKey := map[string]int{}, map[string]int{}
	running := make([]int, len(active))
	waiting := make([]int, len(active))
	free, parked := window, 0
	for i, b := range active {
		running[i], waiting[i] = b.Running-b.Parked, b.Waiting
		ofKey[b.Owner] += running[i]
		free -= running[i]
		parked += b.Parked
		parkedOfKey[b.Owner] += b.Parked
	}
	free -= max(parked-parkedWindows*window, 0)
	shares := map[string]int{}
	for ; ; free-- {
		next := -1
		for i, b := range active {
			if waiting[i] == 0 {
				continue
			}
			if next < 0 || ofKey[b.Owner] < ofKey[active[next].Owner] ||
				b.Owner == active[next].Owner && running[i] < running[next] {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if owner := active[next].Owner; free <= 0 && ofKey[owner]+parkedOfKey[owner] >= window/reservedPart {
			break
		}
		shares[active[next].ID]++
		ofKey[active[next].Owner]++
		running[next]++
		waiting[next]--
	}
	return shares
}

// rowRequest is a row with the job that it asks for.
type rowRequest struct {
	row    batch.ClaimedRow
	kind   string
	input  any
	key    cache.Key
	cached json.RawMessage // its result, if that is cached
}

// requestOf returns what a row asks for: the estimate of its listing, or of the car
// that it describes.
func requestOf(row batch.ClaimedRow, owner string) (request rowRequest, err error) {
	if row.Car != nil {
		var car vehicle.QuoteInput
		if err := json.Unmarshal(row.Car, &car); err != nil {
			return request, fmt.Errorf("worker: car of a row: %w", err)
		}
		key, err := tasks.QuoteKey(car)
		return rowRequest{row: row, kind: tasks.KindQuote, input: car, key: key}, err
	}
	input := tasks.EstimateInput{
		URL: row.URL, ModelBody: row.ModelBody, PriceCandidates: row.PriceCandidates,
	}.For(owner)
	if row.Known != nil {
		if err := json.Unmarshal(row.Known, &input.Known); err != nil {
			return request, fmt.Errorf("worker: known values of a row: %w", err)
		}
	}
	return rowRequest{row: row, kind: tasks.KindEstimate, input: input, key: input.Key()}, nil
}

// prepareRows reads the cached results of rows, all in one round trip. A row that
// cannot be read is left out, with an error.
func (d *dispatcher) prepareRows(ctx context.Context, rows []batch.ClaimedRow, owner string) ([]rowRequest, error) {
	requests := make([]rowRequest, 0, len(rows))
	keys := make([]cache.Key, 0, len(rows))
	var errs []error
	for _, row := range rows {
		request, err := requestOf(row, owner)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		requests, keys = append(requests, request), append(keys, request.key)
	}
	cached, err := d.engine.CachedAll(ctx, keys)
	for i := range cached {
		requests[i].cached = cached[i]
	}
	if err != nil {
		requests = nil
	}
	return requests, errors.Join(append(errs, err)...)
}

// submitRows gives rows their results from the cache, or submits their jobs, whose
// ids it returns by row. A row that is submitted twice joins the same job.
func (d *dispatcher) submitRows(
	ctx context.Context, rows []batch.ClaimedRow, of batch.ActiveBatch, concurrency int,
) (map[int]string, error) {
	account, err := d.bytes.Read(ctx, pace.Holder{Whole: of.Owner})
	if err != nil {
		return nil, err
	}
	if account.Full() {
		return nil, d.failRows(ctx, rows)
	}
	requests, err := d.prepareRows(ctx, rows, of.Owner)
	var mu sync.Mutex
	ids := map[int]string{}
	return ids, errors.Join(err, logs.Each(requests, concurrency, func(request rowRequest) error {
		id, err := d.submitRow(ctx, request, of)
		mu.Lock()
		defer mu.Unlock()
		if id != "" {
			ids[request.row.Index] = id
		}
		return err
	}))
}

// failRows ends rows whose results may not be kept.
func (d *dispatcher) failRows(ctx context.Context, rows []batch.ClaimedRow) error {
	full := &jobs.Job{State: jobs.Failed, Error: &jobs.Error{Notice: message.New("error/too_many_bytes.rows", nil)}}
	return logs.Each(rows, 1, func(row batch.ClaimedRow) error { return d.record(ctx, row.Batch, row.Index, full) })
}

// submitRow submits one row and returns the id of its job; "" when it has its
// outcome already.
func (d *dispatcher) submitRow(ctx context.Context, request rowRequest, of batch.ActiveBatch) (id string, err error) {
	row := request.row
	if request.cached != nil {
		if listed, ok := request.input.(tasks.EstimateInput); ok {
			if err := d.engine.NameCached(ctx, of.Owner, listed, request.cached); err != nil {
				return "", err
			}
		}
		ended := &jobs.Job{State: jobs.Succeeded, Result: request.cached, Owner: of.Owner}
		return "", d.record(ctx, row.Batch, row.Index, ended)
	}
	job, err := d.engine.Submit(ctx, request.kind, request.input, tasks.Requester{
		Owner: of.Owner, Class: jobs.Bulk, Subscriber: tasks.RowSubscriber(row.Batch, row.Index), Origin: of.Origin,
	})
	if err != nil {
		return "", err
	}
	if job.State.Ended() { // it succeeded a moment ago, and notifies no new subscriber
		return "", d.record(ctx, row.Batch, row.Index, job)
	}
	return job.ID, nil
}

// checkBatches looks at all active batches, unless another worker has just
// done so: it recovers rows without news, removes batches that have ended, and
// fills the window.
func (d *dispatcher) checkBatches(ctx context.Context) error {
	acquired, err := d.redis.SetNX(ctx, "batches:checked", 1, batchCheckInterval).Result()
	if err != nil || !acquired {
		return err
	}
	active, err := d.batches.ListActive(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range active {
		switch {
		case b.Ended || b.Missing:
			// The event is emitted, and what was cancelled is left, before the batch is no longer checked.
			err := errors.Join(d.emitCompleted(ctx, b.ID), d.batches.Release(ctx, b.ID, d.engine.LeaveRow(b.ID)))
			if err == nil {
				err = d.batches.RemoveActive(ctx, b)
			}
			errs = append(errs, err)
		case b.Running > 0:
			errs = append(errs, d.recoverRows(ctx, b))
		}
	}
	_, err = d.dispatchShares(ctx, active)
	return errors.Join(append(errs, err)...)
}

// recoverRows checks the rows of a batch that have run for a while, in case
// the process that submitted them, or that had to record their outcome, died.
func (d *dispatcher) recoverRows(ctx context.Context, b batch.ActiveBatch) error {
	stuck, err := d.batches.ListStuck(ctx, b.ID, stuckAfter)
	if err != nil {
		return err
	}
	return logs.Each(stuck, dispatchConcurrency, func(row batch.ClaimedRow) error { return d.recoverRow(ctx, row, b) })
}

// recoverRow records the outcome of a row whose job has ended, or submits the
// row again when its job does not exist or ended for another's sake.
func (d *dispatcher) recoverRow(ctx context.Context, row batch.ClaimedRow, of batch.ActiveBatch) error {
	id := row.Job
	job, err := d.engine.Job(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound), // also when the row never had a job
		err == nil && tasks.EndedForPerson(job):
		var ids map[int]string
		ids, err = d.submitRows(ctx, []batch.ClaimedRow{row}, of, 1)
		id = ids[row.Index]
	case err == nil && job.State.Ended():
		return d.record(ctx, row.Batch, row.Index, job)
	}
	if err != nil || id == "" {
		return err
	}
	return d.setJobs(ctx, row.Batch, map[int]string{row.Index: id}) // it is checked again later
}

// setJobs records the jobs of rows, or leaves them when the batch was cancelled meanwhile.
func (d *dispatcher) setJobs(ctx context.Context, id string, ids map[int]string) error {
	cancelled, err := d.batches.SetRowJobs(ctx, id, ids)
	if err != nil || !cancelled {
		return err
	}
	return d.batches.Release(ctx, id, d.engine.LeaveRow(id))
}

// onJobEnded is the tasks.Notifier of batch rows.
func (d *dispatcher) onJobEnded(ctx context.Context, job *jobs.Job, subscribers []string) error {
	return d.eachRow(ctx, job, subscribers, func(id string, row int) error { return d.record(ctx, id, row, job) })
}

// onJobWaits parks the rows of a job that does nothing for a time.
func (d *dispatcher) onJobWaits(ctx context.Context, job *jobs.Job, subscribers []string, wait time.Duration) error {
	rows := slices.DeleteFunc(subscribers, func(s string) bool { return !strings.HasPrefix(s, tasks.SubscriberBatch+":") })
	return d.eachRow(ctx, job, rows, func(id string, row int) error { return d.batches.Park(ctx, id, row, wait+parkSlack) })
}

// eachRow does something for each subscriber that is a row, and has the window filled.
func (d *dispatcher) eachRow(
	ctx context.Context, job *jobs.Job, subscribers []string, do func(batch string, row int) error,
) error {
	for _, subscriber := range subscribers {
		id, index, _ := strings.Cut(strings.TrimPrefix(subscriber, tasks.SubscriberBatch+":"), "#")
		row, err := strconv.Atoi(index)
		if err != nil {
			d.log.ErrorContext(ctx, "invalid subscriber on job", "job", job.ID, "subscriber", subscriber)
			continue
		}
		if err := do(id, row); err != nil {
			return err
		}
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
	return nil
}

// record gives a row the outcome of its job, once. When a row had joined the job of a person
// and that job ended because of what a person does not wait for, the row stays running:
// dispatcher.recoverRow gives it a job that waits; also when the cache has lost the result before
// the row got it.
func (d *dispatcher) record(ctx context.Context, id string, row int, job *jobs.Job) (err error) {
	if tasks.EndedForPerson(job) || job.State == jobs.Succeeded && job.Result == nil {
		return nil
	}
	var done batch.Recorded
	switch {
	case job.State == jobs.Succeeded:
		done, err = d.batches.Succeed(ctx, id, row, job.Result)
	case job.Error != nil:
		done, err = d.batches.Fail(ctx, id, row, job.Error)
	default:
		cancelled := &jobs.Error{Notice: message.New("error/cancelled.row", nil)}
		done, err = d.batches.Fail(ctx, id, row, cancelled)
	}
	if err == nil && done.Owner != "" {
		_, err = d.bytes.Settle(ctx, pace.Holder{Whole: done.Owner},
			pace.Kept{Size: done.Bytes, TTL: batch.Retention}, pace.Kept{Name: batch.PromiseName(id), Size: -batch.RowRoom})
	}
	if done.Last {
		d.log.InfoContext(ctx, "batch ended", "batch", id)
		return errors.Join(err, d.emitCompleted(ctx, id))
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
func (d *dispatcher) emitCompleted(ctx context.Context, id string) error {
	b, err := d.batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Ended.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(
		d.bytes.Expire(ctx, b.Owner, batch.AccountName(id), time.Until(b.Expires)),
		d.bytes.Forget(ctx, pace.Holder{Whole: b.Owner}, batch.PromiseName(id)),
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
	return d.webhooks.Emit(ctx, b.Owner, webhook.BatchCompleted, subject, b.Ended, data, b.Options.Webhook)
}
