package operate

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"ushuru/pkg/webhook"
)

// Webhook is an endpoint of an API key.
type Webhook struct {
	webhook.Endpoint

	Key string `json:"key"` // id of the API key
}

// Webhooks returns the endpoints of an API key, or with "" of all, those of one key
// together.
func (o *Operator) Webhooks(ctx context.Context, key string) (found []Webhook, err error) {
	owners, err := o.owners(ctx, key)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		endpoints, err := o.webhooks.List(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			found = append(found, Webhook{e, owner})
		}
	}
	return found, nil
}

// Webhook returns an endpoint of any API key.
func (o *Operator) Webhook(ctx context.Context, id string) (found Webhook, err error) {
	owners, err := o.owners(ctx, "")
	if err != nil {
		return found, err
	}
	for _, owner := range owners {
		e, err := o.webhooks.Get(ctx, owner, id)
		if err == nil {
			return Webhook{e, owner}, nil
		}
		if !errors.Is(err, webhook.ErrNotFound) {
			return found, err
		}
	}
	return found, ErrNotFound
}

// maxDeliveries is how many deliveries of an endpoint are listed, all that it keeps.
const maxDeliveries = 500

// Deliveries returns the deliveries of an endpoint, newest first.
func (o *Operator) Deliveries(ctx context.Context, id string) ([]webhook.Delivery, error) {
	w, err := o.Webhook(ctx, id)
	if err != nil {
		return nil, err
	}
	return o.webhooks.Deliveries(ctx, w.Key, id, maxDeliveries)
}

// onWebhook does something about an endpoint of any API key, and records it.
func onWebhook[T any](ctx context.Context, o *Operator, action, id, more string, do func(w Webhook) (T, error)) (T, error) {
	return act(ctx, o, action, strings.TrimSpace(id+" "+more), func() (result T, err error) {
		w, err := o.Webhook(ctx, id)
		if err != nil {
			return result, err
		}
		return do(w)
	})
}

// DeleteWebhook deletes an endpoint: nothing more is sent to it.
func (o *Operator) DeleteWebhook(ctx context.Context, id string) error {
	_, err := onWebhook(ctx, o, "webhooks cancel", id, "", func(w Webhook) (any, error) {
		return nil, o.webhooks.Remove(ctx, w.Key, id)
	})
	return err
}

// VerifyWebhook asks an endpoint again whether it wants events, and returns the delivery of the question.
func (o *Operator) VerifyWebhook(ctx context.Context, id string) (webhook.Delivery, error) {
	return onWebhook(ctx, o, "webhooks verify", id, "", func(w Webhook) (webhook.Delivery, error) {
		return o.webhooks.Verify(ctx, w.Key, id, rand.Text(), time.Now())
	})
}

// EnableWebhook enables an endpoint that was disabled, as for many failures.
func (o *Operator) EnableWebhook(ctx context.Context, id string) error {
	_, err := onWebhook(ctx, o, "webhooks enable", id, "", func(w Webhook) (any, error) {
		return nil, o.webhooks.Enable(ctx, w.Key, id)
	})
	return err
}

// ErrDisabled means that nothing is sent to an endpoint until it is enabled.
var ErrDisabled = errors.New("operate: the webhook is disabled")

// RetryDeliveries sends a delivery of an endpoint again, or with "" all that have failed,
// and returns how many.
func (o *Operator) RetryDeliveries(ctx context.Context, id, delivery string) (int, error) {
	return onWebhook(ctx, o, "webhooks retry", id, delivery, func(w Webhook) (retried int, err error) {
		if w.Disabled != "" {
			return 0, ErrDisabled
		}
		ids, one := []string{delivery}, delivery != ""
		if !one {
			all, err := o.webhooks.Deliveries(ctx, w.Key, id, maxDeliveries)
			if err != nil {
				return 0, err
			}
			ids = nil
			for _, d := range all {
				if d.State == webhook.Failed {
					ids = append(ids, d.ID)
				}
			}
		}
		for _, again := range ids {
			switch err := notFound(o.webhooks.Redeliver(ctx, w.Key, id, again)); {
			case err == nil:
				retried++
			case one || !errors.Is(err, ErrNotFound): // else its time is over
				return retried, err
			}
		}
		return retried, nil
	})
}
