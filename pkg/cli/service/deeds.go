package service

import (
	"context"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"

	"ushuru/pkg/client"
	"ushuru/pkg/fetch"
	"ushuru/pkg/operate"
	"ushuru/pkg/tra"
)

// one is a command about one job, batch or webhook: of the caller over the API, or of any key.
type one struct {
	target
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong.
func (c *one) Run(s *Session, k *kong.Context) error {
	d := deeds[nameOf(k.Selected())]
	return c.run(s, d.caller.about(c.ID), d.operator.about(c.ID))
}

// own is a command about one thing of the caller.
type own struct {
	request
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong.
func (c *own) Run(s *Session, k *kong.Context) error {
	return c.run(s, deeds[nameOf(k.Selected())].caller.about(c.ID))
}

// plain is a command of the operator that needs no argument.
type plain struct{ action }

// Run is called by kong.
func (c *plain) Run(s *Session, k *kong.Context) error {
	return c.run(s, deeds[nameOf(k.Selected())].operator.about(""))
}

// nameOf returns the words of a command, "jobs cancel", without its aliases.
func nameOf(command *kong.Node) string { return command.Parent.Name + " " + command.Name }

// byCaller calls the API about something, byOperator acts on it over Redis.
type (
	byCaller   func(ctx context.Context, api *client.Client, id string) (printed, error)
	byOperator func(ctx context.Context, o *operate.Operator, id string) (printed, error)
)

func (do byCaller) about(id string) func(context.Context, *client.Client) (printed, error) {
	return func(ctx context.Context, api *client.Client) (printed, error) { return do(ctx, api, id) }
}

func (do byOperator) about(id string) func(context.Context, *operate.Operator) (printed, error) {
	return func(ctx context.Context, o *operate.Operator) (printed, error) { return do(ctx, o, id) }
}

// deed is what a command does, for a caller and for the operator.
type deed struct {
	caller   byCaller
	operator byOperator
}

// deeds are the commands that take nothing but what they are about.
var deeds = map[string]deed{
	"jobs cancel": {
		ask("DELETE /v1/jobs/{id}", callersJob), act((*operate.Operator).CancelJob, anyJob),
	},
	"batches show": {
		ask("GET /v1/batches/{id}", showCallersBatch), act((*operate.Operator).Batch, showAnyBatch),
	},
	"batches cancel": {
		ask("DELETE /v1/batches/{id}", showCallersBatch), act((*operate.Operator).CancelBatch, showAnyBatch),
	},
	"batches retry": {
		ask("POST /v1/batches/{id}/retry", showCallersBatch), act((*operate.Operator).RetryBatch, showAnyBatch),
	},
	"webhooks show": {
		ask("GET /v1/webhooks/{id}", callersWebhook), anyWebhook,
	},
	"webhooks cancel": {
		func(ctx context.Context, api *client.Client, id string) (printed, error) {
			printed, err := ask("DELETE /v1/webhooks/{id}", callersWebhook)(ctx, api, id)
			if err == nil {
				printed = deleted(id)
			}
			return printed, err
		},
		done((*operate.Operator).DeleteWebhook, deleted),
	},
	"webhooks enable": {
		ask("POST /v1/webhooks/{id}/enable", callersWebhook),
		done((*operate.Operator).EnableWebhook, func(id string) printed {
			return said(map[string]any{"id": id, "enabled": true}, "enabled %s", id)
		}),
	},
	"webhooks verify": {
		ask("POST /v1/webhooks/{id}/verify", printDelivery), act((*operate.Operator).VerifyWebhook, printAsked),
	},
	"webhooks rotate":     {caller: ask("POST /v1/webhooks/{id}/rotate", callersWebhook)},
	"webhooks test":       {caller: ask("POST /v1/webhooks/{id}/test", printDelivery)},
	"webhooks deliveries": {caller: printDeliveries},

	"queues pause":  {operator: done((*operate.Operator).PauseQueue, pausedQueue(true))},
	"queues resume": {operator: done((*operate.Operator).ResumeQueue, pausedQueue(false))},
	"sites list": {operator: func(ctx context.Context, o *operate.Operator, _ string) (printed, error) {
		return as(printPauses)(o.SitePauses(ctx))
	}},
	"sites resume": {operator: act((*operate.Operator).ResumeSite, func(n int) printed {
		return said(map[string]int{"pausesEnded": n}, "%d pauses ended", n)
	})},
	"breaker reset": {operator: func(ctx context.Context, o *operate.Operator, _ string) (printed, error) {
		record := map[string]any{"closedWithinSeconds": tra.WorkerInterval.Seconds()}
		closed := said(record, "the workers that call TRA close their breakers within %v", tra.WorkerInterval)
		return after(closed, o.ResetBreaker(ctx))
	}},
}

// ask calls an operation of the API about an id.
func ask[T any](operation string, show func(*T) printed) byCaller {
	return func(ctx context.Context, api *client.Client, id string) (printed, error) {
		return as(show)(client.Send[T](ctx, api, strings.Replace(operation, "{id}", url.PathEscape(id), 1), nil))
	}
}

// act performs an action of the operator on an id and prints its result.
func act[T any](do func(*operate.Operator, context.Context, string) (T, error), show func(T) printed) byOperator {
	return func(ctx context.Context, o *operate.Operator, id string) (printed, error) {
		return as(show)(do(o, ctx, id))
	}
}

// done is act for an action that returns nothing.
func done(do func(*operate.Operator, context.Context, string) error, show func(id string) printed) byOperator {
	return func(ctx context.Context, o *operate.Operator, id string) (printed, error) {
		return after(show(id), do(o, ctx, id))
	}
}

func deleted(id string) printed {
	return said(map[string]any{"id": id, "deleted": true}, "deleted %s", id)
}

func pausedQueue(paused bool) func(queue string) printed {
	word := "resumed"
	if paused {
		word = "paused"
	}
	return func(queue string) printed {
		return said(map[string]any{"queue": queue, "paused": paused}, "%s %s", word, queue)
	}
}

var printPauses = listed("HOST\tPAUSED UNTIL\tBY", func(p fetch.Pause) []any {
	by := "the site"
	if p.ByOperator {
		by = "an operator"
	}
	return []any{p.Host, p.Until, by}
})
