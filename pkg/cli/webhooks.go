package cli

import (
	"errors"
	"fmt"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/keys"
	"ushuru/pkg/webhook"
)

// webhooksCommand is about the caller's webhooks; the operator seals those of all API
// keys again.
type webhooksCommand struct {
	service.Webhooks

	Reseal webhooksReseal `cmd:"" help:"Seal the secrets of all webhooks with the first key of SECRETS_KEY."`
}

type webhooksReseal struct {
	service.Redis
	secretsConfig
	console.Format
}

// Run is called by kong.
func (c *webhooksReseal) Run(r *run) error {
	if c.SecretsKey == "" {
		return console.Usage("set SECRETS_KEY: the key that is to seal, then the old ones")
	}
	ring, err := c.ring()
	if err != nil {
		return err
	}
	conn, err := r.connect(c.Redis, false, false)
	if err != nil {
		return err
	}
	owners, err := keys.NewStore(conn.Client()).IDs(r.ctx) // of revoked keys too
	if err != nil {
		return err
	}
	n, err := webhook.NewStore(conn.Client(), ring).Reseal(r.ctx, owners)
	if err != nil {
		return err
	}
	record := map[string]int{"webhooks": n.Endpoints, "sealed": n.Changed, "locked": n.Locked}
	said := console.Said(record, "%d webhooks, %d sealed with the first key now", n.Endpoints, n.Changed)
	err = said(r.Streams, c.Format)
	if n.Locked > 0 {
		err = errors.Join(err, fmt.Errorf("%d webhooks have a secret that no key of SECRETS_KEY opens", n.Locked))
	}
	return err
}
