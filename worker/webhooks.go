package worker

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// attemptsCounter counts attempts to deliver webhooks by what came of them.
func attemptsCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "ushuru", Subsystem: "webhook", Name: "attempts_total",
		Help: "Attempts to deliver an event: delivered, retried, given_up or gone.",
	}, []string{"outcome"})
}

// sendWebhooks begins to deliver events, until ctx ends. A worker that stands
// in Tanzania only for the authority's sake has nothing to send with.
func (w *Worker) sendWebhooks(ctx context.Context) {
	if !slices.Contains(w.options.Roles, tasks.RoleAny) {
		return
	}
	sender := &webhook.Sender{
		Store: w.options.Webhooks, Poster: w.options.Fetch, Log: w.options.Log,
		Tried: func(outcome string) { w.attempts.WithLabelValues(outcome).Inc() },
	}
	w.loops.Go(func() { sender.Run(ctx) })
}
