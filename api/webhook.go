package api

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/fetch"
	"ushuru/pkg/webhook"
)

// maxDeliveries is how many deliveries the log of a webhook shows.
const maxDeliveries = 100

// webhookRequest is the body of POST /v1/webhooks.
type webhookRequest struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

func (*webhookRequest) typeProblem(field string) *problem {
	if strings.HasPrefix(field, "events") {
		return errEventsInvalid
	}
	return errWebhookURLMissing
}

// webhookBody is a webhook with its secret, which is shown this once.
type webhookBody struct {
	webhook.Endpoint

	Secret string `json:"secret"`
}

// deliveryBody is a delivery as its receiver sees it.
type deliveryBody struct {
	webhook.Delivery

	Endpoint string `json:"webhook,omitempty"` // the address says it
	Owner    string `json:"owner,omitempty"`   // and the key
	Run      int    `json:"run,omitempty"`     // the caller sees its tries
}

func newDeliveryBody(d webhook.Delivery) deliveryBody { return deliveryBody{Delivery: d} }

// postWebhook answers POST /v1/webhooks.
func (s *Server) postWebhook(w http.ResponseWriter, r *http.Request) error {
	var asked webhookRequest
	if err := readJSON(w, r, maxBody, &asked); err != nil {
		return err
	}
	address, err := s.receiver(asked.URL)
	if err != nil {
		return err
	}
	slices.Sort(asked.Events)
	asked.URL, asked.Events = address, slices.Compact(asked.Events)
	unknown := func(event string) bool { return !slices.Contains(webhook.Events(), event) }
	if len(asked.Events) == 0 || slices.ContainsFunc(asked.Events, unknown) {
		return errEventsInvalid
	}
	same, err := s.beginIdempotent(r, asked)
	if err != nil {
		return err
	}
	// The id comes first: whoever sends the request again gets the same.
	id, err := same.setOutcome(r.Context(), "webhook", webhook.NewID())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	made, secret, err := s.options.Webhooks.Add(ctx, recorderOf(r).key.ID, id, asked.URL, asked.Events)
	switch {
	case errors.Is(err, webhook.ErrTooMany):
		return errTooManyWebhooks
	case err != nil:
		return errUnavailable.withCause(err)
	}
	w.Header().Set("Location", "/v1/webhooks/"+made.ID)
	return writeJSON(w, http.StatusCreated, webhookBody{made, secret})
}

// receiver checks the address of a receiver. That what it resolves to is
// public is checked whenever something is sent there.
func (s *Server) receiver(raw string) (string, error) {
	if raw == "" {
		return "", errWebhookURLMissing
	}
	u, err := fetch.CheckURL(raw, s.options.AllowLoopback)
	if public, ok := errors.AsType[*fetch.Error](err); ok {
		return "", &problem{status: http.StatusBadRequest, code: public.Code, message: public.Message, cause: err}
	}
	if err != nil {
		return "", err
	}
	if u.Scheme != "https" && (!s.options.AllowLoopback || !loopback(u)) {
		return "", errURLInsecure
	}
	return u.String(), nil
}

func loopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// listWebhooks answers GET /v1/webhooks.
func (s *Server) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	all, err := s.options.Webhooks.List(ctx, recorderOf(r).key.ID)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"webhooks": all})
}

// ofWebhook is a handler of one webhook of the caller's own; another's is none.
func (s *Server) ofWebhook(do func(ctx context.Context, r *http.Request, owner, id string) (int, any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
		defer cancel()
		status, body, err := do(ctx, r, recorderOf(r).key.ID, mux.Vars(r)["id"])
		var told *problem
		switch {
		case errors.Is(err, webhook.ErrNotFound):
			return errWebhookNotFound
		case errors.As(err, &told):
			return told
		case err != nil:
			return errUnavailable.withCause(err)
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		}
		return writeJSON(w, status, body)
	}
}

func (s *Server) getWebhook(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	found, err := s.options.Webhooks.Get(ctx, owner, id)
	return http.StatusOK, found, err
}

func (s *Server) deleteWebhook(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	return http.StatusNoContent, nil, s.options.Webhooks.Remove(ctx, owner, id)
}

// rotateWebhook gives a webhook a new secret. Done twice by a caller who got
// no answer it would drop the one that his receiver still uses; with an
// Idempotency-Key it is done once.
func (s *Server) rotateWebhook(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.beginIdempotent(r, nil)
	if err != nil {
		return 0, nil, err
	}
	secret, err := same.setOutcome(ctx, "secret", webhook.NewSecret())
	if err != nil {
		return 0, nil, err
	}
	changed, err := s.options.Webhooks.Rotate(ctx, owner, id, secret)
	return http.StatusOK, webhookBody{changed, secret}, err
}

// enableWebhook enables a disabled webhook, once under an Idempotency-Key.
func (s *Server) enableWebhook(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.beginIdempotent(r, nil)
	if err != nil {
		return 0, nil, err
	}
	if !same.isDone() {
		if err := s.options.Webhooks.Enable(ctx, owner, id); err != nil {
			return 0, nil, err
		}
	}
	if err := same.setDone(ctx); err != nil {
		return 0, nil, err
	}
	return s.getWebhook(ctx, r, owner, id)
}

// testWebhook sends a test event to a webhook, whatever it asked for.
func (s *Server) testWebhook(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.beginIdempotent(r, nil)
	if err != nil {
		return 0, nil, err
	}
	subject, err := same.setOutcome(ctx, "test", rand.Text())
	if err != nil {
		return 0, nil, err
	}
	d, err := s.options.Webhooks.Test(ctx, owner, id, subject, time.Now())
	return http.StatusAccepted, newDeliveryBody(d), err
}

func (s *Server) listDeliveries(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	log, err := s.options.Webhooks.Deliveries(ctx, owner, id, maxDeliveries)
	bodies := make([]deliveryBody, 0, len(log))
	for _, d := range log {
		bodies = append(bodies, newDeliveryBody(d))
	}
	return http.StatusOK, map[string]any{"deliveries": bodies}, err
}

// redeliver sends a delivery again, once under an Idempotency-Key. When two
// requests send it at once, its id tells the receiver.
func (s *Server) redeliver(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.beginIdempotent(r, nil)
	if err != nil {
		return 0, nil, err
	}
	delivery := mux.Vars(r)["delivery"]
	if !same.isDone() {
		if err := s.options.Webhooks.Redeliver(ctx, owner, id, delivery); err != nil {
			return 0, nil, err
		}
	}
	if err := same.setDone(ctx); err != nil {
		return 0, nil, err
	}
	d, err := s.options.Webhooks.Delivery(ctx, owner, id, delivery)
	return http.StatusAccepted, newDeliveryBody(d), err
}

// routeWebhooks adds the addresses of webhooks.
func (s *Server) routeWebhooks(v1 *mux.Router) {
	v1.Handle("/v1/webhooks", methods{http.MethodGet: s.listWebhooks, http.MethodPost: s.rateLimited(idempotent(s.postWebhook))})
	const one = "/v1/webhooks/{id:[0-9a-z]{1,64}}"
	v1.Handle(one, methods{http.MethodGet: s.ofWebhook(s.getWebhook), http.MethodDelete: s.ofWebhook(s.deleteWebhook)})
	v1.Handle(one+"/rotate", methods{http.MethodPost: idempotent(s.ofWebhook(s.rotateWebhook))})
	v1.Handle(one+"/enable", methods{http.MethodPost: idempotent(s.ofWebhook(s.enableWebhook))})
	v1.Handle(one+"/test", methods{http.MethodPost: s.rateLimited(idempotent(s.ofWebhook(s.testWebhook)))})
	v1.Handle(one+"/deliveries", methods{http.MethodGet: s.ofWebhook(s.listDeliveries)})
	const again = one + "/deliveries/{delivery:[0-9a-z]{1,64}}/redeliver"
	v1.Handle(again, methods{http.MethodPost: s.rateLimited(idempotent(s.ofWebhook(s.redeliver)))})
}
