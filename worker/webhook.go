package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/stat"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	// webhookConcurrency is how many deliveries one worker sends at once.
	webhookConcurrency = 8
	// webhookCheckInterval is how often an idle worker looks for deliveries.
	webhookCheckInterval = 500 * time.Millisecond
)

// startWebhooks starts the server that delivers events. It belongs to the role
// any: a worker with other roles only may not reach the receivers. Its slots are
// its own, so that receivers that do not answer delay no step of a job.
func (w *Worker) startWebhooks(ctx context.Context) error {
	if !slices.Contains(w.options.Roles, tasks.RoleAny) {
		return nil
	}
	config := ServerConfig(map[string]int{webhook.Queue: 1}, webhookConcurrency, w.options.ShutdownTimeout, w.options.Log)
	config.TaskCheckInterval = webhookCheckInterval
	config.DelayedTaskCheckInterval = webhookCheckInterval
	config.RetryDelayFunc, config.IsFailure = webhook.RetryDelay, webhook.IsFailure
	mux := asynq.NewServeMux()
	mux.Handle(webhook.TypeDeliver, &webhook.Sender{
		Store: w.options.Webhooks, Poster: w.options.Fetch, Log: w.options.Log, Turns: w.engine,
		OnAttempt: func(endpoint, outcome string, took time.Duration) {
			w.options.Metrics.WebhookAttempt(outcome, took)
			if outcome == "delivered" {
				outcome = stat.OK
			}
			w.options.Stat.Call(stat.Call{To: stat.Webhook, Name: endpoint, Code: outcome, Took: took})
		},
	})
	server := asynq.NewServerFromRedisClient(w.options.Redis, config)
	if err := server.Start(mux); err != nil {
		return fmt.Errorf("worker: webhooks: %w", err)
	}
	w.servers = append(w.servers, server)
	w.offerTurns(ctx, pace{}, webhook.Queue, webhookConcurrency, nil)
	return nil
}
