// Package operate is what an operator does to a running service, over Redis: it lists,
// stops, retries and removes the work of all API keys, and changes keys and limits. The
// commands and the console call it. Every action is logged with who did it, and the last
// ones are kept in Redis.
//
// What ends or deletes something works while Redis has no memory left.
package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// ErrNotFound means that there is no job, batch, webhook or key with the id.
var ErrNotFound = errors.New("operate: there is none with that id")

const (
	keyActions = "operator:actions" // list of the last actions, newest first
	maxActions = 1000
	actionsTTL = 90 * 24 * time.Hour
)

// Options of an Operator. Redis is required.
type Options struct {
	Redis redis.UniversalClient // it stays the caller's
	Log   *slog.Logger          // gets every action; nil discards them
	Who   string                // who acts, as "juma@server"
	// AllowLoopback admits URLs of this machine, as in the API.
	AllowLoopback bool
}

// Operator acts for a person. It is safe for concurrent use.
type Operator struct {
	options  Options
	jobs     *jobs.Store
	engine   *tasks.Engine
	batches  *batch.Store
	webhooks *webhook.Store
	keys     *keys.Store
	tra      *tra.Store
}

// New returns an Operator.
func New(o Options) *Operator {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	records, webhooks := jobs.NewStore(o.Redis), webhook.NewStore(o.Redis, nil)
	return &Operator{
		options: o, jobs: records, webhooks: webhooks, batches: batch.NewStore(o.Redis), keys: keys.NewStore(o.Redis),
		engine: tasks.New(tasks.Options{Redis: o.Redis, Jobs: records, Results: cache.New(o.Redis), Webhooks: webhooks}),
		tra:    tra.NewStore(o.Redis, tra.StoreOptions{}),
	}
}

// As returns the same Operator for another person.
func (o *Operator) As(who string) *Operator {
	other := *o
	other.options.Who = who
	return &other
}

// Status returns what an operator wants to know of the service.
func (o *Operator) Status(ctx context.Context) (status.Status, error) {
	return status.New(status.Options{Redis: o.options.Redis}).Read(ctx)
}

// unlessFull returns an error unless it means that Redis has no memory. What is deleted then
// is deleted all the same, and what follows the workers do when there is room again.
func unlessFull(err error) error {
	if redisx.IsFull(err) {
		return nil
	}
	return err
}

// notFound returns ErrNotFound in place of that of a store.
func notFound(err error) error {
	for _, none := range []error{jobs.ErrNotFound, batch.ErrNotFound, webhook.ErrNotFound, keys.ErrNotFound} {
		if errors.Is(err, none) {
			return ErrNotFound
		}
	}
	return err
}

// owners returns one API key, or with "" the ids of all that own work: every API key, also one
// that is revoked, the operator and the visitors without one.
func (o *Operator) owners(ctx context.Context, key string) ([]string, error) {
	if key != "" {
		return []string{key}, nil
	}
	ids, err := o.keys.IDs(ctx)
	return append(ids, pace.Operator, pace.Anonymous), err
}

// Action is what an operator did.
type Action struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Action string    `json:"action"` // the name of the command: "jobs cancel"
	Target string    `json:"target"` // the id, host or URL
	Error  string    `json:"error,omitempty"`
}

// Actions returns the last actions of all operators, newest first.
func (o *Operator) Actions(ctx context.Context, limit int) ([]Action, error) {
	lines, err := o.options.Redis.LRange(ctx, keyActions, 0, int64(limit)-1).Result()
	if err != nil {
		return nil, fmt.Errorf("operate: actions: %w", err)
	}
	actions := make([]Action, 0, len(lines))
	for _, line := range lines {
		var a Action
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return nil, fmt.Errorf("operate: actions: %w", err)
		}
		actions = append(actions, a)
	}
	return actions, nil
}

// act does something and records it: in the log always, in Redis when that takes writes.
func act[T any](ctx context.Context, o *Operator, action, target string, do func() (T, error)) (T, error) {
	result, err := do()
	a := Action{At: time.Now().UTC().Truncate(time.Second), Who: o.options.Who, Action: action, Target: target}
	level, values := slog.LevelInfo, []any{"action", a.Action, "target", a.Target, "who", a.Who}
	if err != nil {
		a.Error, level, values = err.Error(), slog.LevelWarn, append(values, "error", err)
	}
	o.options.Log.Log(ctx, level, "operator action", values...)
	line, encodeErr := json.Marshal(a)
	if encodeErr != nil {
		return result, errors.Join(err, encodeErr)
	}
	_, _ = o.options.Redis.Pipelined(context.WithoutCancel(ctx), func(pipe redis.Pipeliner) error {
		pipe.LPush(ctx, keyActions, line)
		pipe.LTrim(ctx, keyActions, 0, maxActions-1)
		pipe.Expire(ctx, keyActions, actionsTTL)
		return nil
	}) // a full Redis keeps no action, and the log has it
	return result, err
}

// do is act for an action without a result.
func (o *Operator) do(ctx context.Context, action, target string, do func() error) error {
	_, err := act(ctx, o, action, target, func() (struct{}, error) { return struct{}{}, do() })
	return err
}
