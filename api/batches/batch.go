// Package batches answers the requests for batches of listings and cars: their rows, their
// results in several formats, their events and another try.
package batches

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"ushuru/api/await"
	"ushuru/api/batchrequest"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/webhooks"
	"ushuru/pkg/batch"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errStateUnknown  = problem.BadRequest("state_unknown").Of("state")
	errSinceInvalid  = problem.BadRequest("since_invalid").Of("since")
	errFormatUnknown = problem.BadRequest("format_unknown").Of("format")
	errSortUnknown   = problem.BadRequest("sort_unknown")
)

// Resource answers the requests for batches. All its parts are required.
type Resource struct {
	Batches  *batch.Store
	Webhooks *webhook.Store
	Tasks    *tasks.Engine
	Hub      *jobs.Hub // its Run must be running
	Costs    *cost.Tables
	Outages  *tra.Outages
	Limits   *await.Limits
	Work     *await.Work
	Streams  *await.Streams
	// AllowLoopback accepts listings and webhooks on this machine.
	AllowLoopback bool
	Log           *slog.Logger
}

// body is a batch as its caller sees it.
type body struct {
	ID          string               `json:"id"`
	State       string               `json:"state"`    // running, completed or cancelled
	Rows        int                  `json:"rows"`     // number of rows submitted
	Repeated    int                  `json:"repeated"` // rows that duplicate an earlier one
	Counts      map[batch.State]int  `json:"counts"`   // of all rows
	Options     batchrequest.Options `json:"options"`
	Created     time.Time            `json:"created"`
	Cancelled   time.Time            `json:"cancelled,omitzero"`
	Ended       time.Time            `json:"ended,omitzero"`
	Expires     time.Time            `json:"expires,omitzero"`
	PerSecond   float64              `json:"perSecond,omitempty"`
	SecondsLeft int                  `json:"secondsLeft,omitempty"`
	Webhook     *bodyWebhook         `json:"webhook,omitempty"`
	Metadata    map[string]string    `json:"metadata,omitempty"`   // of the request
	Table       *batchrequest.Table  `json:"table,omitempty"`      // how it was understood, in the response to it
	Storage     *await.Room          `json:"storage,omitempty"`    // likewise
	Warnings    []vehicle.Warning    `json:"warnings,omitempty"`   // about the request
	WaitingFor  string               `json:"waitingFor,omitempty"` // authority, while TRA cannot be asked
	Message     string               `json:"message,omitempty"`    // why, as a sentence
	Text        *message.Text        `json:"text,omitempty"`       // Message in both languages
	Object      string               `json:"object"`               // batch

	columns []string // names of the caller's own columns
	sheets  bool     // rows are of several sheets
}

func newBody(b *batch.Batch) body {
	body := body{
		Object: "batch", ID: b.ID, State: "running", Rows: b.Rows, Repeated: b.Repeated, Counts: map[batch.State]int{},
		Created: localtime.Of(b.Created), Cancelled: localtime.Of(b.Cancelled), Ended: localtime.Of(b.Ended),
		Expires: localtime.Of(b.Expires), PerSecond: math.Round(100*b.PerSecond) / 100,
		SecondsLeft: int(math.Ceil(b.Remaining.Seconds())), columns: b.Options.Columns, sheets: b.Options.Sheets,
	}
	for _, state := range batch.States() {
		body.Counts[state] = b.Counts[state]
	}
	body.Metadata, body.Options.Terms = b.Options.Metadata, b.Options.Terms
	if id := b.Options.Webhook; id != "" {
		body.Webhook = &bodyWebhook{ID: id}
	}
	switch {
	case !b.Ended.IsZero() && !b.Cancelled.IsZero():
		body.State = "cancelled"
	case !b.Ended.IsZero():
		body.State = "completed"
	}
	return body
}

// shown returns a batch as its caller sees it, with what its rows wait for: a queue that an
// operator has paused, TRA's calculator while it cannot be asked, or the pages of a site that
// decides when the batch ends.
func (s *Resource) shown(ctx context.Context, b *batch.Batch) body {
	body := newBody(b)
	if !body.Ended.IsZero() {
		return body
	}
	what, said := "", message.Notice{}
	if site := s.Work.SlowestSite(ctx, b.OpenAt); site.Seconds > body.SecondsLeft/2 {
		what, said = await.WaitingForSite, site.Said
		body.SecondsLeft = max(body.SecondsLeft, site.Seconds)
	}
	if outage := s.Outages.Now(ctx); outage.Reason != "" {
		what, said = await.WaitingForAuthority, outage.Notice().And("outage/rows", nil)
	}
	if queue := s.Work.PausedForRows(ctx); queue != nil {
		what, said = await.WaitingForQueue, *queue
	}
	if what != "" {
		body.WaitingFor, body.Message, body.Text = what, said.Message, said.Text
	}
	return body
}

// Post answers POST /v1/batches: it submits many listings.
func (s *Resource) Post(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	// Decode the rows and the options, and check every row.
	req, err := batchrequest.Read(w, r)
	if err := cmp.Or(r.SetBodyLanguage(req.Language), err, r.Ignore(req.Options.Ignored...)); err != nil {
		return err
	}
	if err := r.Place.Turn.Begin(r.Context()); err != nil {
		return err
	}
	defer r.Place.Turn.Give()
	if req.DryRun {
		return s.answerDryRun(w, r, req)
	}
	rows, err := req.Check(s.listingURL)
	if options := &req.Options; err == nil && strings.Contains(options.Webhook, ":") { // else it is the id of one
		options.Webhook, err = webhooks.CheckURL(options.Webhook, s.AllowLoopback)
	}
	if err != nil {
		return err
	}
	r.Place.Turn.Give()

	// The id is stored before the batch is: the same request under one
	// Idempotency-Key finds the batch, or creates it if that was not done.
	same, err := s.Work.Begin(w, r, req.Identity())
	if err != nil {
		return err
	}
	id, err := same.SetOutcome(r.Context(), "batch", batch.NewID())
	if err != nil {
		return err
	}
	b, hook, err := s.replay(w, r, same, id, req.Options.Webhook)
	if err != nil {
		return err
	}

	// Create the batch within the limits of the key.
	if b == nil {
		if b, hook, err = s.createWithin(w, r, id, rows, req); err != nil {
			return err
		}
	}
	room, err := s.Limits.Room(r, batch.Room(id, rows)...)
	if err != nil {
		return err
	}
	room.Fits = true

	// Let the workers start rows, and respond.
	if err := s.Tasks.EnqueueDispatch(r.Context()); err != nil { // the workers also check by themselves
		s.Log.WarnContext(r.Context(), "batch dispatch not enqueued", "error", err)
	}
	if err := s.Work.Confirm(r.Context()); err != nil {
		return err
	}
	return write(w, b, hook, r.Warnings(), req, room)
}

// createWithin creates a batch within the limits of the key.
func (s *Resource) createWithin(
	w http.ResponseWriter, r *request.Request, id string, rows []batch.Row, req *batchrequest.Request,
) (b *batch.Batch, hook bodyWebhook, err error) {
	needed := batch.Room(id, rows)
	leave, err := s.Limits.TakeRows(w, r, len(rows), needed...)
	if err != nil {
		return nil, hook, err
	}
	defer leave()
	if b, hook, err = s.create(r, id, rows, req); err != nil {
		// When Redis does not tell, the batch may be there although the answer was lost.
		_, readErr := s.Batches.Get(context.WithoutCancel(r.Context()), id)
		if errors.Is(readErr, batch.ErrNotFound) {
			err = errors.Join(err, s.Limits.GiveBack(r, needed...))
		}
	}
	return b, hook, err
}

// listingURL returns the canonical form of a listing's URL.
func (s *Resource) listingURL(raw string) (string, error) {
	return request.ListingURL(raw, s.AllowLoopback)
}

// replay returns the batch that the same request created before, with its
// webhook; nil when there is none.
func (s *Resource) replay(
	w http.ResponseWriter, r *request.Request, same *await.Idempotent, id, webhookURL string,
) (b *batch.Batch, hook bodyWebhook, err error) {
	if same == nil {
		return nil, hook, nil
	}
	b, err = s.Batches.Get(r.Context(), id)
	switch {
	case errors.Is(err, batch.ErrNotFound):
		same.SetReplayed(w, false)
		return nil, hook, nil
	case err != nil:
		return nil, hook, err
	}
	hook.ID = b.Options.Webhook
	if hook.ID == webhookID(id) {
		hook, err = s.createWebhook(r, id, webhookURL)
	}
	return b, hook, err
}

// create creates a batch, and the webhook that it names unless the caller
// has it already.
func (s *Resource) create(
	r *request.Request, id string, rows []batch.Row, from *batchrequest.Request,
) (b *batch.Batch, hook bodyWebhook, err error) {
	options := from.Options
	if hook, err = s.findOrCreateWebhook(r, id, options.Webhook); err != nil {
		return nil, hook, err
	}
	req := batch.New{ID: id, Owner: r.Key.ID, Rows: rows, Origin: r.Origin()}
	req.Options = batch.Options{
		Terms: options.Terms, Webhook: hook.ID, Columns: from.Columns, Lang: r.Asked(), Metadata: options.Metadata,
		Sheets: rows[0].Sheet != "",
	}
	ctx := redisx.Bound(r.Context(), 10*request.RedisTimeout) // ten thousand rows
	b, err = s.Batches.Create(ctx, req)
	return b, hook, err
}

// write answers 201 with a batch.
func write(
	w http.ResponseWriter, b *batch.Batch, hook bodyWebhook, warnings []vehicle.Warning, req *batchrequest.Request,
	room await.Room,
) error {
	w.Header().Set("Location", "/v1/batches/"+b.ID)
	body := newBody(b)
	if body.Webhook != nil {
		body.Webhook = &hook
	}
	body.Storage = &room
	body.Table, body.Warnings = req.Table, slices.Concat(warnings, req.Warnings())
	return request.WriteJSON(w, http.StatusCreated, body)
}

// bodyWebhook is the webhook that a batch names. Only the response that
// creates the webhook has its secret.
type bodyWebhook struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
}

// webhookID returns the id of the webhook that is created for a batch.
func webhookID(batchID string) string { return "wh" + strings.ToLower(batchID) }

// findOrCreateWebhook returns the caller's webhook with an id or a URL, or creates one
// for a batch. An empty URL is no webhook.
func (s *Resource) findOrCreateWebhook(r *request.Request, batchID, url string) (hook bodyWebhook, err error) {
	if url == "" {
		return hook, nil
	}
	all, err := s.Webhooks.List(r.Context(), r.Key.ID)
	if err != nil {
		return hook, err
	}
	own := webhookID(batchID)
	found := slices.IndexFunc(all, func(e webhook.Endpoint) bool {
		return e.ID == url || e.URL == url && e.Disabled == "" && e.ID != own
	})
	switch {
	case found >= 0:
		return bodyWebhook{ID: all[found].ID}, nil
	case !strings.Contains(url, ":"):
		return hook, problem.Field("webhook", "webhook")
	}
	return s.createWebhook(r, batchID, url)
}

// createWebhook creates a webhook that gets only the events that name it.
// The second call for a batch returns the same webhook and secret.
func (s *Resource) createWebhook(r *request.Request, batchID, url string) (hook bodyWebhook, err error) {
	created, secret, err := s.Webhooks.Add(r.Context(), r.Key.ID, webhookID(batchID), url, []string{})
	return bodyWebhook{created.ID, secret}, err
}

// Get answers GET /v1/batches/{id}.
func (s *Resource) Get(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusOK, s.shown(r.Context(), b))
}

// find returns the batch of a request's path. A batch of another key is not
// found.
func (s *Resource) find(ctx context.Context, r *request.Request) (*batch.Batch, error) {
	b, err := s.Batches.Get(ctx, r.Var("id"))
	switch {
	case err != nil:
		return nil, err
	case b.Owner != r.Key.ID:
		return nil, batch.ErrNotFound
	}
	if r.URL.Query().Get("lang") == "" {
		r.View = message.ViewIn(b.Options.Lang)
	}
	return b, nil
}

// Cancel answers DELETE /v1/batches/{id}: rows that wait or run are cancelled, and their pages
// are fetched no more.
func (s *Resource) Cancel(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	if err := s.Batches.Cancel(ctx, b.ID); err != nil {
		return err
	}
	if err := s.Batches.Release(ctx, b.ID, s.Tasks.LeaveRow(b.ID)); err != nil {
		s.Log.WarnContext(ctx, "jobs of a cancelled batch are left to the workers", "batch", b.ID, "error", err)
	}
	return s.Get(w, plain)
}

// List answers GET /v1/batches: the caller's batches, newest first.
func (s *Resource) List(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	limit, err := request.PageSize(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := s.Batches.List(r.Context(), r.Key.ID, r.URL.Query().Get("cursor"), limit+1)
	if err != nil {
		return err
	}
	more := len(found) > limit
	found = found[:min(len(found), limit)]
	body := struct {
		Batches []body `json:"batches"`
		Next    string `json:"next,omitempty"`
	}{Batches: make([]body, 0, len(found))}
	for _, b := range found {
		body.Batches = append(body.Batches, newBody(b))
	}
	if more {
		body.Next = request.SetNext(w, r.URL, found[limit-1].ID)
	}
	return request.WriteJSON(w, http.StatusOK, body)
}

// Events answers GET /v1/batches/{id}/events: an event whenever a row
// changes state, and a last one when the batch ends.
func (s *Resource) Events(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	changed, unsubscribe := s.Batches.Watch(s.Hub, r.Var("id"))
	defer unsubscribe()
	load := func(ctx context.Context) (await.Event, error) {
		b, err := s.find(ctx, r)
		if err != nil {
			return await.Event{}, err
		}
		body := s.shown(ctx, b)
		fingerprint := body // the throughput changes with every event
		fingerprint.PerSecond, fingerprint.SecondsLeft, fingerprint.Message, fingerprint.Text = 0, 0, "", nil
		return await.NewEvent(r.View, body, fingerprint, !b.Ended.IsZero())
	}
	blockers := func(ctx context.Context) string { return s.Work.Blockers(ctx, nil) }
	return s.Streams.Send(w, r, await.Source{Changed: changed, Load: load, Blockers: blockers})
}
