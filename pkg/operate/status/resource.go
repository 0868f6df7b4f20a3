package status

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
)

// AI is the use of the AI.
type AI struct {
	ai.DayBudget // of this day in Dar es Salaam

	Models []Model `json:"models"` // those of the workers, and those that were called in the last 24 hours
}

// Percent returns the part of the budget that is used; 0 without a budget.
func (a AI) Percent() int { return percent(a.Used, a.Limit) }

// Model is one model in the last 24 hours.
type Model struct {
	Name     string           `json:"name"`
	OK       int64            `json:"ok"`
	Failed   map[string]int64 `json:"failed,omitempty"` // by kind of error
	Tokens   int64            `json:"tokens"`
	MedianMS int64            `json:"medianMs"`
	Failover int64            `json:"failover"` // calls because another model had failed
	InRow    int              `json:"inRow"`    // calls that have failed since the model last answered

	refused bool // the settings of the model were refused in this hour or the last
}

func (r *reading) aiPart(ctx context.Context) (AI, error) {
	var part AI
	called := r.calls(metrics.AI, isOK)
	var (
		names []string
		daily int64 // by the settings of the workers
	)
	for _, w := range r.alive {
		daily = max(daily, w.DailyTokens)
		names = append(names, w.Models...)
	}
	names = append(names, slices.Sorted(maps.Keys(called))...)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		what := metrics.What{Site: metrics.AI, Step: name}
		refused := metrics.What{Site: metrics.AI, Step: name, Code: string(ai.Misconfigured)}
		part.Models = append(part.Models, Model{
			Name: name, OK: called[name].OK, Failed: called[name].Failed, InRow: r.marks.InRow[name],
			Tokens:   r.day.Marked[metrics.What{Site: metrics.AI, Step: name, Code: metrics.Tokens}],
			Failover: r.day.Marked[metrics.What{Site: metrics.AI, Step: name, Code: metrics.Failover}],
			refused:  r.hours[0].Ended[refused]+r.hours[1].Ended[refused] > 0,
			MedianMS: r.day.Median(func(w metrics.What) bool { return w == what }).Milliseconds(),
		})
	}
	var err error
	part.DayBudget, err = ai.ReadBudget(ctx, r.redis, daily, r.now)
	return part, err
}

// isOK reports whether a call of a model or of a receiver was answered.
func isOK(code string) bool { return code == metrics.OK }

// Webhook is an endpoint of an API key.
type Webhook struct {
	Key      string `json:"key"`  // id of the API key
	Name     string `json:"name"` // of the key
	ID       string `json:"id"`
	Host     string `json:"host"` // of its URL, whose rest may be a secret
	State    string `json:"state"`
	Disabled string `json:"disabled,omitempty"` // why nothing is sent
	// Of the last 24 hours.
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`  // for the last time
	Retried   int64 `json:"retried"` // attempts that failed and are repeated
}

func (r *reading) webhookPart(ctx context.Context) ([]Webhook, error) {
	owners := make([]string, 0, len(r.issued))
	for _, key := range r.issued {
		owners = append(owners, key.ID)
	}
	endpoints, err := r.webhooks.ListOf(ctx, owners)
	if err != nil {
		return nil, err
	}
	counts := r.calls(metrics.Webhook, isOK)
	var all []Webhook
	for _, owner := range owners {
		for _, e := range endpoints[owner] {
			count := counts[e.ID]
			all = append(all, Webhook{
				Key: owner, Name: r.nameOf(owner), ID: e.ID, Host: hostOf(e.URL), State: string(e.State), Disabled: e.Disabled,
				Delivered: count.OK, Failed: count.Failed["given_up"] + count.Failed["gone"], Retried: count.Failed["retried"],
			})
		}
	}
	return all, nil
}

// Redis is the memory of Redis; of a cluster, that of the server with the least left.
type Redis struct {
	Used   int64  `json:"used"`  // bytes; 0 when the server does not tell
	Limit  int64  `json:"limit"` // 0: none
	Policy string `json:"policy,omitempty"`

	Refuses string `json:"refuses,omitempty"` // why it refuses writes
	Unsaved string `json:"unsaved,omitempty"` // the field of INFO that says that its disk was not written the last time

	Volatile bool  `json:"volatile,omitempty"` // it keeps no append-only file
	AheadMS  int64 `json:"aheadMs"`            // how far the clock of this process is ahead of that of Redis

	Loss *redisx.Loss `json:"loss,omitempty"` // of what it had acknowledged, found within a day
}

// Percent returns the part of the memory that is used; 0 without a limit.
func (r Redis) Percent() int { return percent(r.Used, r.Limit) }

// redisPart returns how Redis does, also with an error as far as it could be read.
func (r *reading) redisPart(ctx context.Context) (Redis, error) {
	memory, err := redisx.ReadMemory(ctx, r.redis)
	loss, lossErr := redisx.ReadLoss(ctx, r.redis)
	ahead, timeErr := ReadAhead(ctx, r.redis)
	part := Redis{
		Used: memory.Used, Limit: memory.Limit, Policy: memory.Policy, Loss: loss,
		Unsaved: memory.Unsaved, Volatile: memory.Volatile, AheadMS: ahead.Milliseconds(),
	}
	if refused := redisx.CheckWrite(ctx, r.redis); refused != nil {
		text := refused.Error()
		part.Refuses = text[:min(len(text), maxReason)]
	}
	return part, errors.Join(err, lossErr, timeErr)
}

// ReadAhead returns how far the clock of this process is ahead of that of Redis, which leases go by.
func ReadAhead(ctx context.Context, client redis.UniversalClient) (time.Duration, error) {
	begun := time.Now()
	at, err := client.Time(ctx).Result()
	if err != nil {
		return 0, err
	}
	return begun.Add(time.Since(begun) / 2).Sub(at), nil //nolint:mnd // the middle of the round trip
}

// maxReason is how much is shown of why Redis refuses a write, in bytes.
const maxReason = 100

// percent returns part of whole in percent; 0 when there is no whole.
func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}
