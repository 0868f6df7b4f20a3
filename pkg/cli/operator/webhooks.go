package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/operate"
	"ushuru/pkg/webhook"
)

// Webhooks is about webhooks: those of the caller over the API, or of all keys.
type Webhooks struct {
	List       webhooksList              `cmd:"" help:"List your webhooks; as the operator, those of all API keys."`
	Show       webhooksShow              `cmd:"" help:"Print a webhook; as the operator, with its deliveries."`
	Create     caller.WebhooksCreate     `cmd:"" help:"Create a webhook. Its secret is shown once only."`
	Update     caller.WebhooksUpdate     `cmd:"" help:"Change the URL or the events of a webhook."`
	Cancel     webhooksCancel            `cmd:"" aliases:"delete" help:"Delete a webhook."`
	Rotate     caller.WebhooksRotate     `cmd:"" help:"Create a new secret. The old one stays valid for 24 hours."`
	Enable     webhooksEnable            `cmd:"" help:"Enable a disabled webhook."`
	Test       caller.WebhooksTest       `cmd:"" help:"Send the event webhook.test."`
	Challenge  caller.WebhooksChallenge  `cmd:"" help:"Ask your pending webhook again whether it wants events."`
	Deliveries caller.WebhooksDeliveries `cmd:"" help:"List the deliveries of a webhook, newest first."`
	Follow     caller.WebhooksFollow     `cmd:"" help:"Print the deliveries of a webhook as they are made, until Ctrl-C."`
	Retry      webhooksRetry             `cmd:"" help:"Send a delivery again; as the operator, also all that have failed."`
}

func stateOf(state webhook.EndpointState, disabled string) string {
	if disabled != "" {
		return "disabled: " + disabled
	}
	return string(state)
}

type webhooksList struct {
	caller.WebhooksList
	asOperator

	Owner string `help:"As the operator: only webhooks of the API key with this id." placeholder:"ID"`
}

// Run is called by kong.
func (c *webhooksList) Run(s *Session) error {
	return c.either(s, c.Key, c.WebhooksList.Run, func(ctx context.Context, o *operate.Operator) error {
		all, err := o.Webhooks(ctx, c.Owner)
		if err != nil {
			return err
		}
		return console.List(s.Streams, c.Format, all, "ID\tKEY\tURL\tEVENTS\tSTATE\tCREATED", func(w operate.Webhook) []string {
			return []string{
				w.ID, w.Key, w.URL, strings.Join(w.Events, ", "), stateOf(w.State, w.Disabled), console.Time(w.Created),
			}
		})
	})
}

type webhooksShow struct {
	caller.WebhooksShow
	asOperator
}

// deliveriesShown is how many deliveries are printed with a webhook.
const deliveriesShown = 20

// Run is called by kong.
func (c *webhooksShow) Run(s *Session) error {
	return c.either(s, c.Key, c.WebhooksShow.Run, func(ctx context.Context, o *operate.Operator) error {
		w, err := o.Webhook(ctx, c.ID)
		if err != nil {
			return err
		}
		deliveries, err := o.Deliveries(ctx, c.ID)
		if err != nil {
			return err
		}
		deliveries = deliveries[:min(len(deliveries), deliveriesShown)]
		fields := []console.Field{
			{Name: "Webhook", Value: w.ID},
			{Name: "Key", Value: w.Key},
			{Name: "URL", Value: w.URL},
			{Name: "Events", Value: strings.Join(w.Events, ", ")},
			{Name: "State", Value: stateOf(w.State, w.Disabled)},
			{Name: "Created", Value: console.Time(w.Created)},
		}
		for _, d := range deliveries {
			fields = append(fields, console.Field{Name: d.ID, Value: deliveryText(d)})
		}
		return console.Show(s.Streams, c.Format, struct {
			operate.Webhook
			Deliveries []webhook.Delivery `json:"deliveries"`
		}{w, deliveries}, fields)
	})
}

// deliveryText returns a delivery with its last attempt.
func deliveryText(d webhook.Delivery) string {
	text := fmt.Sprintf("%s %s, %d tries, %s", d.Event, d.State, d.Tries, console.Time(d.Created))
	if len(d.Attempts) > 0 {
		last := d.Attempts[len(d.Attempts)-1]
		text += ", last " + console.OneLine(cmp.Or(last.Error, strconv.Itoa(last.Status)))
	}
	if !d.Next.IsZero() && d.State == webhook.Pending {
		text += ", next " + console.Time(d.Next)
	}
	return text
}

type webhooksCancel struct {
	caller.WebhooksCancel
	asOperator
}

// Run is called by kong.
func (c *webhooksCancel) Run(s *Session) error {
	return c.either(s, c.Key, c.WebhooksCancel.Run, func(ctx context.Context, o *operate.Operator) error {
		return s.done(o.DeleteWebhook(ctx, c.ID), "deleted %s\n", c.ID)
	})
}

// done prints what an action has done, unless it failed.
func (s *Session) done(err error, format string, values ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, format, values...)
	return err
}

type webhooksEnable struct {
	caller.WebhooksEnable
	asOperator
}

// Run is called by kong.
func (c *webhooksEnable) Run(s *Session) error {
	return c.either(s, c.Key, c.WebhooksEnable.Run, func(ctx context.Context, o *operate.Operator) error {
		return s.done(o.EnableWebhook(ctx, c.ID), "enabled %s\n", c.ID)
	})
}

type webhooksRetry struct {
	caller.WebhooksRetry
	asOperator
}

// Run is called by kong.
func (c *webhooksRetry) Run(s *Session) error {
	return c.either(s, c.Key, c.WebhooksRetry.Run, func(ctx context.Context, o *operate.Operator) error {
		n, err := o.RetryDeliveries(ctx, c.ID, c.Delivery)
		if errors.Is(err, operate.ErrDisabled) {
			return fmt.Errorf("the webhook is disabled; first: ushuru webhooks enable --operator %s", c.ID)
		}
		return errors.Join(err, printRetried(s, c.Format, n))
	})
}
