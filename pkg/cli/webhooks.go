package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"ushuru/pkg/cli/operator"
	"ushuru/pkg/keys"
	"ushuru/pkg/webhook"
)

// webhooksCommand is about the caller's webhooks; the operator saves those of all API
// keys.
type webhooksCommand struct {
	operator.Webhooks

	Export webhooksExport `cmd:"" help:"Write the webhooks of all API keys, with their secrets, to a new file."`
	Import webhooksImport `cmd:"" help:"Add the webhooks of an export that do not exist. Import the keys first."`
	Verify webhooksVerify `cmd:"" help:"Ask a pending webhook of any key again whether it wants events."`
	Reseal webhooksReseal `cmd:"" help:"Seal the secrets of all webhooks with the first key of SECRETS_KEY."`
}

// secretFile is the mode of a file with secrets; othersMode are the bits that it lacks.
const (
	secretFile fs.FileMode = 0o600
	othersMode fs.FileMode = 0o077
)

type webhooksExport struct {
	redisConfig
	secretsConfig
	File string `arg:"" help:"File to create."`
}

// Run is called by kong.
func (c *webhooksExport) Run(r *run) error {
	store, all, err := r.webhooks(c.redisConfig, c.secretsConfig)
	if err != nil {
		return err
	}
	var owners []string
	for _, key := range all {
		if key.Revoked.IsZero() {
			owners = append(owners, key.ID)
		}
	}
	file, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, secretFile)
	if err != nil {
		return err
	}
	n, err := store.Export(r.ctx, owners, file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil { // a part of a backup is none
		return errors.Join(err, os.Remove(c.File))
	}
	_, err = fmt.Fprintf(r.Err, "exported %d webhooks. The file is SECRET: who has it can send forged events.\n", n)
	return err
}

type webhooksImport struct {
	redisConfig
	secretsConfig
	File string `arg:"" help:"File that export has written." type:"existingfile"`
}

// Run is called by kong.
func (c *webhooksImport) Run(r *run) error {
	if c.SecretsKey == "" && r.common.production() {
		return errSecretsKeyMissing
	}
	store, all, err := r.webhooks(c.redisConfig, c.secretsConfig)
	if err != nil {
		return err
	}
	valid := map[string]bool{}
	for _, key := range all {
		valid[key.ID] = key.Revoked.IsZero()
	}
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Mode()&othersMode != 0 {
		_, _ = fmt.Fprintf(r.Err, "%s has secrets and others can read it: chmod 600\n", c.File)
	}
	present, keyless, err := store.Import(r.ctx, file, func(owner string) bool { return valid[owner] })
	_, printErr := fmt.Fprintf(r.Out, "%d webhooks of the file are there, %d have no valid key and were left out\n",
		present, keyless)
	return errors.Join(err, printErr)
}

type webhooksReseal struct {
	redisConfig
	secretsConfig
}

// Run is called by kong.
func (c *webhooksReseal) Run(r *run) error {
	if c.SecretsKey == "" {
		return errors.New("set SECRETS_KEY: the key that is to seal, then the old ones")
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
	_, err = fmt.Fprintf(r.Out, "%d webhooks, %d sealed with the first key now\n", n.Endpoints, n.Changed)
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
	_, err = fmt.Fprintf(r.Out, "asked: a worker sends the challenge as delivery %s\n", asked.ID)
	return err
}
