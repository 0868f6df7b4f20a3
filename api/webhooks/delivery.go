package webhooks

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/localtime"
	"ushuru/pkg/webhook"
)

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
	return s.sendOnce(ctx, w, r, "test", s.options.Webhooks.Test)
}

// Verify answers POST /v1/webhooks/{id}/verify: it asks a webhook again whether
// it wants events.
func (s *Resource) Verify(ctx context.Context, w http.ResponseWriter, r *request.Request) (int, any, error) {
	return s.sendOnce(ctx, w, r, "verify", s.options.Webhooks.Verify)
}

// sendOnce sends an event to a webhook, once under an Idempotency-Key.
func (s *Resource) sendOnce(
	ctx context.Context, w http.ResponseWriter, r *request.Request, what string,
	send func(ctx context.Context, owner, endpoint, subject string, at time.Time) (webhook.Delivery, error),
) (int, any, error) {
	same, err := s.options.Work.Begin(w, r, nil) //nolint:contextcheck // the request has a context
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
	log, next, err := s.options.Webhooks.DeliveriesAfter(ctx, r.Key.ID, r.Var("id"), query.Get("cursor"), limit)
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
		return s.options.Webhooks.Redeliver(ctx, r.Key.ID, r.Var("id"), delivery)
	}); err != nil {
		return 0, nil, err
	}
	d, err := s.options.Webhooks.Delivery(ctx, r.Key.ID, r.Var("id"), delivery)
	return http.StatusAccepted, newDeliveryBody(d), err
}
