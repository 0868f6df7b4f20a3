package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/keys"
	"ushuru/pkg/quota"
)

// keysCommand manages API keys.
type keysCommand struct {
	Create keysCreate `cmd:"" help:"Create an API key. It is shown once only."`
	List   keysList   `cmd:"" help:"List API keys without their secrets."`
	Limit  keysLimit  `cmd:"" help:"Set limits of one key; omitted ones fall back to the server's."`
	Revoke keysRevoke `cmd:"" help:"Revoke an API key within a second."`
	Export keysExport `cmd:"" help:"Write the records of all API keys, with hashes and without the keys, as JSON lines."`
	Import keysImport `cmd:"" help:"Add the keys of an export, read from standard input, that do not exist."`
}

type keysCreate struct {
	redisConfig
	Name string `arg:"" help:"Owner or purpose of the key."`
}

// Run is called by kong.
func (c *keysCreate) Run(r *run) error {
	store, err := r.keys(c.redisConfig)
	if err != nil {
		return err
	}
	plain, key, err := store.Create(r.ctx, c.Name)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(r.Out, plain); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Err, "Created key %s for %q. Copy it now; it cannot be shown again.\n", key.ID, key.Name)
	return err
}

type keysLimit struct {
	redisConfig
	ID         string   `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	Rate       int      `help:"Requests per minute that start work."`
	Jobs       int      `help:"Running jobs."`
	BatchItems int      `help:"Listings in running batches."`
	Bytes      byteSize `help:"Bytes that are kept because of the key, as 192MB."`
	AITokens   int64    `name:"ai-tokens" help:"Tokens of the AI a day."`
}

// Run is called by kong.
func (c *keysLimit) Run(r *run) error {
	if min(c.Rate, c.Jobs, c.BatchItems) < 0 || c.AITokens < 0 {
		return errors.New("a limit must not be negative; 0 means the server's limit")
	}
	store, err := r.keys(c.redisConfig)
	if err != nil {
		return err
	}
	limits := quota.Limits{PerMinute: c.Rate, Jobs: c.Jobs, BatchItems: c.BatchItems, Bytes: int64(c.Bytes), AITokens: c.AITokens}
	err = store.Limit(r.ctx, c.ID, limits)
	if err != nil {
		return noKey(c.ID, err)
	}
	_, err = fmt.Fprintf(r.Out, "limits of %s: %s\n", c.ID, limitsText(limits))
	return err
}

// limitsText prints a key's own limits; - means the server's limit.
func limitsText(l quota.Limits) string {
	text := func(n int) string {
		if n == 0 {
			return "-"
		}
		return strconv.Itoa(n)
	}
	bytes := "-"
	if l.Bytes > 0 {
		bytes = byteSize(l.Bytes).String()
	}
	return fmt.Sprintf("%s a minute, %s jobs, %s batch items, %s, %s AI tokens a day",
		text(l.PerMinute), text(l.Jobs), text(l.BatchItems), bytes, text(int(l.AITokens)))
}

// noKey returns the error of a key: one that says how to find its id when there is none.
func noKey(id string, err error) error {
	if errors.Is(err, keys.ErrNotFound) {
		return fmt.Errorf("no key has the id %q; see ushuru keys list", id)
	}
	return err
}

// keys returns the API keys.
func (r *run) keys(config redisConfig) (*keys.Store, error) {
	conn, err := r.redis(config, false)
	if err != nil {
		return nil, err
	}
	return keys.NewStore(conn.Client()), nil
}

type keysList struct {
	redisConfig
	keyAIConfig
}

// Run is called by kong.
func (c *keysList) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	all, err := keys.NewStore(conn.Client()).List(r.ctx)
	if err != nil {
		return err
	}
	accounts := quota.NewBytes(conn.Client())
	rows := make([][]string, 0, len(all))
	for _, key := range all {
		account, err := accounts.Read(r.ctx, key.ID)
		if err != nil {
			return err
		}
		tokens, _, err := ai.KeyUsage(r.ctx, conn.Client(), key.ID, time.Now())
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			key.ID, key.Name, key.Hint, console.Time(key.Created), console.Time(key.Revoked), limitsText(key.Limits),
			keptText(account), tokensText(tokens, cmp.Or(key.Limits.AITokens, c.KeyAITokens)),
		})
	}
	return console.Table(r.Streams, "ID\tNAME\tENDS IN\tCREATED\tREVOKED\tLIMITS\tKEPT\tAI TOKENS TODAY", rows)
}

// tokensText prints the tokens of the AI that a key has used today, of how many.
func tokensText(used, limit int64) string {
	if limit == 0 {
		return strconv.FormatInt(used, 10)
	}
	return fmt.Sprintf("%d of %d (%d %%)", used, limit, used*100/limit) //nolint:mnd // percent
}

// keptText prints what is kept because of a key, and the limit that the API last
// applied.
func keptText(account quota.Account) string {
	if account.Limit == 0 {
		return byteSize(account.Used).String()
	}
	return fmt.Sprintf("%s of %s", byteSize(account.Used), byteSize(account.Limit))
}

type keysRevoke struct {
	redisConfig
	ID string `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
}

// Run is called by kong.
func (c *keysRevoke) Run(r *run) error {
	store, err := r.keys(c.redisConfig)
	if err != nil {
		return err
	}
	err = store.Revoke(r.ctx, c.ID)
	if err != nil {
		return noKey(c.ID, err)
	}
	_, err = fmt.Fprintf(r.Out, "revoked %s\n", c.ID)
	return err
}

type keysExport struct{ redisConfig }

// Run is called by kong.
func (c *keysExport) Run(r *run) error {
	store, err := r.keys(c.redisConfig)
	if err != nil {
		return err
	}
	n, err := store.Export(r.ctx, r.Out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Err, "exported %d keys\n", n)
	return err
}

type keysImport struct{ redisConfig }

// Run is called by kong.
func (c *keysImport) Run(r *run) error {
	store, err := r.keys(c.redisConfig)
	if err != nil {
		return err
	}
	n, err := store.Import(r.ctx, r.In)
	_, printErr := fmt.Fprintf(r.Out, "imported %d keys\n", n)
	return errors.Join(err, printErr)
}
