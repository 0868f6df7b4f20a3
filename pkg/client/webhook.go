package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Webhook is a URL that the API notifies of events.
type Webhook struct {
	Raw

	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Events   []string  `json:"events"` // empty: only of the batches that name it
	Created  time.Time `json:"created"`
	Disabled string    `json:"disabled"` // why nothing is sent; empty while it is enabled
	State    string    `json:"state"`    // pending until the receiver has proved that it wants events, then verified
	Secret   string    `json:"secret"`   // only once, when it is created
}

// WebhookRequest creates or changes a webhook.
type WebhookRequest struct {
	URL    string   `json:"url,omitempty"`
	Events []string `json:"events,omitempty"`
}

// Delivery is one event for one webhook.
type Delivery struct {
	Raw

	ID       string            `json:"id"` // the header webhook-id, the same in every attempt
	Event    string            `json:"event"`
	Created  time.Time         `json:"created"`
	State    string            `json:"state"` // pending, delivered or failed
	Tries    int               `json:"tries"`
	Attempts []DeliveryAttempt `json:"attempts"` // the last ones, oldest first
}

// DeliveryAttempt is one request to a webhook.
type DeliveryAttempt struct {
	Status int    `json:"status"` // of HTTP; 0 without a response
	Error  string `json:"error"`
}

func webhookPath(id string) string { return "/v1/webhooks/" + url.PathEscape(id) }

// CreateWebhook creates a webhook. Only this answer has its secret.
func (c *Client) CreateWebhook(ctx context.Context, r WebhookRequest) (*Webhook, error) {
	return create[Webhook](ctx, c, "/v1/webhooks", r)
}

// Webhooks returns the caller's webhooks, oldest first.
func (c *Client) Webhooks(ctx context.Context) ([]*Webhook, error) {
	all, _, err := page[Webhook](ctx, c, "/v1/webhooks", "webhooks", nil)
	return all, err
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
func (c *Client) RotateWebhook(ctx context.Context, id string) (*Webhook, error) {
	return create[Webhook](ctx, c, webhookPath(id)+"/rotate", nil)
}

// EnableWebhook enables a disabled webhook.
func (c *Client) EnableWebhook(ctx context.Context, id string) (*Webhook, error) {
	return create[Webhook](ctx, c, webhookPath(id)+"/enable", nil)
}

// TestWebhook sends the event webhook.test.
func (c *Client) TestWebhook(ctx context.Context, id string) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(id)+"/test", nil)
}

// VerifyWebhook asks a webhook that is pending again whether it wants events.
func (c *Client) VerifyWebhook(ctx context.Context, id string) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(id)+"/verify", nil)
}

// Deliveries returns the deliveries of a webhook of the last 30 days, newest first, at
// most 100.
func (c *Client) Deliveries(ctx context.Context, id string) ([]*Delivery, error) {
	all, _, err := page[Delivery](ctx, c, webhookPath(id)+"/deliveries", "deliveries", nil)
	return all, err
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery string) (*Delivery, error) {
	return create[Delivery](ctx, c, webhookPath(webhook)+"/deliveries/"+url.PathEscape(delivery)+"/redeliver", nil)
}
