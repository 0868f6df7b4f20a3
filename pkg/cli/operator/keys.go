package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/keys"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate"
	"ushuru/pkg/pace"
)

// Keys is about API keys.
type Keys struct {
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
	service.Action

	Name    string `arg:"" help:"Owner or purpose of the key. No two valid keys have one name."`
	Expires expiry `placeholder:"WHEN" help:"When the key expires: 90d, 12h, 2027-01-31."`
}

// Run is called by kong.
func (c *keysCreate) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		plain, key, err := o.CreateKey(ctx, c.Name, time.Time(c.Expires))
		if errors.Is(err, keys.ErrNameTaken) {
			err = fmt.Errorf("another key is named %q; see ushuru keys list", c.Name)
		}
		what := fmt.Sprintf("Created key %s for %q%s.", key.ID, key.Name, until(key.Expires))
		return console.After(created(plain, key, what), err)
	})
}

// createdKey is a new key as the only time it is shown.
type createdKey struct {
	keys.Key

	Plain string `json:"key"`
}

// created prints a new key to standard output, and as text what it is to standard error.
func created(plain string, key keys.Key, what string) console.Printed {
	record := console.Record(createdKey{key, plain}, "key", plain, "id", key.ID, "name", key.Name, "expires", key.Expires)
	return func(out console.Streams, f console.Format) error {
		if f.JSON() || f.CSV() {
			return record(out, f)
		}
		if _, err := fmt.Fprintln(out.Out, plain); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out.Err, what, "Copy it now; it cannot be shown again.")
		return err
	}
}

func until(expires time.Time) string {
	if expires.IsZero() {
		return ""
	}
	return " until " + console.Time(expires)
}

type keysLimit struct {
	service.Action

	ID         string        `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	Rate       *int          `help:"Requests per minute that start work; 0 restores the server's limit, as for those below."`
	Jobs       *int          `help:"Running jobs."`
	BatchItems *int          `help:"Listings in running batches."`
	Bytes      *console.Size `help:"Bytes that are kept because of the key, as 192MB."`
	AITokens   *int64        `name:"ai-tokens" help:"Tokens of the AI a day."`
	Expires    *expiry       `placeholder:"WHEN" help:"When the key expires: 90d, 12h, 2027-01-31, never."`
}

// Run is called by kong.
func (c *keysLimit) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		key, err := o.LimitKey(ctx, c.ID, operate.LimitChange{
			PerMinute: c.Rate, Jobs: c.Jobs, BatchItems: c.BatchItems, Bytes: (*int64)(c.Bytes), AITokens: c.AITokens,
			Expires: (*time.Time)(c.Expires),
		})
		said := console.Said(key, "limits of %s: %s%s", c.ID, limitsText(key.Limits), until(key.Expires))
		return console.After(said, noKey(c.ID, err))
	})
}

type keysRotate struct {
	service.Action

	ID    string        `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	Grace time.Duration `default:"24h" help:"For how long the old key stays valid too; 0s ends it at once."`
}

// Run is called by kong.
func (c *keysRotate) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		plain, key, err := o.RotateKey(ctx, c.ID, c.Grace)
		if errors.Is(err, keys.ErrNotValid) {
			err = fmt.Errorf("key %s is revoked or has expired", c.ID)
		}
		old := "is valid" + until(key.OldUntil)
		if c.Grace <= 0 {
			old = "has ended"
		}
		what := fmt.Sprintf("Rotated key %s of %q; the old one %s.", key.ID, key.Name, old)
		return console.After(created(plain, key, what), noKey(c.ID, err))
	})
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
		bytes = console.Size(l.Bytes).String()
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
	service.Redis
	service.KeyBudget
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
func (c *keysList) Run(s *service.Session) error {
	conn, err := s.Connect(c.Redis)
	if err != nil {
		return err
	}
	all, err := keys.NewStore(conn.Client()).List(s.Ctx)
	if err != nil {
		return err
	}
	usage, err := metrics.ReadUsage(s.Ctx, conn.Client(), time.Now())
	if err != nil {
		return err
	}
	accounts := pace.NewAccounts(conn.Client(), pace.KindBytes)
	listed := make([]listedKey, 0, len(all))
	for _, key := range all {
		account, err := accounts.Read(s.Ctx, pace.Holder{Whole: key.ID})
		if err != nil {
			return err
		}
		tokens, _, err := ai.KeyUsage(s.Ctx, conn.Client(), key.ID, time.Now())
		if err != nil {
			return err
		}
		listed = append(listed, listedKey{key, usage[key.ID].LastUsed, account.Used, account.Limit, tokens})
	}
	const columns = "ID\tNAME\tENDS IN\tCREATED\tEXPIRES\tREVOKED\tLAST USED\tLIMITS\tKEPT\tAI TOKENS TODAY"
	return console.Listed(columns, func(key listedKey) []any {
		return []any{
			key.ID, key.Name, key.Hint, key.Created, key.Expires, key.Revoked, key.LastUsed, limitsText(key.Limits),
			keptText(key.KeptBytes, key.KeptLimit), service.Used(key.AITokensToday, cmp.Or(key.Limits.AITokens, c.KeyAITokens)),
		}
	})(listed)(s.Streams, c.Format)
}

// keptText prints what is kept because of a key, and the limit that the API last
// applied.
func keptText(used, limit int64) string {
	if limit == 0 {
		return console.Size(used).String()
	}
	return fmt.Sprintf("%s of %s", console.Size(used), console.Size(limit))
}

type keysRevoke struct {
	service.Action

	ID       string `arg:"" name:"id" help:"Id of the key, as printed by keys list."`
	KeepWork bool   `help:"Let its jobs and batches go on, and keep its webhooks."`
}

// Run is called by kong.
func (c *keysRevoke) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		stopped, err := o.RevokeKey(ctx, c.ID, c.KeepWork)
		ended := console.Record(stopped, "Revoked", c.ID, "Batches", fmt.Sprintf("%d cancelled", stopped.Batches),
			"Jobs", fmt.Sprintf("%d cancelled", stopped.Jobs), "Webhooks", fmt.Sprintf("%d deleted", stopped.Webhooks),
			"Go on", strings.Join(stopped.Shared, " ")) // for others
		return console.After(ended, noKey(c.ID, err))
	})
}
