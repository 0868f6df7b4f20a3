package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"ushuru/pkg/keys"
)

// keysCommand is what the operator does with API keys.
type keysCommand struct {
	Create keysCreate `cmd:"" help:"Issue a key. It is printed once and cannot be printed again."`
	List   keysList   `cmd:"" help:"List all keys, without the keys themselves."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key, at once."`
}

type keysCreate struct {
	redisConfig
	Name string `arg:"" help:"Whom or what the key is for."`
}

// Run is called by kong.
func (c *keysCreate) Run(r *run) error {
	defer r.close()
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	plain, key, err := keys.NewStore(conn.Client()).Create(r.ctx, c.Name)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(r.Out, plain); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Err, "Key %s for %q. It is stored nowhere: hand it over now.\n", key.ID, key.Name)
	return err
}

type keysList struct{ redisConfig }

// Run is called by kong.
func (c *keysList) Run(r *run) error {
	defer r.close()
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	all, err := keys.NewStore(conn.Client()).List(r.ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tNAME\tENDS IN\tCREATED\tREVOKED")
	for _, key := range all {
		revoked := "-"
		if !key.Revoked.IsZero() {
			revoked = key.Revoked.Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", key.ID, key.Name, key.Hint, key.Created.Format(time.RFC3339), revoked)
	}
	return table.Flush()
}

type keysRevoke struct {
	redisConfig
	ID string `arg:"" name:"id" help:"Id of the key, as keys list prints it."`
}

// Run is called by kong.
func (c *keysRevoke) Run(r *run) error {
	defer r.close()
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	err = keys.NewStore(conn.Client()).Revoke(r.ctx, c.ID)
	if errors.Is(err, keys.ErrNotFound) {
		return fmt.Errorf("there is no key with the id %q; keys list prints them", c.ID)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Out, "revoked %s\n", c.ID)
	return err
}
