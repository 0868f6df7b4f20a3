package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/keys"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate"
	"ushuru/pkg/pace"
)

// keysCommand manages API keys.
type keysCommand struct {
	Create keysCreate `cmd:"" help:"Create an API key. It is shown once only."`
	List   keysList   `cmd:"" help:"List API keys without their secrets."`
	Limit  keysLimit  `cmd:"" help:"Change limits of one key; what is not named stays."`
	Rotate keysRotate `cmd:"" help:"Replace an API key by a new one with its id, limits and work. It is shown once only."`
	Revoke keysRevoke `cmd:"" help:"Revoke an API key within a second, and end its jobs, batches and webhooks."`
}

// expiry is when a key expires: a day, or a time from now. The zero value is never.
type expiry time.Time

const day = 24 * time.Hour

// UnmarshalText is called by kong.
func (e *expiry) UnmarshalText(text []byte) error {
	value := string(text)
	if value == "never" {
		*e = expiry{}
		return nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, value, time.Local); err == nil { //nolint:gosmopolitan // of the operator
		*e = expiry(at)
		return nil
	}
	number, isDays := strings.CutSuffix(value, "d")
	days, err := strconv.Atoi(number)
	after := time.Duration(days) * day
	if !isDays || err != nil {
		after, err = time.ParseDuration(value)
	}
	if err != nil || after <= 0 || after > 100*365*day {
		return fmt.Errorf("%q is not a time; examples: 90d, 12h, 2027-01-31, never", value)
	}
	*e = expiry(time.Now().Add(after))
	return nil
}

type keysCreate struct {
	redisConfig
	console.Format

	Name    string `arg:"" help:"Owner or purpose of the key. No two valid keys have one name."`
	Expires expiry `placeholder:"WHEN" help:"When the key expires: 90d, 12h, 2027-01-31."`
}

// Run is called by kong.
func (c *keysCreate) Run(r *run) error {
	o, err := r.operator(c.redisConfig)
	if err != nil {
		return err
	}
	plain, key, err := o.CreateKey(r.ctx, c.Name, time.Time(c.Expires))
	if errors.Is(err, keys.ErrNameTaken) {
		return fmt.Errorf("another key is named %q; see ushuru keys list", c.Name)
	}
	if err != nil {
		return err
	}
	return r.printKey(c.Format, plain, key, fmt.Sprintf("Created key %s for %q%s.", key.ID, key.Name, until(key.Expires)))
}

// createdKey is a new key as the only time it is shown.
type createdKey struct {
	keys.Key

	Plain string `json:"key"`
}

// printKey prints a new key to standard output, and as text what it is to standard error.
func (r *run) printKey(f console.Format, plain string, key keys.Key, what string) error {
	if f.JSON() || f.CSV() {
		return console.Show(r.Streams, f, createdKey{key, plain}, []console.Field{
			{Name: "key", Value: plain},
			{Name: "id", Value: key.ID},
			{Name: "name", Value: key.Name},
			{Name: "expires", Value: console.Time(key.Expires)},
		})
	}
	if _, err := fmt.Fprintln(r.Out, plain); err != nil {
		return err
	}
	_, err := fmt.Fprintln(r.Err, what, "Copy it now; it cannot be shown again.")
	return err
}

func until(expires time.Time) string {
	if expires.IsZero() {
		return ""
	}
	return " until " + console.Time(expires)
}

type keysLimit struct {
	redisConfig
	console.Format

	ID         string    `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	Rate       *int      `help:"Requests per minute that start work; 0 restores the server's limit, as for those below."`
	Jobs       *int      `help:"Running jobs."`
	BatchItems *int      `help:"Listings in running batches."`
	Bytes      *byteSize `help:"Bytes that are kept because of the key, as 192MB."`
	AITokens   *int64    `name:"ai-tokens" help:"Tokens of the AI a day."`
	Expires    *expiry   `placeholder:"WHEN" help:"When the key expires: 90d, 12h, 2027-01-31, never."`
}

// Run is called by kong.
func (c *keysLimit) Run(r *run) error {
	o, err := r.operator(c.redisConfig)
	if err != nil {
		return err
	}
	key, err := o.LimitKey(r.ctx, c.ID, operate.LimitChange{
		PerMinute: c.Rate, Jobs: c.Jobs, BatchItems: c.BatchItems, Bytes: (*int64)(c.Bytes), AITokens: c.AITokens,
		Expires: (*time.Time)(c.Expires),
	})
	if err != nil {
		return noKey(c.ID, err)
	}
	return console.Say(r.Streams, c.Format, key, "limits of %s: %s%s", c.ID, limitsText(key.Limits), until(key.Expires))
}

type keysRotate struct {
	redisConfig
	console.Format

	ID    string        `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	Grace time.Duration `default:"24h" help:"For how long the old key stays valid too; 0s ends it at once."`
}

// Run is called by kong.
func (c *keysRotate) Run(r *run) error {
	o, err := r.operator(c.redisConfig)
	if err != nil {
		return err
	}
	plain, key, err := o.RotateKey(r.ctx, c.ID, c.Grace)
	if errors.Is(err, keys.ErrNotValid) {
		return fmt.Errorf("key %s is revoked or has expired", c.ID)
	}
	if err != nil {
		return noKey(c.ID, err)
	}
	old := "is valid" + until(key.OldUntil)
	if c.Grace <= 0 {
		old = "has ended"
	}
	return r.printKey(c.Format, plain, key, fmt.Sprintf("Rotated key %s of %q; the old one %s.", key.ID, key.Name, old))
}

// limitsText prints a key's own limits; - means the server's limit.
func limitsText(l pace.Limits) string {
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

// noKey returns the error of an action on a key: for an unknown id it says how to find the id.
func noKey(id string, err error) error {
	if errors.Is(err, operate.ErrNotFound) {
		return fmt.Errorf("no key has the id %q; see ushuru keys list", id)
	}
	return err
}

type keysList struct {
	redisConfig
	keyAIConfig
	console.Format
}

// listedKey is a key as the command prints it.
type listedKey struct {
	keys.Key

	LastUsed      time.Time `json:"lastUsed,omitzero"`
	KeptBytes     int64     `json:"keptBytes"`
	KeptLimit     int64     `json:"keptLimit,omitempty"` // that the API last applied
	AITokensToday int64     `json:"aiTokensToday"`
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
	usage, err := metrics.ReadUsage(r.ctx, conn.Client(), time.Now())
	if err != nil {
		return err
	}
	accounts := pace.NewAccounts(conn.Client(), pace.KindBytes)
	listed := make([]listedKey, 0, len(all))
	for _, key := range all {
		account, err := accounts.Read(r.ctx, pace.Holder{Whole: key.ID})
		if err != nil {
			return err
		}
		tokens, _, err := ai.KeyUsage(r.ctx, conn.Client(), key.ID, time.Now())
		if err != nil {
			return err
		}
		listed = append(listed, listedKey{key, usage[key.ID].LastUsed, account.Used, account.Limit, tokens})
	}
	const columns = "ID\tNAME\tENDS IN\tCREATED\tEXPIRES\tREVOKED\tLAST USED\tLIMITS\tKEPT\tAI TOKENS TODAY"
	return console.List(r.Streams, c.Format, listed, columns, func(key listedKey) []string {
		return []string{
			key.ID, key.Name, key.Hint, console.Time(key.Created), console.Time(key.Expires), console.Time(key.Revoked),
			console.Time(key.LastUsed), limitsText(key.Limits),
			keptText(key.KeptBytes, key.KeptLimit), tokensText(key.AITokensToday, cmp.Or(key.Limits.AITokens, c.KeyAITokens)),
		}
	})
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
func keptText(used, limit int64) string {
	if limit == 0 {
		return byteSize(used).String()
	}
	return fmt.Sprintf("%s of %s", byteSize(used), byteSize(limit))
}

type keysRevoke struct {
	redisConfig
	console.Format

	ID       string `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	KeepWork bool   `help:"Let its jobs and batches go on, and keep its webhooks."`
}

// Run is called by kong.
func (c *keysRevoke) Run(r *run) error {
	o, err := r.operator(c.redisConfig)
	if err != nil {
		return err
	}
	stopped, err := o.RevokeKey(r.ctx, c.ID, c.KeepWork)
	if err != nil {
		return noKey(c.ID, err)
	}
	return console.Show(r.Streams, c.Format, stopped, []console.Field{
		{Name: "Revoked", Value: c.ID},
		{Name: "Batches", Value: fmt.Sprintf("%d cancelled", stopped.Batches)},
		{Name: "Jobs", Value: fmt.Sprintf("%d cancelled", stopped.Jobs)},
		{Name: "Webhooks", Value: fmt.Sprintf("%d deleted", stopped.Webhooks)},
		{Name: "Go on", Value: strings.Join(stopped.Shared, " ")}, // for others
	})
}
