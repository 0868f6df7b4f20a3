package drift

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
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

// Store stores the state and the samples in Redis.
type Store struct{ redis redis.UniversalClient }

const (
	keyState   = "tra:{drift}:state"   // hash: see scriptRecord
	keySamples = "tra:{drift}:samples" // list of Samples, the last first
	maxSamples = 100

	// agreeAfter is how long no answer may differ before the rules agree again:
	// answers of one kind of car may differ among many that do not.
	agreeAfter = 7 * 24 * time.Hour
	// expires is the TTL of a state without new answers.
	expires = 120 * 24 * time.Hour
)

// NewStore returns a Store. It does not close the client.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

// State is the part of /v1/tra-status about the rules.
type State struct {
	// RulesAgree is null when no answer was checked; false from an answer that
	// differs until no answer has differed for a week, or the rules were corrected.
	RulesAgree *bool      `json:"rulesAgree"`
	Since      *time.Time `json:"since"`           // of RulesAgree
	Rules      string     `json:"rules,omitempty"` // first day of the rules in force that answers were compared with
	// AgreesWith are the first days of the rules that gave the last answer
	// that could tell those in force from those before.
	AgreesWith     []string     `json:"agreesWith"`
	Checked        int64        `json:"checked"`  // answers under these rules
	Differed       int64        `json:"differed"` // of them
	CheckedAt      *time.Time   `json:"checkedAt"`
	LastDifference *Differences `json:"lastDifference"`
}

// Differences are those of one answer.
type Differences struct {
	At              time.Time    `json:"at"`
	ReferenceNumber string       `json:"referenceNumber"`
	Lines           []Difference `json:"lines"`
}

// Sample is an answer that differs.
type Sample struct {
	At          time.Time       `json:"at"`
	Rules       string          `json:"rules"`
	AgreesWith  []string        `json:"agreesWith"`
	Differences []Difference    `json:"differences"`
	Request     json.RawMessage `json:"request"`
	Response    vehicle.Tax     `json:"response"` // the authority's figures
}

// State returns the state of the answers so far.
func (s *Store) State(ctx context.Context) (State, error) {
	fields, err := s.redis.HGetAll(ctx, keyState).Result()
	if err != nil {
		return State{}, fmt.Errorf("drift: state: %w", err)
	}
	state := State{
		Rules: fields["rules"], AgreesWith: strings.Fields(fields["with"]),
		Since: timeOf(fields["since"]), CheckedAt: timeOf(fields["checkedAt"]),
	}
	if agree, ok := fields["agree"]; ok {
		state.RulesAgree = new(bool)
		*state.RulesAgree = agree == "1"
	}
	state.Checked, _ = strconv.ParseInt(fields["checked"], 10, 64)
	state.Differed, _ = strconv.ParseInt(fields["differed"], 10, 64)
	if last := fields["last"]; last != "" {
		state.LastDifference = new(Differences)
		if err := json.Unmarshal([]byte(last), state.LastDifference); err != nil {
			return State{}, fmt.Errorf("drift: last difference: %w", err)
		}
	}
	return state, nil
}

// Samples returns the answers that differ, the last first, at most a hundred.
func (s *Store) Samples(ctx context.Context) ([]Sample, error) {
	stored, err := s.redis.LRange(ctx, keySamples, 0, maxSamples-1).Result()
	if err != nil {
		return nil, fmt.Errorf("drift: samples: %w", err)
	}
	samples := make([]Sample, len(stored))
	for i, data := range stored {
		if err := json.Unmarshal([]byte(data), &samples[i]); err != nil {
			return nil, fmt.Errorf("drift: sample %d: %w", i, err)
		}
	}
	return samples, nil
}

// record adds an answer to the state, and to the samples when it differs.
func (s *Store) record(ctx context.Context, now time.Time, v Result, sample Sample) error {
	differs := len(v.Differences) > 0
	last, err := json.Marshal(Differences{At: sample.At, ReferenceNumber: sample.Response.ReferenceNumber, Lines: v.Differences})
	if err != nil {
		return fmt.Errorf("drift: %w", err)
	}
	err = scriptRecord.Run(ctx, s.redis, []string{keyState}, fingerprint(now), v.Rules, now.UnixMilli(),
		agreeAfter.Milliseconds(), differs, v.Discriminating, strings.Join(v.AgreesWith, " "), last, int(expires.Seconds())).Err()
	if err != nil {
		return fmt.Errorf("drift: record an answer: %w", err)
	}
	if !differs {
		return nil
	}
	data, err := json.Marshal(sample)
	if err != nil {
		return fmt.Errorf("drift: %w", err)
	}
	_, err = s.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.LPush(ctx, keySamples, data)
		p.LTrim(ctx, keySamples, 0, maxSamples-1)
		return nil
	})
	if err != nil {
		return fmt.Errorf("drift: store a sample: %w", err)
	}
	return nil
}

// scriptRecord adds an answer to the state. When the rules have changed the state
// starts again. Times are Unix milliseconds.
var scriptRecord = redis.NewScript(`
local key, print, rules, now, agreeAfter = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local differs, discriminating, with, last, life = ARGV[5] == '1', ARGV[6] == '1', ARGV[7], ARGV[8], ARGV[9]
if redis.call('HGET', key, 'print') ~= print then
	redis.call('DEL', key)
	redis.call('HSET', key, 'print', print, 'rules', rules)
end
local agree = redis.call('HGET', key, 'agree')
if differs and agree ~= '0' then
	redis.call('HSET', key, 'agree', '0', 'since', now)
end
local before = tonumber(redis.call('HGET', key, 'differedAt') or '0')
if not differs and agree ~= '1' and (not agree or tonumber(now) - before >= agreeAfter) then
	redis.call('HSET', key, 'agree', '1', 'since', now)
end
redis.call('HSET', key, 'checkedAt', now)
redis.call('HINCRBY', key, 'checked', 1)
if differs then
	redis.call('HSET', key, 'differedAt', now, 'last', last)
	redis.call('HINCRBY', key, 'differed', 1)
end
if discriminating or (differs and with == '') then
	redis.call('HSET', key, 'with', with)
end
redis.call('EXPIRE', key, life)
return 1`)

func timeOf(text string) *time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	at := time.UnixMilli(ms).UTC()
	return &at
}
