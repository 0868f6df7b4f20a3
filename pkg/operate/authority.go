package operate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
)

// ResetBreaker has the workers that call TRA close their breakers and end their pauses
// after refusals, within 4 s.
func (o *Operator) ResetBreaker(ctx context.Context) error {
	return o.do(ctx, "breaker reset", "", func() error { return o.tra.ResetBreakers(ctx) })
}

// Sync has a worker copy TRA's makes and labels now, and returns the id of the request, with
// which SyncOutcome returns the outcome.
func (o *Operator) Sync(ctx context.Context, options tra.SyncOptions) (id string, err error) {
	target := "all"
	if options.Accept {
		target += ", unusual lists too"
	}
	return act(ctx, o, "authority sync", target, func() (string, error) { return o.tra.RequestSync(ctx, options) })
}

// SyncOutcome returns the outcome of a sync; nil while it has none.
func (o *Operator) SyncOutcome(ctx context.Context, id string) (*tra.SyncOutcome, error) {
	return o.tra.RequestedSync(ctx, id)
}

// AIBudget returns the budget of this day. The limit is that of the workers that have an AI, or
// daily when none lives.
func (o *Operator) AIBudget(ctx context.Context, daily int64) (ai.DayBudget, error) {
	alive, _, err := o.jobs.Workers(ctx)
	if err != nil {
		return ai.DayBudget{}, err
	}
	alive = slices.DeleteFunc(alive, func(w jobs.Worker) bool { return len(w.Models) == 0 })
	for i, worker := range alive {
		if i == 0 || worker.DailyTokens > daily {
			daily = worker.DailyTokens
		}
	}
	return ai.ReadBudget(ctx, o.options.Redis, daily, time.Now())
}

// ErrBudget means that a budget is negative.
var ErrBudget = errors.New("operate: a budget must not be negative; 0 means no limit")

// SetAIBudget sets the limit of this day for all workers, in place of that of the settings;
// 0 is no limit.
func (o *Operator) SetAIBudget(ctx context.Context, tokens int64) error {
	return o.do(ctx, "ai budget", strconv.FormatInt(tokens, 10), func() error {
		if tokens < 0 {
			return ErrBudget
		}
		return ai.SetBudget(ctx, o.options.Redis, tokens, time.Now())
	})
}

// ResetAIBudget restores the limit of the settings for this day.
func (o *Operator) ResetAIBudget(ctx context.Context) error {
	return o.do(ctx, "ai budget", "reset", func() error { return ai.ResetBudget(ctx, o.options.Redis, time.Now()) })
}
