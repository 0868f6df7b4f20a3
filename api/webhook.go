package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/api/idempotencykey"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/pkg/fetch"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/signature"
)

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
	return errWebhookURLMissing
}

// webhookBody is a webhook with its secret, which no other response has.
type webhookBody struct {
	webhook.Endpoint

	Secret   string            `json:"secret"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"` // about the request
}

// webhookShown returns a webhook as its owner sees it.
func webhookShown(e webhook.Endpoint) webhook.Endpoint {
	e.Created = localtime.Of(e.Created)
	return e
}

// postWebhook answers POST /v1/webhooks.
func (s *Server) postWebhook(w http.ResponseWriter, r *http.Request) error {
	var req webhookRequest
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return err
	}
	if err := s.checkWebhook(&req); err != nil {
		return err
	}
	same, err := s.idempotency.Begin(r, req)
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
		return errTooManyWebhooks
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	}
	if err := s.work.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/webhooks/"+created.ID)
	return respond.JSON(w, http.StatusCreated, webhookBody{
		Endpoint: webhookShown(created), Secret: secret, Warnings: respond.IgnoredWarning(respond.RecorderOf(r).Ignored),
	})
}

// checkWebhook checks a request and makes it canonical.
func (s *Server) checkWebhook(req *webhookRequest) (err error) {
	if req.URL, err = s.webhookURL(req.URL); err != nil {
		return err
	}
	req.Events, err = webhookEvents(req.Events)
	return err
}

// webhookEvents checks the events that a webhook subscribes to, and returns each once, in
// order.
func webhookEvents(events []string) ([]string, error) {
	slices.Sort(events)
	events = slices.Compact(events)
	unknown := func(event string) bool { return !slices.Contains(webhook.Events(), event) }
	if len(events) == 0 || slices.ContainsFunc(events, unknown) {
		return nil, errEventsInvalid
	}
	return events, nil
}

// webhookURL returns the canonical form of a webhook's URL. Whether it
// resolves to a public address is checked at each delivery, and whether its receiver
// wants events by a challenge.
func (s *Server) webhookURL(raw string) (string, error) {
	if raw == "" {
		return "", errWebhookURLMissing
	}
	u, err := fetch.CheckURL(raw, s.options.AllowLoopback)
	if err != nil {
		return "", receive.URLProblem(err)
	}
	if u.Scheme != "https" && (!s.options.AllowLoopback || !isLoopback(u)) {
		return "", errURLInsecure
	}
	return u.String(), nil
}

func isLoopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// listWebhooks answers GET /v1/webhooks.
func (s *Server) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	all, err := s.options.Webhooks.List(ctx, respond.RecorderOf(r).Key.ID)
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	for i, e := range all {
		all[i] = webhookShown(e)
	}
	return respond.JSON(w, http.StatusOK, map[string]any{"webhooks": all})
}

// ofWebhook is the handler of one webhook of the caller's key. A webhook of
// another key is not found.
func (s *Server) ofWebhook(do func(ctx context.Context, r *http.Request, owner, id string) (int, any, error)) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
		defer cancel()
		status, body, err := do(ctx, r, respond.RecorderOf(r).Key.ID, mux.Vars(r)["id"])
		var p *problem.Problem
		switch {
		case errors.Is(err, webhook.ErrNotFound):
			return errWebhookNotFound
		case errors.As(err, &p):
			return p
		case err != nil:
			return respond.ErrUnavailable.WithCause(err)
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		case status == http.StatusAccepted:
			if err := s.work.Confirm(ctx); err != nil {
				return err
			}
		}
		return respond.JSON(w, status, body)
	}
}

// getWebhook answers GET /v1/webhooks/{id}.
func (s *Server) getWebhook(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	found, err := s.options.Webhooks.Get(ctx, owner, id)
	return http.StatusOK, webhookShown(found), err
}

// webhookChange is the body of PATCH /v1/webhooks/{id}.
type webhookChange struct {
	URL    *string  `json:"url"`
	Events []string `json:"events"`
}

// TypeProblem returns the problem of a field that has the wrong type.
func (*webhookChange) TypeProblem(field string) *problem.Problem {
	return (*webhookRequest)(nil).TypeProblem(field)
}

// patchWebhook answers PATCH /v1/webhooks/{id}: it changes the URL, the events, or both.
func (s *Server) patchWebhook(w http.ResponseWriter, r *http.Request) error {
	var req webhookChange
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return err
	}
	url := ""
	if req.URL != nil {
		var err error
		if url, err = s.webhookURL(*req.URL); err != nil {
			return err
		}
	}
	if req.Events != nil || req.URL == nil {
		var err error
		if req.Events, err = webhookEvents(req.Events); err != nil {
			return err
		}
	}
	return s.ofWebhook(func(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
		changed, err := s.options.Webhooks.Change(ctx, owner, id, url, req.Events)
		body := struct {
			webhook.Endpoint
			Warnings []vehicle.Warning `json:"warnings,omitempty"`
		}{webhookShown(changed), respond.IgnoredWarning(respond.RecorderOf(r).Ignored)}
		return http.StatusOK, body, err
	})(w, r)
}

// deleteWebhook answers DELETE /v1/webhooks/{id}.
func (s *Server) deleteWebhook(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	return http.StatusNoContent, nil, s.options.Webhooks.Remove(ctx, owner, id)
}

// rotateWebhook answers POST /v1/webhooks/{id}/rotate: it creates a new secret.
// A caller who got no response and sends the request again would delete the
// secret that his receiver still uses; under an Idempotency-Key the secret is
// created once.
func (s *Server) rotateWebhook(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.idempotency.Begin(r, nil)
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
	return http.StatusOK, webhookBody{Endpoint: webhookShown(changed), Secret: secret}, err
}

// enableWebhook answers POST /v1/webhooks/{id}/enable, once under an
// Idempotency-Key.
func (s *Server) enableWebhook(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.idempotency.Begin(r, nil)
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
	return s.getWebhook(ctx, r, owner, id)
}

// routeWebhooks adds the endpoints of webhooks.
func (s *Server) routeWebhooks(v1 *mux.Router) {
	v1.Handle("/v1/webhooks", respond.Methods{http.MethodGet: s.listWebhooks, http.MethodPost: s.limits.RateLimited(idempotencykey.Accepted(s.postWebhook))})
	const one = "/v1/webhooks/{id:[0-9a-z]{1,64}}"
	v1.Handle(one, respond.Methods{
		http.MethodGet: s.ofWebhook(s.getWebhook), http.MethodDelete: s.ofWebhook(s.deleteWebhook),
		http.MethodPatch: s.limits.RateLimited(s.patchWebhook),
	})
	v1.Handle(one+"/rotate", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.ofWebhook(s.rotateWebhook))})
	v1.Handle(one+"/enable", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.ofWebhook(s.enableWebhook))})
	v1.Handle(one+"/test", respond.Methods{http.MethodPost: s.limits.RateLimited(idempotencykey.Accepted(s.ofWebhook(s.testWebhook)))})
	v1.Handle(one+"/verify", respond.Methods{http.MethodPost: s.limits.RateLimited(idempotencykey.Accepted(s.ofWebhook(s.verifyWebhook)))})
	v1.Handle(one+"/deliveries", respond.Methods{http.MethodGet: s.ofWebhook(s.listDeliveries)})
	const redeliver = one + "/deliveries/{delivery:[0-9a-z]{1,64}}/redeliver"
	v1.Handle(redeliver, respond.Methods{http.MethodPost: s.limits.RateLimited(idempotencykey.Accepted(s.ofWebhook(s.redeliver)))})
}
