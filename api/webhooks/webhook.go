// Package webhooks answers the requests for webhooks: their URLs, events, secrets and
// deliveries.
package webhooks

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/pkg/fetch"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/signature"
)

// Options are the parts and settings of a Resource.
type Options struct {
	Webhooks    *webhook.Store
	Limits      *limits.Limits
	Idempotency *idempotencykey.Keys
	Work        *await.Work
	// AllowLoopback accepts webhooks on this machine.
	AllowLoopback bool
}

// Resource answers the requests for webhooks.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// Register adds the endpoints to a router.
func (s *Resource) Register(v1 *mux.Router) {
	limited := s.options.Limits.RateLimited
	v1.Handle("/v1/webhooks", respond.Methods{
		http.MethodGet: s.list, http.MethodPost: limited(idempotencykey.Accepted(s.post)),
	})
	const one = "/v1/webhooks/{id:[0-9a-z]{1,64}}"
	v1.Handle(one, respond.Methods{
		http.MethodGet: s.of(s.get), http.MethodDelete: s.of(s.remove), http.MethodPatch: limited(s.patch),
	})
	v1.Handle(one+"/rotate", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.of(s.rotate))})
	v1.Handle(one+"/enable", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.of(s.enable))})
	v1.Handle(one+"/test", respond.Methods{http.MethodPost: limited(idempotencykey.Accepted(s.of(s.test)))})
	v1.Handle(one+"/verify", respond.Methods{http.MethodPost: limited(idempotencykey.Accepted(s.of(s.verify)))})
	v1.Handle(one+"/deliveries", respond.Methods{http.MethodGet: s.of(s.listDeliveries)})
	const redeliver = one + "/deliveries/{delivery:[0-9a-z]{1,64}}/redeliver"
	v1.Handle(redeliver, respond.Methods{http.MethodPost: limited(idempotencykey.Accepted(s.of(s.redeliver)))})
}

// request is the body of POST /v1/webhooks.
type request struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*request) TypeProblem(field string) *problem.Problem {
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

// post answers POST /v1/webhooks.
func (s *Resource) post(w http.ResponseWriter, r *http.Request) error {
	var req request
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return err
	}
	if err := s.check(&req); err != nil {
		return err
	}
	same, err := s.options.Idempotency.Begin(r, req)
	if err != nil {
		return err
	}
	// The id is stored before the webhook is: the same request under one
	// Idempotency-Key creates it once.
	id, err := same.SetOutcome(r.Context(), "webhook", webhook.NewID())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	created, secret, err := s.options.Webhooks.Add(ctx, respond.RecorderOf(r).Key.ID, id, req.URL, req.Events)
	switch {
	case errors.Is(err, webhook.ErrTooMany):
		return ErrTooMany
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	}
	if err := s.options.Work.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/webhooks/"+created.ID)
	return respond.JSON(w, http.StatusCreated, body{
		Endpoint: shown(created), Secret: secret, Warnings: respond.IgnoredWarning(respond.RecorderOf(r).Ignored),
	})
}

// check checks a request and makes it canonical.
func (s *Resource) check(req *request) (err error) {
	if req.URL, err = CheckURL(req.URL, s.options.AllowLoopback); err != nil {
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
		return "", receive.URLProblem(err)
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

// list answers GET /v1/webhooks.
func (s *Resource) list(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	all, err := s.options.Webhooks.List(ctx, respond.RecorderOf(r).Key.ID)
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	for i, e := range all {
		all[i] = shown(e)
	}
	return respond.JSON(w, http.StatusOK, map[string]any{"webhooks": all})
}

// of is the handler of one webhook of the caller's key. A webhook of
// another key is not found.
func (s *Resource) of(do func(ctx context.Context, r *http.Request, owner, id string) (int, any, error)) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
		defer cancel()
		status, body, err := do(ctx, r, respond.RecorderOf(r).Key.ID, mux.Vars(r)["id"])
		var p *problem.Problem
		switch {
		case errors.Is(err, webhook.ErrNotFound):
			return errNotFound
		case errors.As(err, &p):
			return p
		case err != nil:
			return respond.ErrUnavailable.WithCause(err)
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		case status == http.StatusAccepted:
			if err := s.options.Work.Confirm(ctx); err != nil {
				return err
			}
		}
		return respond.JSON(w, status, body)
	}
}

// get answers GET /v1/webhooks/{id}.
func (s *Resource) get(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	found, err := s.options.Webhooks.Get(ctx, owner, id)
	return http.StatusOK, shown(found), err
}

// change is the body of PATCH /v1/webhooks/{id}.
type change struct {
	URL    *string  `json:"url"`
	Events []string `json:"events"`
}

// TypeProblem returns the problem of a field that has the wrong type.
func (*change) TypeProblem(field string) *problem.Problem {
	return (*request)(nil).TypeProblem(field)
}

// patch answers PATCH /v1/webhooks/{id}: it changes the URL, the events, or both.
func (s *Resource) patch(w http.ResponseWriter, r *http.Request) error {
	var req change
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return err
	}
	url := ""
	if req.URL != nil {
		var err error
		if url, err = CheckURL(*req.URL, s.options.AllowLoopback); err != nil {
			return err
		}
	}
	if req.Events != nil || req.URL == nil {
		var err error
		if req.Events, err = checkEvents(req.Events); err != nil {
			return err
		}
	}
	return s.of(func(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
		changed, err := s.options.Webhooks.Change(ctx, owner, id, url, req.Events)
		body := struct {
			webhook.Endpoint
			Warnings []vehicle.Warning `json:"warnings,omitempty"`
		}{shown(changed), respond.IgnoredWarning(respond.RecorderOf(r).Ignored)}
		return http.StatusOK, body, err
	})(w, r)
}

// remove answers DELETE /v1/webhooks/{id}.
func (s *Resource) remove(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	return http.StatusNoContent, nil, s.options.Webhooks.Remove(ctx, owner, id)
}

// rotate answers POST /v1/webhooks/{id}/rotate: it creates a new secret.
// A caller who got no response and sends the request again would delete the
// secret that his receiver still uses; under an Idempotency-Key the secret is
// created once.
func (s *Resource) rotate(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.options.Idempotency.Begin(r, nil)
	if err != nil {
		return 0, nil, err
	}
	sealed, err := same.SetOutcome(ctx, "secret", s.options.Webhooks.SealSecret(owner, id, signature.NewSecret()))
	if err != nil {
		return 0, nil, err
	}
	secret, err := s.options.Webhooks.OpenSecret(owner, id, sealed)
	if err != nil {
		return 0, nil, err
	}
	changed, err := s.options.Webhooks.Rotate(ctx, owner, id, secret)
	return http.StatusOK, body{Endpoint: shown(changed), Secret: secret}, err
}

// enable answers POST /v1/webhooks/{id}/enable, once under an
// Idempotency-Key.
func (s *Resource) enable(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.options.Idempotency.Begin(r, nil)
	if err != nil {
		return 0, nil, err
	}
	if !same.IsDone() {
		if err := s.options.Webhooks.Enable(ctx, owner, id); err != nil {
			return 0, nil, err
		}
	}
	if err := same.SetDone(ctx); err != nil {
		return 0, nil, err
	}
	return s.get(ctx, r, owner, id)
}
