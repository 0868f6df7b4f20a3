package drift

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/duty"
	"ushuru/pkg/metrics"
	"ushuru/pkg/vehicle"
)

// Detector checks answers when they arrive and records the results in Redis.
type Detector struct {
	store   *Store
	options Options
}

// Options of a Detector. Redis and Log are required.
type Options struct {
	Redis   redis.UniversalClient
	Log     *slog.Logger
	Metrics *metrics.Metrics // nil counts nothing
	Now     func() time.Time // default time.Now
}

// The counters of answers, by rules and whether they agree, and of lines that differ.
const (
	countAnswers     = "authority_rules_answers_total"
	countDifferences = "authority_rules_differences_total"
)

// New returns a Detector, and makes the series that an alert needs with the value 0.
func New(o Options) *Detector {
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, rules := range rulesOf(o.Now()) {
		for _, agree := range []string{"yes", "no", "unjudged"} {
			o.Metrics.Begin(countAnswers, rules.From, agree)
		}
	}
	for _, line := range lineNames() {
		o.Metrics.Begin(countDifferences, line)
	}
	return &Detector{NewStore(o.Redis), o}
}

// OnAnswer checks an answer of the authority and records the result with its
// request. It logs its own errors, so that they do not fail the estimate.
func (d *Detector) OnAnswer(ctx context.Context, request any, tax vehicle.Tax) {
	now := d.options.Now()
	v := Check(tax, now)
	if !v.Judged {
		d.options.Metrics.Count(countAnswers, v.Rules, "unjudged")
		return
	}
	for _, rules := range rulesOf(now) {
		word := "no"
		if slices.Contains(v.AgreesWith, rules.From) {
			word = "yes"
		}
		d.options.Metrics.Count(countAnswers, rules.From, word)
	}
	for _, difference := range v.Differences {
		d.options.Metrics.Count(countDifferences, difference.Line)
	}
	if len(v.Differences) > 0 {
		d.options.Log.WarnContext(ctx, "answer differs from the rules in force", "rules", v.Rules,
			"agreesWith", v.AgreesWith, "differences", v.Differences, "reference", tax.ReferenceNumber)
	}
	data, err := json.Marshal(request)
	if err == nil {
		// The job of the answer may end before this is written.
		err = d.store.record(context.WithoutCancel(ctx), now, v, Sample{
			At: now.UTC(), Rules: v.Rules, AgreesWith: v.AgreesWith, Differences: v.Differences, Request: data, Response: tax,
		})
	}
	if err != nil {
		d.options.Log.WarnContext(ctx, "result of checking an answer not recorded", "error", err)
	}
}

// rulesOf returns the rules that answers of a day are compared with.
func rulesOf(on time.Time) []duty.Rules {
	inForce := duty.On(on)
	if before, ok := inForce.Before(); ok {
		return []duty.Rules{inForce, before}
	}
	return []duty.Rules{inForce}
}

// fingerprint returns a hash of the rules. The state starts again when it changes.
func fingerprint(on time.Time) string {
	text, err := json.Marshal(rulesOf(on))
	if err != nil {
		panic(fmt.Errorf("drift: %w", err)) // our own type
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
