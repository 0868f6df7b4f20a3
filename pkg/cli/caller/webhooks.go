package caller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Webhooks is about the caller's own webhooks.
type Webhooks struct {
	List       webhooksList       `cmd:"" help:"List your webhooks."`
	Show       webhooksShow       `cmd:"" help:"Print a webhook."`
	Create     webhooksCreate     `cmd:"" help:"Create a webhook. Its secret is shown once only."`
	Update     webhooksUpdate     `cmd:"" help:"Change the URL or the events of a webhook."`
	Cancel     webhooksCancel     `cmd:"" aliases:"delete" help:"Delete a webhook."`
	Rotate     webhooksRotate     `cmd:"" help:"Create a new secret. The old one stays valid for 24 hours."`
	Enable     webhooksEnable     `cmd:"" help:"Enable a disabled webhook."`
	Test       webhooksTest       `cmd:"" help:"Send the event webhook.test."`
	Challenge  webhooksChallenge  `cmd:"" help:"Ask your pending webhook again whether it wants events."`
	Deliveries webhooksDeliveries `cmd:"" help:"List the deliveries of a webhook, newest first."`
	Follow     webhooksFollow     `cmd:"" help:"Print the deliveries of a webhook as they are made, until Ctrl-C."`
	Retry      webhooksRetry      `cmd:"" help:"Send a delivery again."`
}

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
		{Name: "State", Value: webhookState(*hook)},
		{Name: "Created", Value: console.Time(hook.Created)},
		{Name: "Secret", Value: hook.Secret},
	})
}

func events(hook *client.Webhook) string { return strings.Join(hook.Events, ", ") }

func webhookState(hook client.Webhook) string {
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
		return printDeliveries(r, c.Format, []client.Delivery{*sent})
	})
}

func printDeliveries(r *console.Console, f console.Format, all []client.Delivery) error {
	return console.List(r.Streams, f, all, "ID\tEVENT\tSTATE\tTRIES\tCREATED\tLAST", func(d client.Delivery) []string {
		return []string{d.ID, d.Event, d.State, strconv.Itoa(d.Tries), console.Time(d.Created), lastAttempt(d)}
	})
}

// lastAttempt returns how the last attempt of a delivery ended.
func lastAttempt(d client.Delivery) string {
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
	clientConfig
	console.Format
}

// Run is called by kong.
func (c *webhooksList) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := api.Webhooks(ctx)
		if err != nil {
			return err
		}
		return console.List(r.Streams, c.Format, all, "ID\tURL\tEVENTS\tSTATE\tCREATED", func(w client.Webhook) []string {
			return []string{w.ID, w.URL, events(&w), webhookState(w), console.Time(w.Created)}
		})
	})
}

type webhooksShow struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksShow) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) { return api.Webhook(ctx, c.ID) })
}

type webhooksCreate struct {
	clientConfig
	console.Format
	Events []string `default:"job.completed,batch.completed" help:"Events: job.completed, batch.completed."`
	URL    string   `arg:"" name:"URL" help:"URL to notify; it begins with https://."`
}

// Run is called by kong.
func (c *webhooksCreate) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		hook, err := api.CreateWebhook(ctx, client.WebhookRequest{URL: c.URL, Events: c.Events})
		if err != nil {
			return err
		}
		return printWebhook(r, c.Format, hook)
	})
}

type webhooksUpdate struct {
	webhookFlags
	To     string   `placeholder:"URL" help:"The new URL. The webhook is pending again."`
	Events []string `placeholder:"EVENT" help:"The new events: job.completed, batch.completed."`
}

// Run is called by kong.
func (c *webhooksUpdate) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.UpdateWebhook(ctx, c.ID, client.WebhookRequest{URL: c.To, Events: c.Events})
	})
}

type webhooksCancel struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksCancel) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		if err := api.DeleteWebhook(ctx, c.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(r.Out, "deleted %s\n", c.ID)
		return err
	})
}

type webhooksRotate struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksRotate) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.RotateWebhook(ctx, c.ID)
	})
}

type webhooksEnable struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksEnable) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Webhook, error) {
		return api.EnableWebhook(ctx, c.ID)
	})
}

type webhooksTest struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksTest) Run(r *console.Console) error {
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.TestWebhook(ctx, c.ID)
	})
}

type webhooksChallenge struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksChallenge) Run(r *console.Console) error {
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.VerifyWebhook(ctx, c.ID)
	})
}

type webhooksRetry struct {
	webhookFlags
	Delivery string `arg:"" help:"Id of the delivery, as printed by webhooks deliveries."`
}

// Run is called by kong.
func (c *webhooksRetry) Run(r *console.Console) error {
	return c.delivery(r, func(ctx context.Context, api *client.Client) (*client.Delivery, error) {
		return api.Redeliver(ctx, c.ID, c.Delivery)
	})
}

type webhooksDeliveries struct{ webhookFlags }

// Run is called by kong.
func (c *webhooksDeliveries) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := api.Deliveries(ctx, c.ID)
		if err != nil {
			return err
		}
		return printDeliveries(r, c.Format, all)
	})
}

type webhooksFollow struct {
	clientConfig
	ID string `arg:"" help:"Id of the webhook, as printed by webhooks list."`
}

// followInterval is how often the deliveries are read: the API has no stream of them.
const followInterval = 2 * time.Second

// followed is the number of earlier deliveries that are printed first.
const followed = 10

// Run is called by kong. It prints a delivery when it is made and whenever an attempt has
// ended, one per line.
func (c *webhooksFollow) Run(r *console.Console) error {
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

func deliveryLine(d client.Delivery) string {
	return console.Printable(console.OneLine(console.Time(d.Created), d.ID, d.Event, d.State, "attempt "+strconv.Itoa(d.Tries),
		lastAttempt(d)))
}

// printNew prints the deliveries that have changed since they were seen, oldest first.
func printNew(r *console.Console, all []client.Delivery, seen map[string]string) error {
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
