package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
	"ushuru/pkg/webhook"
)

// Webhooks is about webhooks: those of the caller over the API, or of all keys.
type Webhooks struct {
	List       webhooksList       `cmd:"" help:"List your webhooks; as the operator, those of all API keys."`
	Show       webhooksShow       `cmd:"" help:"Print a webhook; as the operator, with its deliveries."`
	Create     webhooksCreate     `cmd:"" help:"Create a webhook. Its secret is shown once only."`
	Update     webhooksUpdate     `cmd:"" help:"Change the URL or the events of a webhook."`
	Cancel     webhooksCancel     `cmd:"" aliases:"delete" help:"Delete a webhook."`
	Rotate     webhooksRotate     `cmd:"" help:"Create a new secret. The old one stays valid for 24 hours."`
	Enable     webhooksEnable     `cmd:"" help:"Enable a disabled webhook."`
	Test       webhooksTest       `cmd:"" help:"Send the event webhook.test."`
	Verify     webhooksVerify     `cmd:"" aliases:"challenge" help:"Ask a pending webhook again whether it wants events."`
	Deliveries webhooksDeliveries `cmd:"" help:"List the deliveries of a webhook, newest first."`
	Follow     webhooksFollow     `cmd:"" help:"Print the deliveries of a webhook as they are made, until Ctrl-C."`
	Retry      webhooksRetry      `cmd:"" help:"Send a delivery again; as the operator, also all that have failed."`
}

// webhookID names a webhook.
type webhookID struct {
	ID string `arg:"" help:"Id of the webhook, as printed by webhooks list."`
}

// callersWebhook prints a webhook of the caller.
func callersWebhook(hook *client.Webhook) printed {
	return record(hook, webhookFields(hook.ID, "", hook.URL, hook.Events, stateOf(hook.State, hook.Disabled), hook.Created,
		hook.Secret)...)
}

func webhookFields(id, key, url string, events []string, state string, created time.Time, secret string) []console.Field {
	return []console.Field{
		{Name: "Webhook", Value: id},
		{Name: "Key", Value: key},
		{Name: "URL", Value: url},
		{Name: "Events", Value: strings.Join(events, ", ")},
		{Name: "State", Value: state},
		{Name: "Created", Value: console.Time(created)},
		{Name: "Secret", Value: secret},
	}
}

func stateOf(state, disabled string) string {
	if disabled != "" {
		return "disabled: " + disabled
	}
	return state
}

// anyWebhook prints a webhook of any API key with its newest deliveries.
func anyWebhook(w operate.Webhook, deliveries []webhook.Delivery) printed {
	const shown = 20
	deliveries = deliveries[:min(len(deliveries), shown)]
	fields := webhookFields(w.ID, w.Key, w.URL, w.Events, stateOf(string(w.State), w.Disabled), w.Created, "")
	for _, d := range deliveries {
		text := fmt.Sprintf("%s %s, %d tries, %s", d.Event, d.State, d.Tries, console.Time(d.Created))
		if len(d.Attempts) > 0 {
			last := d.Attempts[len(d.Attempts)-1]
			text += ", last " + console.OneLine(cmp.Or(last.Error, strconv.Itoa(last.Status)))
		}
		if !d.Next.IsZero() && d.State == webhook.Pending {
			text += ", next " + console.Time(d.Next)
		}
		fields = append(fields, console.Field{Name: d.ID, Value: text})
	}
	return record(struct {
		operate.Webhook
		Deliveries []webhook.Delivery `json:"deliveries"`
	}{w, deliveries}, fields...)
}

// printDeliveries prints deliveries of a webhook of the caller.
func printDeliveries(all []*client.Delivery) printed {
	return listed("ID\tEVENT\tSTATE\tTRIES\tCREATED\tLAST", func(d *client.Delivery) []string {
		return []string{d.ID, d.Event, d.State, strconv.Itoa(d.Tries), console.Time(d.Created), lastAttempt(d)}
	})(all)
}

func printDelivery(d *client.Delivery) printed { return printDeliveries([]*client.Delivery{d}) }

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
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(listed("ID\tURL\tEVENTS\tSTATE\tCREATED", func(w *client.Webhook) []string {
			return []string{w.ID, w.URL, strings.Join(w.Events, ", "), stateOf(w.State, w.Disabled), console.Time(w.Created)}
		}))(api.Webhooks(ctx))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		return as(listed("ID\tKEY\tURL\tEVENTS\tSTATE\tCREATED", func(w operate.Webhook) []string {
			return []string{
				w.ID, w.Key, w.URL, strings.Join(w.Events, ", "), stateOf(string(w.State), w.Disabled), console.Time(w.Created),
			}
		}))(o.Webhooks(ctx, c.Owner))
	})
}

type webhooksShow struct {
	target
	webhookID
}

// Run is called by kong.
func (c *webhooksShow) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(callersWebhook)(api.Webhook(ctx, c.ID))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		w, err := o.Webhook(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		return as(func(all []webhook.Delivery) printed { return anyWebhook(w, all) })(o.Deliveries(ctx, c.ID))
	})
}

type webhooksCreate struct {
	request
	Events []string `default:"job.completed,batch.completed" help:"Events: job.completed, batch.completed."`
	URL    string   `arg:"" name:"URL" help:"URL to notify; it begins with https://."`
}

// Run is called by kong.
func (c *webhooksCreate) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(callersWebhook)(api.CreateWebhook(ctx, client.WebhookRequest{URL: c.URL, Events: c.Events}))
	})
}

type webhooksUpdate struct {
	request
	webhookID
	To     string   `placeholder:"URL" help:"The new URL. The webhook is pending again."`
	Events []string `placeholder:"EVENT" help:"The new events: job.completed, batch.completed."`
}

// Run is called by kong.
func (c *webhooksUpdate) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(callersWebhook)(api.UpdateWebhook(ctx, c.ID, client.WebhookRequest{URL: c.To, Events: c.Events}))
	})
}

type webhooksCancel struct {
	target
	webhookID
}

// Run is called by kong.
func (c *webhooksCancel) Run(s *Session) error {
	deleted := said(map[string]any{"id": c.ID, "deleted": true}, "deleted %s", c.ID)
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return after(deleted, api.DeleteWebhook(ctx, c.ID))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		return after(deleted, o.DeleteWebhook(ctx, c.ID))
	})
}

type webhooksRotate struct {
	request
	webhookID
}

// Run is called by kong.
func (c *webhooksRotate) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(callersWebhook)(api.RotateWebhook(ctx, c.ID))
	})
}

type webhooksEnable struct {
	target
	webhookID
}

// Run is called by kong.
func (c *webhooksEnable) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(callersWebhook)(api.EnableWebhook(ctx, c.ID))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		return after(said(map[string]any{"id": c.ID, "enabled": true}, "enabled %s", c.ID), o.EnableWebhook(ctx, c.ID))
	})
}

type webhooksTest struct {
	request
	webhookID
}

// Run is called by kong.
func (c *webhooksTest) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(printDelivery)(api.TestWebhook(ctx, c.ID))
	})
}

type webhooksVerify struct {
	target
	webhookID
}

// Run is called by kong.
func (c *webhooksVerify) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(printDelivery)(api.VerifyWebhook(ctx, c.ID))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		asked, err := o.VerifyWebhook(ctx, c.ID)
		return after(said(asked, "asked: a worker sends the challenge as delivery %s", asked.ID), err)
	})
}

type webhooksRetry struct {
	target
	webhookID
	Delivery string `arg:"" optional:"" help:"Id of the delivery, as printed by webhooks deliveries; only the operator may leave it out."`
}

// Run is called by kong.
func (c *webhooksRetry) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		if c.Delivery == "" {
			return nil, console.Usage("give the id of a delivery: see ushuru webhooks deliveries")
		}
		return as(printDelivery)(api.Redeliver(ctx, c.ID, c.Delivery))
	}, func(ctx context.Context, o *operate.Operator) (printed, error) {
		n, err := o.RetryDeliveries(ctx, c.ID, c.Delivery)
		if errors.Is(err, operate.ErrDisabled) {
			return nil, fmt.Errorf("the webhook is disabled; first: ushuru webhooks enable --operator %s", c.ID)
		}
		return retried(n), err
	})
}

type webhooksDeliveries struct {
	request
	webhookID
}

// Run is called by kong.
func (c *webhooksDeliveries) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (printed, error) {
		return as(printDeliveries)(api.Deliveries(ctx, c.ID))
	})
}

type webhooksFollow struct {
	clientConfig
	webhookID
}

const (
	// followInterval is how often the deliveries are read: the API has no stream of them.
	followInterval = 2 * time.Second
	// followed is the number of earlier deliveries that are printed first.
	followed = 10
)

// Run is called by kong. It prints a delivery when it is made and whenever an attempt has
// ended, one per line.
func (c *webhooksFollow) Run(s *Session) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for seen := map[string]string{}; ; {
		all, err := api.Deliveries(s.Ctx, c.ID)
		if s.Ctx.Err() != nil {
			return nil // Ctrl-C is how it ends
		}
		if err != nil {
			return printError(s, err)
		}
		if len(seen) == 0 && len(all) > followed {
			for _, d := range all[followed:] {
				seen[d.ID] = deliveryLine(d)
			}
		}
		if err := printNew(s, all, seen); err != nil {
			return err
		}
		select {
		case <-s.Ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func deliveryLine(d *client.Delivery) string {
	return console.Printable(console.OneLine(console.Time(d.Created), d.ID, d.Event, d.State, "attempt "+strconv.Itoa(d.Tries),
		lastAttempt(d)))
}

// printNew prints the deliveries that have changed since they were seen, oldest first.
func printNew(s *Session, all []*client.Delivery, seen map[string]string) error {
	for _, d := range slices.Backward(all) {
		line := deliveryLine(d)
		if seen[d.ID] == line {
			continue
		}
		seen[d.ID] = line
		if _, err := fmt.Fprintln(s.Out, line); err != nil {
			return err
		}
	}
	return nil
}
