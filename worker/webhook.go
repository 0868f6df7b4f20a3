package worker

import (
	"context"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/webhook"
)

const (
	// webhookConcurrency is how many deliveries one worker sends at once. Their places are
	// their own, so that receivers that do not answer delay no step of a job.
	webhookConcurrency = 8
	// webhookLookInterval is how often an idle worker looks for deliveries, of which it gets
	// no messages.
	webhookLookInterval = 500 * time.Millisecond
)

func (w *Worker) webhookConfig() asynq.Config {
	config := ServerConfig(map[string]int{webhook.Queue: 1}, webhookConcurrency, w.options.ShutdownTimeout, w.options.Log)
	config.RetryDelayFunc, config.IsFailure = webhook.RetryDelay, webhook.IsFailure
	return config
}

// webhookHandler delivers events.
func (w *Worker) webhookHandler() asynq.Handler {
	mux := asynq.NewServeMux()
	mux.Handle(webhook.TypeDeliver, w.overdue.handler(&webhook.Sender{
		Store: w.options.Webhooks, Post: w.options.Fetch.Post, Log: w.options.Log, OnAttempt: w.options.Metrics.WebhookAttempt,
		Turn: func(ctx context.Context, owner, id string, lease time.Duration) (func(), bool, error) {
			ready, err := w.engine.BeginTurn(ctx, webhook.Queue, owner, id, lease)
			end := func() { _ = w.engine.EndTurn(context.WithoutCancel(ctx), webhook.Queue, owner, id) } // the place is a lease
			return end, ready, err
		},
	}))
	return mux
}
