package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/keys"
	"ushuru/pkg/webhook"
)

// webhooksCommand is about the caller's webhooks; the operator asks and seals again those
// of all API keys.
type webhooksCommand struct {
	service.Webhooks

	Verify webhooksVerify `cmd:"" help:"Ask a pending webhook of any key again whether it wants events."`
	Reseal webhooksReseal `cmd:"" help:"Seal the secrets of all webhooks with the first key of SECRETS_KEY."`
}

type webhooksReseal struct {
	redisConfig
	secretsConfig
	console.Format
}

// Run is called by kong.
func (c *webhooksReseal) Run(r *run) error {
	if c.SecretsKey == "" {
		return console.Usage("set SECRETS_KEY: the key that is to seal, then the old ones")
	}
	store, all, err := r.webhooks(c.redisConfig, c.secretsConfig)
	if err != nil {
		return err
	}
	owners := make([]string, 0, len(all))
	for _, key := range all { // of revoked keys too
		owners = append(owners, key.ID)
	}
	n, err := store.Reseal(r.ctx, owners)
	if err != nil {
		return err
	}
	record := map[string]int{"webhooks": n.Endpoints, "sealed": n.Changed, "locked": n.Locked}
	err = console.Say(r.Streams, c.Format, record, "%d webhooks, %d sealed with the first key now", n.Endpoints, n.Changed)
	if n.Locked > 0 {
		err = errors.Join(err, fmt.Errorf("%d webhooks have a secret that no key of SECRETS_KEY opens", n.Locked))
	}
	return err
}

// webhooks returns the store of the webhooks, and all API keys, which own them.
func (r *run) webhooks(config redisConfig, secrets secretsConfig) (*webhook.Store, []keys.Key, error) {
	ring, err := secrets.ring()
	if err != nil {
		return nil, nil, err
	}
	conn, err := r.redis(config, false)
	if err != nil {
		return nil, nil, err
	}
	all, err := keys.NewStore(conn.Client()).List(r.ctx)
	return webhook.NewStore(conn.Client(), ring), all, err
}

type webhooksVerify struct {
	redisConfig
	console.Format

	Key     string `arg:"" help:"Id of the API key (see keys list)."`
	Webhook string `arg:"" help:"Id of the webhook."`
}

// Run is called by kong.
func (c *webhooksVerify) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	asked, err := webhook.NewStore(conn.Client(), nil).Verify(r.ctx, c.Key, c.Webhook, rand.Text(), time.Now())
	if err != nil {
		return err
	}
	return console.Say(r.Streams, c.Format, asked, "asked: a worker sends the challenge as delivery %s", asked.ID)
}
