package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
	"ushuru/pkg/webhook"
)

// Webhooks is about webhooks: those of the caller over the API, or of all keys.
type Webhooks struct {
	List       webhooksList   `cmd:"" help:"List your webhooks; as the operator, those of all API keys."`
	Show       ofBoth         `cmd:"" help:"Print a webhook; as the operator, with its deliveries."`
	Create     webhooksCreate `cmd:"" help:"Create a webhook. Its secret is shown once only."`
	Update     webhooksUpdate `cmd:"" help:"Change the URL or the events of a webhook."`
	Cancel     ofBoth         `cmd:"" aliases:"delete" help:"Delete a webhook."`
	Rotate     ofCaller       `cmd:"" help:"Create a new secret. The old one stays valid for 24 hours."`
	Enable     ofBoth         `cmd:"" help:"Enable a disabled webhook."`
	Test       ofCaller       `cmd:"" help:"Send the event webhook.test."`
	Verify     ofBoth         `cmd:"" aliases:"challenge" help:"Ask a pending webhook again whether it wants events."`
	Deliveries ofCaller       `cmd:"" help:"List the deliveries of a webhook, newest first."`
	Retry      webhooksRetry  `cmd:"" help:"Send a delivery again; as the operator, also all that have failed."`
}

// callersWebhook prints a webhook of the caller.
func callersWebhook(hook *client.Webhook) console.Printed {
	return console.Record(hook, "Webhook", hook.ID, "URL", hook.URL, "Events", strings.Join(hook.Events, ", "),
		"State", stateOf(hook.State, hook.Disabled), "Created", hook.Created, "Secret", hook.Secret)
}

func stateOf(state, disabled string) string {
	if disabled != "" {
		return "disabled: " + disabled
	}
	return state
}

// anyWebhook prints a webhook of any API key with its newest deliveries.
func anyWebhook(ctx context.Context, o *operate.Operator, id string) (console.Printed, error) {
	w, err := o.Webhook(ctx, id)
	if err != nil {
		return nil, err
	}
	deliveries, err := o.Deliveries(ctx, id)
	if err != nil {
		return nil, err
	}
	const shown = 20
	deliveries = deliveries[:min(len(deliveries), shown)]
	pairs := []any{
		"Webhook", w.ID, "Key", w.Key, "URL", w.URL, "Events", strings.Join(w.Events, ", "),
		"State", stateOf(string(w.State), w.Disabled), "Created", w.Created,
	}
	for _, d := range deliveries {
		text := fmt.Sprintf("%s %s, %d tries, %s", d.Event, d.State, d.Tries, console.Time(d.Created))
		if len(d.Attempts) > 0 {
			last := d.Attempts[len(d.Attempts)-1]
			text += ", last " + console.OneLine(cmp.Or(last.Error, strconv.Itoa(last.Status)))
		}
		if !d.Next.IsZero() && d.State == webhook.Pending {
			text += ", next " + console.Time(d.Next)
		}
		pairs = append(pairs, d.ID, text)
	}
	return console.Record(struct {
		operate.Webhook
		Deliveries []webhook.Delivery `json:"deliveries"`
	}{w, deliveries}, pairs...), nil
}

// printDeliveries prints the deliveries of a webhook of the caller, those of the last 30 days, newest
// first, at most 100.
func printDeliveries(ctx context.Context, api *client.Client, id string) (console.Printed, error) {
	path := "/v1/webhooks/" + url.PathEscape(id) + "/deliveries"
	return console.As(listDeliveries)(first(client.List[client.Delivery](ctx, api, path, "deliveries", nil), math.MaxInt))
}

var listDeliveries = console.Listed("ID\tEVENT\tSTATE\tTRIES\tCREATED\tLAST", func(d *client.Delivery) []any {
	return []any{d.ID, d.Event, d.State, d.Tries, d.Created, lastAttempt(d)}
})

func printDelivery(d *client.Delivery) console.Printed { return listDeliveries([]*client.Delivery{d}) }

// printAsked prints that a challenge is sent.
func printAsked(asked webhook.Delivery) console.Printed {
	return console.Said(asked, "asked: a worker sends the challenge as delivery %s", asked.ID)
}

// lastAttempt returns how the last attempt of a delivery ended.
func lastAttempt(d *client.Delivery) string {
	if len(d.Attempts) == 0 {
		return ""
	}
	last := d.Attempts[len(d.Attempts)-1]
	status := ""
	if last.Status != 0 {
		status = strconv.Itoa(last.Status)
	}
	return console.OneLine(status, last.Error)
}

type webhooksList struct {
	target

	Owner string `help:"As the operator: only webhooks of the API key with this id." placeholder:"ID"`
}

// Run is called by kong.
func (c *webhooksList) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(console.Listed("ID\tURL\tEVENTS\tSTATE\tCREATED", func(w *client.Webhook) []any {
			return []any{w.ID, w.URL, strings.Join(w.Events, ", "), stateOf(w.State, w.Disabled), w.Created}
		}))(first(client.List[client.Webhook](ctx, api, "/v1/webhooks", "webhooks", nil), math.MaxInt))
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return console.As(console.Listed("ID\tKEY\tURL\tEVENTS\tSTATE\tCREATED", func(w operate.Webhook) []any {
			return []any{w.ID, w.Key, w.URL, strings.Join(w.Events, ", "), stateOf(string(w.State), w.Disabled), w.Created}
		}))(o.Webhooks(ctx, c.Owner))
	})
}

type webhooksCreate struct {
	request
	Events []string `default:"job.completed,batch.completed" help:"Events: job.completed, batch.completed."`
	URL    string   `arg:"" name:"URL" help:"URL to notify; it begins with https://."`
}

// Run is called by kong.
func (c *webhooksCreate) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(callersWebhook)(client.Send[client.Webhook](ctx, api, "POST /v1/webhooks",
			client.WebhookRequest{URL: c.URL, Events: c.Events}))
	})
}

type webhooksUpdate struct {
	request
	ID     string   `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
	To     string   `placeholder:"URL" help:"The new URL. The webhook is pending again."`
	Events []string `placeholder:"EVENT" help:"The new events: job.completed, batch.completed."`
}

// Run is called by kong.
func (c *webhooksUpdate) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(callersWebhook)(client.Send[client.Webhook](ctx, api, "PATCH /v1/webhooks/"+url.PathEscape(c.ID),
			client.WebhookRequest{URL: c.To, Events: c.Events}))
	})
}

type webhooksRetry struct {
	target
	ID       string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
	Delivery string `arg:"" optional:"" help:"Id of the delivery, as printed by webhooks deliveries; only the operator may leave it out."`
}

// Run is called by kong.
func (c *webhooksRetry) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		if c.Delivery == "" {
			return nil, console.Usage("give the id of a delivery: see ushuru webhooks deliveries")
		}
		again := "POST /v1/webhooks/{id}/deliveries/" + url.PathEscape(c.Delivery) + "/redeliver"
		return ask(again, printDelivery)(ctx, api, c.ID)
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		n, err := o.RetryDeliveries(ctx, c.ID, c.Delivery)
		if errors.Is(err, operate.ErrDisabled) {
			return nil, fmt.Errorf("the webhook is disabled; first: ushuru webhooks enable --operator %s", c.ID)
		}
		return console.Record(map[string]int{"retried": n}, "Retried", n), err
	})
}
