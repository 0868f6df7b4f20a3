// Package webhooks answers the requests for webhooks: their URLs, events, secrets and
// deliveries.
package webhooks

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/fetch"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
)

// Each is named by its code.
var (
	errURLMissing    = problem.BadRequest("url_missing.webhook").Of("url")
	errEventsInvalid = problem.BadRequest("events_invalid").Of("events")
	errURLInsecure   = problem.BadRequest("url_insecure").Of("url")
)

// Resource answers the requests for webhooks. All its parts are required.
type Resource struct {
	Webhooks *webhook.Store
	Work     *await.Work
	// AllowLoopback accepts webhooks on this machine.
	AllowLoopback bool
}

// webhookRequest is the body of POST /v1/webhooks.
type webhookRequest struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*webhookRequest) TypeProblem(field string) *problem.Problem {
	if strings.HasPrefix(field, "events") {
		return errEventsInvalid
	}
	return errURLMissing
}

// body is a webhook with its secret, which no other response has.
type body struct {
	webhook.Endpoint

	Secret   string            `json:"secret"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"` // about the request
}

// shown returns a webhook as its owner sees it.
func shown(e webhook.Endpoint) webhook.Endpoint {
	e.Created = localtime.Of(e.Created)
	return e
}

// Post answers POST /v1/webhooks.
func (s *Resource) Post(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	var req webhookRequest
	if err := r.JSON(w, request.MaxBody, &req); err != nil {
		return err
	}
	if err := s.check(&req); err != nil {
		return err
	}
	same, err := s.Work.Begin(w, r, req)
	if err != nil {
		return err
	}
	// The id is stored before the webhook is: the same request under one
	// Idempotency-Key creates it once.
	id, err := same.SetOutcome(r.Context(), "webhook", webhook.NewID())
	if err != nil {
		return err
	}
	created, secret, err := s.Webhooks.Add(r.Context(), r.Key.ID, id, req.URL, req.Events)
	if err != nil {
		return err
	}
	if err := s.Work.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/webhooks/"+created.ID)
	return request.WriteJSON(w, http.StatusCreated, body{
		Endpoint: shown(created), Secret: secret, Warnings: r.Warnings(),
	})
}

// check checks a request and makes it canonical.
func (s *Resource) check(req *webhookRequest) (err error) {
	if req.URL, err = CheckURL(req.URL, s.AllowLoopback); err != nil {
		return err
	}
	req.Events, err = checkEvents(req.Events)
	return err
}

// checkEvents checks the events that a webhook subscribes to, and returns each once, in
// order.
func checkEvents(events []string) ([]string, error) {
	slices.Sort(events)
	events = slices.Compact(events)
	unknown := func(event string) bool { return !slices.Contains(webhook.Events(), event) }
	if len(events) == 0 || slices.ContainsFunc(events, unknown) {
		return nil, errEventsInvalid
	}
	return events, nil
}

// CheckURL returns the canonical form of a webhook's URL. Whether it
// resolves to a public address is checked at each delivery, and whether its receiver
// wants events by a challenge.
func CheckURL(raw string, allowLoopback bool) (string, error) {
	if raw == "" {
		return "", errURLMissing
	}
	u, err := fetch.CheckURL(raw, allowLoopback)
	if err != nil {
		return "", request.URLProblem(err)
	}
	if u.Scheme != "https" && (!allowLoopback || !isLoopback(u)) {
		return "", errURLInsecure
	}
	return u.String(), nil
}

func isLoopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// List answers GET /v1/webhooks.
func (s *Resource) List(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	all, err := s.Webhooks.List(r.Context(), r.Key.ID)
	if err != nil {
		return err
	}
	page, next, err := request.Paginate(r.URL.Query(), all)
	if err != nil {
		return err
	}
	for i, e := range page {
		page[i] = shown(e)
	}
	return request.WriteJSON(w, http.StatusOK, struct {
		Webhooks []webhook.Endpoint `json:"webhooks"`
		Next     string             `json:"next,omitempty"`
	}{page, request.SetNext(w, r.URL, next)})
}

// ofOne answers a request about one webhook of the caller's key.
type ofOne func(ctx context.Context, w http.ResponseWriter, r *request.Request) (status int, body any, err error)

// Of is the handler of one webhook of the caller's key. A webhook of
// another key is not found.
func (s *Resource) Of(do ofOne) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		status, body, err := do(ctx, w, request.From(r))
		switch {
		case err != nil:
			return err
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		case status == http.StatusAccepted:
			if err := s.Work.Confirm(ctx); err != nil {
				return err
			}
		}
		return request.WriteJSON(w, status, body)
	}
}

// Get answers GET /v1/webhooks/{id}.
func (s *Resource) Get(ctx context.Context, _ http.ResponseWriter, r *request.Request) (int, any, error) {
	found, err := s.Webhooks.Get(ctx, r.Key.ID, r.Var("id"))
	return http.StatusOK, shown(found), err
}

// change is the body of PATCH /v1/webhooks/{id}.
type change struct {
	URL    *string  `json:"url"`
	Events []string `json:"events"`
}

// TypeProblem returns the problem of a field that has the wrong type.
func (*change) TypeProblem(field string) *problem.Problem {
	return (*webhookRequest)(nil).TypeProblem(field)
}

// Patch answers PATCH /v1/webhooks/{id}: it changes the URL, the events, or both.
func (s *Resource) Patch(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	var req change
	if err := r.JSON(w, request.MaxBody, &req); err != nil {
		return err
	}
	url := ""
	if req.URL != nil {
		var err error
		if url, err = CheckURL(*req.URL, s.AllowLoopback); err != nil {
			return err
		}
	}
	if req.Events != nil || req.URL == nil {
		var err error
		if req.Events, err = checkEvents(req.Events); err != nil {
			return err
		}
	}
	return s.Of(func(ctx context.Context, _ http.ResponseWriter, r *request.Request) (int, any, error) {
		changed, err := s.Webhooks.Change(ctx, r.Key.ID, r.Var("id"), url, req.Events)
		body := struct {
			webhook.Endpoint
			Warnings []vehicle.Warning `json:"warnings,omitempty"`
		}{shown(changed), r.Warnings()}
		return http.StatusOK, body, err
	})(w, plain)
}

// Remove answers DELETE /v1/webhooks/{id}.
func (s *Resource) Remove(ctx context.Context, _ http.ResponseWriter, r *request.Request) (int, any, error) {
	return http.StatusNoContent, nil, s.Webhooks.Remove(ctx, r.Key.ID, r.Var("id"))
}

// Rotate answers POST /v1/webhooks/{id}/rotate: it creates a new secret.
// A caller who got no response and sends the request again would delete the
// secret that his receiver still uses; under an Idempotency-Key the secret is
// created once.
func (s *Resource) Rotate(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	same, err := s.Work.Begin(w, r, nil) //nolint:contextcheck // the request has a context
	if err != nil {
		return 0, nil, err
	}
	sealed, err := same.SetOutcome(ctx, "secret", s.Webhooks.SealSecret(r.Key.ID, r.Var("id"), webhook.NewSecret()))
	if err != nil {
		return 0, nil, err
	}
	secret, err := s.Webhooks.OpenSecret(r.Key.ID, r.Var("id"), sealed)
	if err != nil {
		return 0, nil, err
	}
	changed, err := s.Webhooks.Rotate(ctx, r.Key.ID, r.Var("id"), secret)
	return http.StatusOK, body{Endpoint: shown(changed), Secret: secret}, err
}

// Enable answers POST /v1/webhooks/{id}/enable, once under an
// Idempotency-Key.
func (s *Resource) Enable(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	if err := s.once(ctx, w, r, func() error { return s.Webhooks.Enable(ctx, r.Key.ID, r.Var("id")) }); err != nil {
		return 0, nil, err
	}
	return s.Get(ctx, w, r)
}

// once does what a request asks for, unless the same request under its Idempotency-Key has done it.
func (s *Resource) once(ctx context.Context, w http.ResponseWriter, r *request.Request, do func() error) error {
	same, err := s.Work.Begin(w, r, nil) //nolint:contextcheck // the request has a context
	if err != nil || same.IsDone() {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return same.SetDone(ctx)
}

// deliveryBody is a delivery as the owner of its webhook sees it.
type deliveryBody struct {
	webhook.Delivery

	Endpoint string `json:"webhook,omitempty"` // omitted: it is in the path
	Owner    string `json:"owner,omitempty"`   // omitted: it is the caller
	Run      int    `json:"run,omitempty"`     // omitted: the caller sees the attempts
}

func newDeliveryBody(d webhook.Delivery) deliveryBody {
	d.Created, d.Next = localtime.Of(d.Created), localtime.NotBefore(d.Next)
	d.Attempts = slices.Clone(d.Attempts)
	for i := range d.Attempts {
		d.Attempts[i].At = localtime.Of(d.Attempts[i].At)
	}
	return deliveryBody{Delivery: d}
}

// Test answers POST /v1/webhooks/{id}/test: it sends a test event, also
// to a webhook without events.
func (s *Resource) Test(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	return s.sendOnce(ctx, w, r, "test", s.Webhooks.Test)
}

// Verify answers POST /v1/webhooks/{id}/verify: it asks a webhook again whether
// it wants events.
func (s *Resource) Verify(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	return s.sendOnce(ctx, w, r, "verify", s.Webhooks.Verify)
}

// sendOnce sends an event to a webhook, once under an Idempotency-Key.
func (s *Resource) sendOnce(
	ctx context.Context, w http.ResponseWriter, r *request.Request, what string,
	send func(ctx context.Context, owner, endpoint, subject string, at time.Time) (webhook.Delivery, error),
) (int, any, error) {
	same, err := s.Work.Begin(w, r, nil) //nolint:contextcheck // the request has a context
	if err != nil {
		return 0, nil, err
	}
	subject, err := same.SetOutcome(ctx, what, rand.Text())
	if err != nil {
		return 0, nil, err
	}
	d, err := send(ctx, r.Key.ID, r.Var("id"), subject, time.Now())
	return http.StatusAccepted, newDeliveryBody(d), err
}

// ListDeliveries answers GET /v1/webhooks/{id}/deliveries.
func (s *Resource) ListDeliveries(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	query := r.URL.Query()
	limit, err := request.PageSize(query)
	if err != nil {
		return 0, nil, err
	}
	log, next, err := s.Webhooks.DeliveriesAfter(ctx, r.Key.ID, r.Var("id"), query.Get("cursor"), limit)
	body := struct {
		Deliveries []deliveryBody `json:"deliveries"`
		Next       string         `json:"next,omitempty"`
	}{make([]deliveryBody, 0, len(log)), request.SetNext(w, r.URL, next)}
	for _, d := range log {
		body.Deliveries = append(body.Deliveries, newDeliveryBody(d))
	}
	return http.StatusOK, body, err
}

// Redeliver answers POST …/deliveries/{delivery}/redeliver, once under an
// Idempotency-Key. A receiver identifies duplicates by the delivery's id.
func (s *Resource) Redeliver(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	delivery := r.Var("delivery")
	if err := s.once(ctx, w, r, func() error {
		return s.Webhooks.Redeliver(ctx, r.Key.ID, r.Var("id"), delivery)
	}); err != nil {
		return 0, nil, err
	}
	d, err := s.Webhooks.Delivery(ctx, r.Key.ID, r.Var("id"), delivery)
	return http.StatusAccepted, newDeliveryBody(d), err
}
