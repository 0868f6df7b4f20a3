package drift

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/duty"
	"ushuru/pkg/vehicle"
)

// Detector checks answers when they arrive and records the results in Redis.
type Detector struct {
	store       *Store
	log         *slog.Logger
	now         func() time.Time
	answers     *prometheus.CounterVec // by rules and whether they agree
	differences *prometheus.CounterVec // by line
}

// Options of a Detector. Redis and Log are required.
type Options struct {
	Redis   redis.UniversalClient
	Log     *slog.Logger
	Metrics prometheus.Registerer // default none
	Now     func() time.Time      // default time.Now
}

// New returns a Detector.
func New(o Options) (*Detector, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Namespace: "ushuru", Subsystem: "authority", Name: name, Help: help}
		return prometheus.NewCounterVec(opts, labels)
	}
	d := &Detector{
		store: NewStore(o.Redis), log: o.Log, now: o.Now,
		answers: counter("rules_answers_total",
			"Answers by the dated rules (their first day) and whether these give them: yes, no, or unjudged.", "rules", "agree"),
		differences: counter("rules_differences_total",
			"Lines in which an answer is not what the rules in force give; the VAT and the totals follow the others.", "line"),
	}
	d.initCounters()
	if o.Metrics == nil {
		return d, nil
	}
	return d, errors.Join(o.Metrics.Register(d.answers), o.Metrics.Register(d.differences))
}

// initCounters makes the series that an alert needs with the value 0.
func (d *Detector) initCounters() {
	for _, rules := range rulesOf(d.now()) {
		for _, agree := range []string{"yes", "no", "unjudged"} {
			d.answers.WithLabelValues(rules.From, agree)
		}
	}
	for _, line := range lineNames() {
		d.differences.WithLabelValues(line)
	}
}

// OnAnswer checks an answer of the authority and records the result with its
// request. It logs its own errors, so that they do not fail the estimate.
func (d *Detector) OnAnswer(ctx context.Context, request any, tax vehicle.Tax) {
	now := d.now()
	v := Check(tax, now)
	if !v.Judged {
		d.answers.WithLabelValues(v.Rules, "unjudged").Inc()
		return
	}
	for _, rules := range rulesOf(now) {
		word := "no"
		if slices.Contains(v.AgreesWith, rules.From) {
			word = "yes"
		}
		d.answers.WithLabelValues(rules.From, word).Inc()
	}
	for _, difference := range v.Differences {
		d.differences.WithLabelValues(difference.Line).Inc()
	}
	if len(v.Differences) > 0 {
		d.log.WarnContext(ctx, "answer differs from the rules in force", "rules", v.Rules,
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
		d.log.WarnContext(ctx, "result of checking an answer not recorded", "error", err)
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
