package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keyActions = "operator:actions" // list of the last actions, newest first
	maxActions = 1000
	actionsTTL = 90 * 24 * time.Hour
)

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
