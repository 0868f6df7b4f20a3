package caller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// webhookFlags are what every command about one webhook has.
type webhookFlags struct {
	clientConfig
	console.Format
	ID string `arg:"" help:"Id of the webhook, as printed by webhooks list."`
}

// one prints what a call says of a webhook.
func (c webhookFlags) one(r *console.Console, read func(ctx context.Context, api *client.Client) (*client.Webhook, error)) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		hook, err := read(ctx, api)
		if err != nil {
			return err
		}
		return printWebhook(r, c.Format, hook)
	})
}

func printWebhook(r *console.Console, f console.Format, hook *client.Webhook) error {
	return console.Show(r.Streams, f, hook, []console.Field{
		{Name: "Webhook", Value: hook.ID},
		{Name: "URL", Value: hook.URL},
		{Name: "Events", Value: events(hook)},
		{Name: "State", Value: webhookState(hook)},
		{Name: "Created", Value: console.Time(hook.Created)},
		{Name: "Secret", Value: hook.Secret},
	})
}

func events(hook *client.Webhook) string { return strings.Join(hook.Events, ", ") }

func webhookState(hook *client.Webhook) string {
	if hook.Disabled != "" {
		return "disabled: " + hook.Disabled
	}
	return hook.State
}

// delivery prints what a call says of a delivery.
func (c webhookFlags) delivery(
	r *console.Console, send func(ctx context.Context, api *client.Client) (*client.Delivery, error),
) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		sent, err := send(ctx, api)
		if err != nil {
			return err
		}
		return printDeliveries(r, c.Format, []*client.Delivery{sent})
	})
}

func printDeliveries(r *console.Console, f console.Format, all []*client.Delivery) error {
	return console.List(r.Streams, f, all, "ID\tEVENT\tSTATE\tTRIES\tCREATED\tLAST", func(d *client.Delivery) []string {
		return []string{d.ID, d.Event, d.State, strconv.Itoa(d.Tries), console.Time(d.Created), lastAttempt(d)}
	})
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

// WebhooksList lists the caller's webhooks.
type WebhooksList struct {
	clientConfig
	console.Format
}

// Run is called by kong.
func (c *WebhooksList) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := api.Webhooks(ctx)
		if err != nil {
			return err
		}
		return console.List(r.Streams, c.Format, all, "ID\tURL\tEVENTS\tSTATE\tCREATED", func(w *client.Webhook) []string {
			return []string{w.ID, w.URL, events(w), webhookState(w), console.Time(w.Created)}
		})
	})
}

// WebhooksShow prints a webhook.
type WebhooksShow struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksShow) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) { return api.Webhook(ctx, c.ID) })
}

// WebhooksCreate creates a webhook.
type WebhooksCreate struct {
	clientConfig
	console.Format
	Events []string `default:"job.completed,batch.completed" help:"Events: job.completed, batch.completed."`
	URL    string   `arg:"" name:"URL" help:"URL to notify; it begins with https://."`
}

// Run is called by kong.
func (c *WebhooksCreate) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		hook, err := api.CreateWebhook(ctx, client.WebhookRequest{URL: c.URL, Events: c.Events})
		if err != nil {
			return err
		}
		return printWebhook(r, c.Format, hook)
	})
}

// WebhooksUpdate changes a webhook.
type WebhooksUpdate struct {
	webhookFlags
	To     string   `placeholder:"URL" help:"The new URL. The webhook is pending again."`
	Events []string `placeholder:"EVENT" help:"The new events: job.completed, batch.completed."`
}

// Run is called by kong.
func (c *WebhooksUpdate) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.UpdateWebhook(ctx, c.ID, client.WebhookRequest{URL: c.To, Events: c.Events})
	})
}

// WebhooksCancel deletes a webhook.
type WebhooksCancel struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksCancel) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		if err := api.DeleteWebhook(ctx, c.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(r.Out, "deleted %s\n", c.ID)
		return err
	})
}

// WebhooksRotate creates a new secret of a webhook.
type WebhooksRotate struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksRotate) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.RotateWebhook(ctx, c.ID)
	})
}

// WebhooksEnable enables a disabled webhook.
type WebhooksEnable struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksEnable) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.EnableWebhook(ctx, c.ID)
	})
}

// WebhooksTest sends a test event.
type WebhooksTest struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksTest) Run(r *console.Console) error {
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.TestWebhook(ctx, c.ID)
	})
}

// WebhooksChallenge asks a pending webhook again whether it wants events.
type WebhooksChallenge struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksChallenge) Run(r *console.Console) error {
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.VerifyWebhook(ctx, c.ID)
	})
}

// WebhooksRetry sends a delivery again.
type WebhooksRetry struct {
	webhookFlags
	Delivery string `arg:"" optional:"" help:"Id of the delivery, as printed by webhooks deliveries; only the operator may leave it out."`
}

// Run is called by kong.
func (c *WebhooksRetry) Run(r *console.Console) error {
	if c.Delivery == "" {
		return errors.New("give the id of a delivery: see ushuru webhooks deliveries")
	}
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.Redeliver(ctx, c.ID, c.Delivery)
	})
}

// WebhooksDeliveries lists the deliveries of a webhook.
type WebhooksDeliveries struct{ webhookFlags }

// Run is called by kong.
func (c *WebhooksDeliveries) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := api.Deliveries(ctx, c.ID)
		if err != nil {
			return err
		}
		return printDeliveries(r, c.Format, all)
	})
}

// WebhooksFollow prints deliveries as they are made.
type WebhooksFollow struct {
	clientConfig
	ID string `arg:"" help:"Id of the webhook, as printed by webhooks list."`
}

// followInterval is how often the deliveries are read: the API has no stream of them.
const followInterval = 2 * time.Second

// followed is the number of earlier deliveries that are printed first.
const followed = 10

// Run is called by kong. It prints a delivery when it is made and whenever an attempt has
// ended, one per line.
func (c *WebhooksFollow) Run(r *console.Console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for seen := map[string]string{}; ; {
		all, err := api.Deliveries(r.Ctx, c.ID)
		if r.Ctx.Err() != nil {
			return nil // Ctrl-C is how it ends
		}
		if err != nil {
			return printError(r, err)
		}
		if len(seen) == 0 && len(all) > followed {
			for _, d := range all[followed:] {
				seen[d.ID] = deliveryLine(d)
			}
		}
		if err := printNew(r, all, seen); err != nil {
			return err
		}
		select {
		case <-r.Ctx.Done():
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
func printNew(r *console.Console, all []*client.Delivery, seen map[string]string) error {
	for _, d := range slices.Backward(all) {
		line := deliveryLine(d)
		if seen[d.ID] == line {
			continue
		}
		seen[d.ID] = line
		if _, err := fmt.Fprintln(r.Out, line); err != nil {
			return err
		}
	}
	return nil
}
