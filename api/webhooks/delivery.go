package webhooks

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/localtime"
	"ushuru/pkg/webhook"
)

// maxDeliveries is the maximum number of deliveries in a response.
const maxDeliveries = 100

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

// test answers POST /v1/webhooks/{id}/test: it sends a test event, also
// to a webhook without events.
func (s *Resource) test(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	return s.sendOnce(ctx, r, "test", owner, id, s.options.Webhooks.Test)
}

// verify answers POST /v1/webhooks/{id}/verify: it asks a webhook again whether
// it wants events.
func (s *Resource) verify(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	return s.sendOnce(ctx, r, "verify", owner, id, s.options.Webhooks.Verify)
}

// sendOnce sends an event to a webhook, once under an Idempotency-Key.
func (s *Resource) sendOnce(
	ctx context.Context, r *http.Request, what, owner, id string,
	send func(ctx context.Context, owner, endpoint, subject string, at time.Time) (webhook.Delivery, error),
) (int, any, error) {
	same, err := s.options.Idempotency.Begin(r, nil)
	if err != nil {
		return 0, nil, err
	}
	subject, err := same.SetOutcome(ctx, what, rand.Text())
	if err != nil {
		return 0, nil, err
	}
	d, err := send(ctx, owner, id, subject, time.Now())
	return http.StatusAccepted, newDeliveryBody(d), err
}

// listDeliveries answers GET /v1/webhooks/{id}/deliveries.
func (s *Resource) listDeliveries(ctx context.Context, _ *http.Request, owner, id string) (int, any, error) {
	log, err := s.options.Webhooks.Deliveries(ctx, owner, id, maxDeliveries)
	bodies := make([]deliveryBody, 0, len(log))
	for _, d := range log {
		bodies = append(bodies, newDeliveryBody(d))
	}
	return http.StatusOK, map[string]any{"deliveries": bodies}, err
}

// redeliver answers POST …/deliveries/{delivery}/redeliver, once under an
// Idempotency-Key. A receiver identifies duplicates by the delivery's id.
func (s *Resource) redeliver(ctx context.Context, r *http.Request, owner, id string) (int, any, error) {
	same, err := s.options.Idempotency.Begin(r, nil)
	if err != nil {
		return 0, nil, err
	}
	delivery := mux.Vars(r)["delivery"]
	if !same.IsDone() {
		if err := s.options.Webhooks.Redeliver(ctx, owner, id, delivery); err != nil {
			return 0, nil, err
		}
	}
	if err := same.SetDone(ctx); err != nil {
		return 0, nil, err
	}
	d, err := s.options.Webhooks.Delivery(ctx, owner, id, delivery)
	return http.StatusAccepted, newDeliveryBody(d), err
}
