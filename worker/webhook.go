package worker

import (
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
	mux.Handle(webhook.TypeDeliver, &webhook.Sender{
		Store: w.options.Webhooks, Poster: w.options.Fetch, Log: w.options.Log, Turns: w.engine,
		OnAttempt: w.options.Metrics.WebhookAttempt,
	})
	return mux
}
