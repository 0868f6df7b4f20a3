package batches

import (
	"context"
	"errors"
	"slices"
	"strings"

	"ushuru/api/request"
	"ushuru/api/respond"
	"ushuru/api/webhooks"
	"ushuru/pkg/webhook"
)

// bodyWebhook is the webhook that a batch names. Only the response that
// creates the webhook has its secret.
type bodyWebhook struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
}

// webhookID returns the id of the webhook that is created for a batch.
func webhookID(batchID string) string { return "wh" + strings.ToLower(batchID) }

// findOrCreateWebhook returns the caller's webhook with a URL, or creates one
// for a batch. An empty URL is no webhook.
func (s *Resource) findOrCreateWebhook(r *request.Request, batchID, url string) (hook bodyWebhook, err error) {
	if url == "" {
		return hook, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	all, err := s.options.Webhooks.List(ctx, r.Key.ID)
	if err != nil {
		return hook, respond.ErrUnavailable.WithCause(err)
	}
	own := webhookID(batchID)
	found := slices.IndexFunc(all, func(e webhook.Endpoint) bool { return e.URL == url && e.Disabled == "" && e.ID != own })
	if found >= 0 {
		return bodyWebhook{ID: all[found].ID}, nil
	}
	return s.createWebhook(r, batchID, url)
}

// createWebhook creates a webhook that gets only the events that name it.
// The second call for a batch returns the same webhook and secret.
func (s *Resource) createWebhook(r *request.Request, batchID, url string) (hook bodyWebhook, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	created, secret, err := s.options.Webhooks.Add(ctx, r.Key.ID, webhookID(batchID), url, []string{})
	switch {
	case errors.Is(err, webhook.ErrTooMany):
		return hook, webhooks.ErrTooMany
	case err != nil:
		return hook, respond.ErrUnavailable.WithCause(err)
	}
	return bodyWebhook{created.ID, secret}, nil
}
