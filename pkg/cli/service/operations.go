package service

import (
	"context"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
)

// ofBoth is a command about one job, batch or webhook: of the caller over the API, or of any key.
type ofBoth struct {
	target
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong.
func (c *ofBoth) Run(s *Session, k *kong.Context) error {
	d := operations[nameOf(k.Selected())]
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return d.caller(ctx, api, c.ID)
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return d.operator(ctx, o, c.ID)
	})
}

// ofCaller is a command about one thing of the caller.
type ofCaller struct {
	request
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong.
func (c *ofCaller) Run(s *Session, k *kong.Context) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return operations[nameOf(k.Selected())].caller(ctx, api, c.ID)
	})
}

// nameOf returns the words of a command, "jobs cancel", without its aliases.
func nameOf(command *kong.Node) string { return command.Parent.Name + " " + command.Name }

// byCaller calls the API about something, byOperator acts on it over Redis.
type (
	byCaller   func(ctx context.Context, api *client.Client, id string) (console.Printed, error)
	byOperator func(ctx context.Context, o *operate.Operator, id string) (console.Printed, error)
)

// operation is what a command does, for a caller and for the operator.
type operation struct {
	caller   byCaller
	operator byOperator
}

// operations are the commands about one thing that take nothing else.
var operations = map[string]operation{
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
		func(ctx context.Context, api *client.Client, id string) (console.Printed, error) {
			_, err := client.Send[client.Webhook](ctx, api, "DELETE /v1/webhooks/"+url.PathEscape(id), nil)
			return console.After(deleted(id), err)
		},
		done((*operate.Operator).DeleteWebhook, deleted),
	},
	"webhooks enable": {
		ask("POST /v1/webhooks/{id}/enable", callersWebhook),
		done((*operate.Operator).EnableWebhook, func(id string) console.Printed {
			return console.Said(map[string]any{"id": id, "enabled": true}, "enabled %s", id)
		}),
	},
	"webhooks verify": {
		ask("POST /v1/webhooks/{id}/verify", printDelivery), act((*operate.Operator).VerifyWebhook, printAsked),
	},
	"webhooks rotate":     {caller: ask("POST /v1/webhooks/{id}/rotate", callersWebhook)},
	"webhooks test":       {caller: ask("POST /v1/webhooks/{id}/test", printDelivery)},
	"webhooks deliveries": {caller: printDeliveries},
}

// ask calls an operation of the API about an id.
func ask[T any](operation string, show func(*T) console.Printed) byCaller {
	return func(ctx context.Context, api *client.Client, id string) (console.Printed, error) {
		return console.As(show)(client.Send[T](ctx, api, strings.Replace(operation, "{id}", url.PathEscape(id), 1), nil))
	}
}

// act performs an action of the operator on an id and prints its result.
func act[T any](do func(*operate.Operator, context.Context, string) (T, error), show func(T) console.Printed) byOperator {
	return func(ctx context.Context, o *operate.Operator, id string) (console.Printed, error) {
		return console.As(show)(do(o, ctx, id))
	}
}

// done is act for an action that returns nothing.
func done(do func(*operate.Operator, context.Context, string) error, show func(id string) console.Printed) byOperator {
	return func(ctx context.Context, o *operate.Operator, id string) (console.Printed, error) {
		return console.After(show(id), do(o, ctx, id))
	}
}

func deleted(id string) console.Printed {
	return console.Said(map[string]any{"id": id, "deleted": true}, "deleted %s", id)
}
