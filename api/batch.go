package api

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/batch"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
)

// batchBody is a batch as its caller sees it.
type batchBody struct {
	ID          string              `json:"id"`
	State       string              `json:"state"`    // running, cancelling, completed or cancelled
	Rows        int                 `json:"rows"`     // handed in
	Repeated    int                 `json:"repeated"` // of these, with the same question as an earlier one
	Counts      map[batch.State]int `json:"counts"`   // of all rows
	Options     batchOptions        `json:"options"`
	Created     time.Time           `json:"created"`
	Cancelled   time.Time           `json:"cancelled,omitzero"`
	Ended       time.Time           `json:"ended,omitzero"`
	Expires     time.Time           `json:"expires,omitzero"`
	PerSecond   float64             `json:"perSecond,omitempty"`
	SecondsLeft int                 `json:"secondsLeft,omitempty"`
	Webhook     *batchWebhook       `json:"webhook,omitempty"`
}

// batchWebhook is the webhook that a batch names, with its secret where the
// request made it.
type batchWebhook struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
}

func newBatchBody(b *batch.Batch) batchBody {
	body := batchBody{
		ID: b.ID, State: "running", Rows: b.Rows, Repeated: b.Repeated, Counts: map[batch.State]int{},
		Created: b.Created, Cancelled: b.Cancelled, Ended: b.Ended, Expires: b.Expires(),
		PerSecond: math.Round(100*b.PerSecond) / 100,
	}
	for _, state := range batch.States() {
		body.Counts[state] = b.Counts[state]
	}
	if rate, err := money.ParseNumber(b.Options.Rate); err == nil {
		body.Options.Rate = &rate
	}
	if id := b.Options.Webhook; id != "" {
		body.Webhook = &batchWebhook{ID: id}
	}
	switch {
	case !b.Ended.IsZero() && !b.Cancelled.IsZero():
		body.State = "cancelled"
	case !b.Ended.IsZero():
		body.State = "completed"
	case !b.Cancelled.IsZero():
		body.State = "cancelling"
	}
	if b.Ended.IsZero() {
		body.SecondsLeft = int(math.Ceil(b.Remaining().Seconds()))
	}
	return body
}

// postBatch answers POST /v1/batches: it takes many listings at once.
func (s *Server) postBatch(w http.ResponseWriter, r *http.Request) error {
	s.allowUpload(w, r)
	handed, options, err := readBatch(w, r)
	switch {
	case err != nil:
		return err
	case len(handed) == 0:
		return errRowsMissing
	case len(handed) > batch.MaxRows:
		return errTooManyRows
	}
	rows, err := s.checkBatch(handed, &options)
	if err != nil {
		return err
	}
	same, err := s.beginIdempotent(r, []any{handed, options, options.Webhook})
	if err != nil {
		return err
	}
	// The id comes first: whoever sends the request again finds the batch, or
	// makes what was not made.
	id, err := same.setOutcome(r.Context(), "batch", batch.NewID())
	if err != nil {
		return err
	}
	if again, err := s.replayBatch(w, r, same, id, options.Webhook); again || err != nil {
		return err
	}
	if err := s.checkBatchLimits(w, r, len(rows)); err != nil {
		return err
	}
	hook, err := s.findOrCreateWebhook(r, id, options.Webhook)
	if err != nil {
		return err
	}
	made := batch.New{ID: id, Owner: recorderOf(r).key.ID, Rows: rows}
	made.Options.Webhook = hook.ID
	if options.Rate != nil {
		made.Options.Rate = options.Rate.String()
	}
	const patience = 10 * redisTimeout // for ten thousand rows
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	b, err := s.options.Batches.Create(ctx, made)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	s.feed(ctx)
	return writeBatch(w, b, hook)
}

// checkBatch makes rows of what was handed in, unless some are bad and none is
// to be skipped, and an address of what is to be told of the end.
func (s *Server) checkBatch(handed []rowRequest, options *batchOptions) (rows []batch.Row, err error) {
	if options.Webhook != "" {
		if options.Webhook, err = s.receiver(options.Webhook); err != nil {
			return nil, err
		}
	}
	rows = s.checkRows(handed)
	if bad := invalid(rows); bad != nil && (!options.skip() || bad.invalidCount == len(rows)) {
		return nil, bad
	}
	return rows, nil
}

// writeBatch answers with a batch that was made.
func writeBatch(w http.ResponseWriter, b *batch.Batch, hook batchWebhook) error {
	w.Header().Set("Location", "/v1/batches/"+b.ID)
	body := newBatchBody(b)
	if body.Webhook != nil {
		body.Webhook = &hook
	}
	return writeJSON(w, http.StatusCreated, body)
}

// findOrCreateWebhook returns the caller's webhook of an address, or makes one for a
// batch.
func (s *Server) findOrCreateWebhook(r *http.Request, batchID, address string) (hook batchWebhook, err error) {
	if address == "" {
		return hook, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	all, err := s.options.Webhooks.List(ctx, recorderOf(r).key.ID)
	if err != nil {
		return hook, errUnavailable.withCause(err)
	}
	own := webhookOfBatch(batchID)
	known := slices.IndexFunc(all, func(e webhook.Endpoint) bool { return e.URL == address && e.Disabled == "" && e.ID != own })
	if known >= 0 {
		return batchWebhook{ID: all[known].ID}, nil
	}
	return s.makeWebhook(r, batchID, address)
}

// webhookOfBatch is the id of the webhook that is made for a batch.
func webhookOfBatch(batchID string) string { return "wh" + strings.ToLower(batchID) }

// makeWebhook makes a webhook that is told only of what names it, once for a
// batch.
func (s *Server) makeWebhook(r *http.Request, batchID, address string) (hook batchWebhook, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	made, secret, err := s.options.Webhooks.Add(ctx, recorderOf(r).key.ID, webhookOfBatch(batchID), address, []string{})
	switch {
	case errors.Is(err, webhook.ErrTooMany):
		return hook, errTooManyWebhooks
	case err != nil:
		return hook, errUnavailable.withCause(err)
	}
	return batchWebhook{made.ID, secret}, nil
}

// replayBatch answers a request that was sent before with the batch that it
// made; false when it made none.
func (s *Server) replayBatch(w http.ResponseWriter, r *http.Request, same *idempotentRequest, id, address string) (bool, error) {
	if same == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	b, err := s.options.Batches.Get(ctx, id)
	switch {
	case errors.Is(err, batch.ErrNotFound):
		return false, nil
	case err != nil:
		return false, errUnavailable.withCause(err)
	}
	hook := batchWebhook{ID: b.Options.Webhook}
	if hook.ID == webhookOfBatch(id) {
		if hook, err = s.makeWebhook(r, id, address); err != nil {
			return true, err
		}
	}
	s.feed(ctx) // perhaps the first one died before it could
	return true, writeBatch(w, b, hook)
}

// feed has the workers look for rows that wait. Should it fail, they look by
// themselves a little later.
func (s *Server) feed(ctx context.Context) {
	if err := s.options.Tasks.EnqueueDispatch(ctx); err != nil {
		s.options.Log.WarnContext(ctx, "the workers could not be told of a batch", "error", err)
	}
}

// batchOf returns the batch that a request names, if it is the caller's.
func (s *Server) batchOf(r *http.Request) (*batch.Batch, error) {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	b, err := s.options.Batches.Get(ctx, mux.Vars(r)["id"])
	switch {
	case errors.Is(err, batch.ErrNotFound), err == nil && b.Owner != recorderOf(r).key.ID:
		return nil, errBatchNotFound
	case err != nil:
		return nil, errUnavailable.withCause(err)
	}
	return b, nil
}

// getBatch answers GET /v1/batches/{id}.
func (s *Server) getBatch(w http.ResponseWriter, r *http.Request) error {
	b, err := s.batchOf(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, newBatchBody(b))
}

// cancelBatch answers DELETE /v1/batches/{id}: rows that wait are cancelled.
func (s *Server) cancelBatch(w http.ResponseWriter, r *http.Request) error {
	b, err := s.batchOf(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	if err := s.options.Batches.Cancel(ctx, b.ID); err != nil {
		return errUnavailable.withCause(err)
	}
	return s.getBatch(w, r)
}

// retryBatch answers POST /v1/batches/{id}/retry: failed rows wait again.
func (s *Server) retryBatch(w http.ResponseWriter, r *http.Request) error {
	b, err := s.batchOf(r)
	if err != nil {
		return err
	}
	same, err := s.beginIdempotent(r, nil)
	if err != nil {
		return err
	}
	// The name comes first: whoever sends the request again finds that it was
	// done, or does it.
	name, err := same.setOutcome(r.Context(), "retry", rand.Text())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	done, err := s.options.Batches.WasRetried(ctx, b.ID, name)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	if !done {
		if err := s.checkBatchLimits(w, r, b.Counts[batch.Failed]); err != nil {
			return err
		}
		err = s.options.Batches.Retry(ctx, b.ID, name)
	}
	switch {
	case errors.Is(err, batch.ErrNoneFailed):
		return errNoneFailed
	case err != nil:
		return errUnavailable.withCause(err)
	}
	s.feed(ctx)
	return s.getBatch(w, r)
}

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// pageSize reads the parameter limit.
func pageSize(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultPageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPageSize {
		return 0, errPageInvalid
	}
	return n, nil
}

// listBatches answers GET /v1/batches: the caller's own, newest first.
func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) error {
	limit, err := pageSize(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	found, err := s.options.Batches.List(ctx, recorderOf(r).key.ID, r.URL.Query().Get("cursor"), limit)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	body := struct {
		Batches []batchBody `json:"batches"`
		Next    string      `json:"next,omitempty"`
	}{Batches: make([]batchBody, 0, len(found))}
	for _, b := range found {
		body.Batches = append(body.Batches, newBatchBody(b))
	}
	if len(found) == limit {
		body.Next = found[limit-1].ID
	}
	return writeJSON(w, http.StatusOK, body)
}

// itemBody is a row of a batch as its caller sees it.
type itemBody struct {
	Row       int            `json:"row"`
	Reference string         `json:"reference,omitempty"`
	URL       string         `json:"url"`
	ModelBody string         `json:"modelBody,omitempty"`
	State     batch.State    `json:"state"`
	SameAs    int            `json:"sameAs,omitempty"` // row with the same question, whose outcome this one has
	Job       string         `json:"job,omitempty"`
	Error     *vehicle.Error `json:"error,omitempty"`
}

// listItems answers GET /v1/batches/{id}/items.
func (s *Server) listItems(w http.ResponseWriter, r *http.Request) error {
	limit, err := pageSize(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	from, state := 0, batch.State(query.Get("state"))
	if text := query.Get("cursor"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return errPageInvalid
		}
	}
	if state != "" && !slices.Contains(batch.States(), state) {
		return errStateUnknown
	}
	b, err := s.batchOf(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	reader, err := s.options.Batches.Read(ctx, b.ID)
	if err != nil {
		return batchReadProblem(err)
	}
	items, next, err := reader.Next(ctx, from, limit, state, false)
	if err != nil {
		return batchReadProblem(err)
	}
	body := struct {
		Items []itemBody `json:"items"`
		Next  string     `json:"next,omitempty"`
	}{Items: make([]itemBody, 0, len(items))}
	for _, item := range items {
		body.Items = append(body.Items, newItemBody(item))
	}
	if next >= 0 {
		body.Next = strconv.Itoa(next)
	}
	return writeJSON(w, http.StatusOK, body)
}

// batchReadProblem: a batch may go between two looks.
func batchReadProblem(err error) error {
	if errors.Is(err, batch.ErrNotFound) {
		return errBatchNotFound
	}
	return errUnavailable.withCause(err)
}

func newItemBody(item batch.Item) itemBody {
	body := itemBody{
		Row: item.Number, Reference: item.Reference, URL: item.URL, ModelBody: item.ModelBody,
		State: item.State, Job: item.Job, SameAs: item.DuplicateRow,
	}
	if item.Error != nil {
		why := problemOf(item.Error).body()
		body.Error = &why
	}
	return body
}
