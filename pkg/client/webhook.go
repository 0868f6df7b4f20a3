package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ushuru/pkg/vehicle"
)

// Webhook is a URL that the API notifies of events.
type Webhook struct {
	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Events   []string  `json:"events"` // empty: only of the batches that name it
	Created  time.Time `json:"created"`
	Disabled string    `json:"disabled,omitzero"` // why nothing is sent; empty while it is enabled
	State    string    `json:"state"`             // pending until the receiver has proved that it wants events, then verified
	Secret   string    `json:"secret,omitzero"`   // only once, when it is created

	Warnings []vehicle.Warning `json:"warnings,omitzero"` // about the request
}

// WebhookRequest creates or changes a webhook.
type WebhookRequest struct {
	URL    string   `json:"url,omitempty"`
	Events []string `json:"events,omitempty"`
}

// Delivery is one event for one webhook.
type Delivery struct {
	ID       string            `json:"id"` // the header webhook-id, the same in every attempt
	Event    string            `json:"event"`
	Payload  json.RawMessage   `json:"payload"`
	Created  time.Time         `json:"created"`
	State    string            `json:"state"` // pending, delivered or failed
	Tries    int               `json:"tries"`
	Next     time.Time         `json:"next,omitzero"` // of the next attempt
	Attempts []DeliveryAttempt `json:"attempts"`      // the last ones, oldest first
}

// DeliveryAttempt is one request to a webhook.
type DeliveryAttempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitzero"` // of HTTP; 0 without a response
	Error  string    `json:"error,omitzero"`
	Millis int64     `json:"ms"`
}

func webhookPath(id string) string { return "/v1/webhooks/" + url.PathEscape(id) }

// CreateWebhook creates a webhook. Only this answer has its secret.
func (c *Client) CreateWebhook(ctx context.Context, r WebhookRequest, options ...Option) (*Webhook, error) {
	return create[Webhook](ctx, c, "/v1/webhooks", r, options)
}

// Webhooks returns the caller's webhooks, oldest first.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	found, err := get[struct {
		Webhooks []Webhook `json:"webhooks"`
	}](ctx, c, "/v1/webhooks", nil)
	if err != nil {
		return nil, err
	}
	return found.Webhooks, nil
}

// Webhook returns one webhook.
func (c *Client) Webhook(ctx context.Context, id string) (*Webhook, error) {
	return get[Webhook](ctx, c, webhookPath(id), nil)
}

// UpdateWebhook changes the URL or the events of a webhook; what the request leaves
// empty stays. With another URL it is pending again.
func (c *Client) UpdateWebhook(ctx context.Context, id string, r WebhookRequest) (*Webhook, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("client: request: %w", err)
	}
	return call[Webhook](ctx, c, Request{Method: http.MethodPatch, Path: webhookPath(id), Body: body})
}

// DeleteWebhook deletes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: webhookPath(id)})
	return err
}

// RotateWebhook creates a new secret, which only this answer has. The old one stays
// valid for 24 hours.
func (c *Client) RotateWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return create[Webhook](ctx, c, webhookPath(id)+"/rotate", nil, options)
}

// EnableWebhook enables a disabled webhook.
func (c *Client) EnableWebhook(ctx context.Context, id string, options ...Option) (*Webhook, error) {
	return create[Webhook](ctx, c, webhookPath(id)+"/enable", nil, options)
}

// TestWebhook sends the event webhook.test.
func (c *Client) TestWebhook(ctx context.Context, id string, options ...Option) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(id)+"/test", nil, options)
}

// VerifyWebhook asks a webhook that is pending again whether it wants events.
func (c *Client) VerifyWebhook(ctx context.Context, id string, options ...Option) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(id)+"/verify", nil, options)
}

// Deliveries returns the deliveries of a webhook of the last 30 days, newest first, at
// most 100.
func (c *Client) Deliveries(ctx context.Context, id string) ([]Delivery, error) {
	found, err := get[struct {
		Deliveries []Delivery `json:"deliveries"`
	}](ctx, c, webhookPath(id)+"/deliveries", nil)
	if err != nil {
		return nil, err
	}
	return found.Deliveries, nil
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery string, options ...Option) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(webhook)+"/deliveries/"+url.PathEscape(delivery)+"/redeliver", nil, options)
}
