package tra

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"ushuru/pkg/pace"
	"ushuru/pkg/tra/catalogue"
)

// Lister lists makes and their labels.
type Lister struct {
	Makes       func(ctx context.Context) ([]catalogue.Make, error)
	ModelBodies func(ctx context.Context, makeID int) ([]string, error)
}

// SyncReport counts what a sync did: makes, except Labels and Version.
type SyncReport struct {
	Makes   int   `json:"makes"`   // listed by the authority
	Fresh   int   `json:"fresh"`   // skipped, because they were fetched within the sync period
	Fetched int   `json:"fetched"` // fetched
	Changed int   `json:"changed"` // with another id or other labels than before
	Kept    int   `json:"kept"`    // fetched as empty lists, so the previous labels stay
	Failed  int   `json:"failed"`  // not fetched
	Removed int   `json:"removed"` // no longer listed
	Labels  int   `json:"labels"`  // fetched
	Version int64 `json:"version"` // of the catalogue that readers see; 0 when there is none

	// Quarantined says which lists were so unusual that the previous ones stay.
	Quarantined string `json:"quarantined,omitempty"`
}

// Sync copies the authority's catalogue. Each make is written when it arrives
// and is fresh for the sync period within its quarter, so the next sync
// continues one that was killed or failed. Readers see the changes when the sync
// ends, also with an error. Makes whose labels were never fetched are marked as
// pending, so one failing make does not block the others. An empty list of makes
// counts as an outage and never empties the catalogue. A list that shrinks or changes
// by more than a few per cent is quarantined: the previous one stays until two later
// syncs agree with it, or an operator accepts it. Sync does what RequestSync
// requested. It waits for the rate
// limit; an open breaker ends it with the *ThrottleError. While another process
// syncs, it returns ErrSyncing.
func (s *Store) Sync(ctx context.Context, lister Lister) (SyncReport, error) {
	release, err := s.lockSync(ctx)
	if err != nil {
		return SyncReport{}, err
	}
	defer release()
	request, text, err := s.requestedSync(ctx)
	if err != nil {
		return SyncReport{}, err
	}
	report, err := s.sync(ctx, lister, request.SyncOptions)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	outcome := SyncOutcome{ID: request.ID, Report: report}
	mark := s.markSynced
	switch {
	case err != nil:
		mark, outcome.Error = s.markTried, err.Error()
	case report.Quarantined != "":
		mark = s.markQuarantined
	}
	return report, errors.Join(err, mark(last), s.answerSync(last, text, outcome))
}

func (s *Store) sync(ctx context.Context, lister Lister, o SyncOptions) (SyncReport, error) {
	var report SyncReport
	makes, err := withRetry(ctx, func() ([]catalogue.Make, error) { return lister.Makes(ctx) })
	if err != nil {
		return report, fmt.Errorf("tra: sync makes: %w", err)
	}
	if len(makes) == 0 {
		return report, &Error{Kind: Unavailable, Call: callMakes, Status: 200, cause: errors.New("a list of no makes")}
	}
	stored, err := s.load(ctx)
	if err != nil {
		return report, err
	}
	waiting, err := s.loadQuarantine(ctx)
	if err != nil {
		return report, err
	}
	run := &syncRun{
		store: s, lister: lister, options: o, stored: stored, quarantine: waiting, report: SyncReport{Makes: len(makes)},
	}
	err = run.all(ctx, makes)
	run.report.Quarantined = strings.Join(slices.Sorted(slices.Values(run.unusual)), "; ")
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	version, publishErr := s.publish(last)
	run.report.Version = version
	return run.report, errors.Join(append(run.failures, err, publishErr)...)
}

// publishTimeout bounds the publication of what was fetched when the context of
// the sync has ended.
const publishTimeout = 5 * time.Second

// syncRun is the state of one sync.
type syncRun struct {
	store      *Store
	lister     Lister
	options    SyncOptions
	stored     map[string]storedMake  // as it was at the start
	quarantine map[string]quarantined // as it was at the start

	mu       sync.Mutex
	report   SyncReport
	failures []error
	unusual  []string // what this sync quarantined
}

// all syncs the list of makes and the labels of each. Of an unusual list of makes
// only those are synced that are known.
func (r *syncRun) all(ctx context.Context, makes []catalogue.Make) error {
	before, after := slices.Collect(maps.Keys(r.stored)), make([]string, 0, len(makes))
	for _, m := range makes {
		after = append(after, m.Name)
	}
	taken, err := r.take(ctx, allMakes, change(before, after, makesFloor, "makes"), after)
	if err != nil {
		return err
	}
	if !taken {
		makes = slices.DeleteFunc(slices.Clone(makes), func(m catalogue.Make) bool {
			_, known := r.stored[m.Name]
			return !known
		})
		return r.fetch(ctx, makes)
	}
	if err := r.expect(ctx, makes); err != nil {
		return err
	}
	return errors.Join(r.fetch(ctx, makes), r.removeOthers(ctx, makes))
}

// expect marks the makes that are new as pending.
func (r *syncRun) expect(ctx context.Context, makes []catalogue.Make) error {
	for _, m := range makes {
		if _, known := r.stored[m.Name]; known {
			continue
		}
		pending := storedMake{MakeLabels: catalogue.MakeLabels{Make: m, Labels: []string{}, Pending: true}}
		if err := r.store.save(ctx, pending, true); err != nil {
			return err
		}
	}
	return nil
}

// fetch fetches every make that is not fresh. It returns an error only when
// further calls are useless.
func (r *syncRun) fetch(ctx context.Context, makes []catalogue.Make) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.store.options.Concurrency)
	for _, m := range makes {
		before, known := r.stored[m.Name]
		if known && before.Make == m && !r.options.All && r.store.fresh(before.FetchedAt) {
			r.report.Fresh++
			continue
		}
		group.Go(func() error {
			labels, err := withRetry(ctx, func() ([]string, error) { return r.lister.ModelBodies(ctx, m.ID) })
			return r.arrived(ctx, m, labels, err)
		})
	}
	return group.Wait()
}

// withRetry repeats a call that the rate limit refuses.
func withRetry[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for {
		result, err := call()
		throttled, ok := errors.AsType[*ThrottleError](err)
		if !ok || throttled.Reason != RateUsedUp {
			return result, err
		}
		if err := pace.Sleep(ctx, throttled.RetryAfter); err != nil {
			return result, err
		}
	}
}

func (s *Store) fresh(at time.Time) bool {
	now := s.options.Now()
	return now.Sub(at) < s.options.SyncPeriod && now.Before(QuarterEnd(at))
}

// arrived stores the labels of a make, or counts the failure.
func (r *syncRun) arrived(ctx context.Context, m catalogue.Make, labels []string, err error) error {
	before := r.stored[m.Name]
	fetched := storedMake{catalogue.MakeLabels{Make: m, Labels: labels}, r.store.options.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ofCall := errors.AsType[*Error](err)
	switch {
	case ofCall:
		r.report.Failed++
		r.failures = append(r.failures, fmt.Errorf("tra: sync %s: %w", m.Name, err))
		return nil
	case err != nil:
		return fmt.Errorf("tra: sync %s: %w", m.Name, err)
	}
	r.report.Fetched++
	r.report.Labels += len(labels)
	if len(labels) == 0 && len(before.Labels) > 0 {
		r.report.Kept++
		fetched.Labels, fetched.FetchedAt = before.Labels, time.Time{}
	}
	taken, err := r.take(ctx, m.Name, change(before.Labels, fetched.Labels, labelsFloor, "labels"), fetched.Labels)
	if err != nil {
		return err
	}
	if !taken {
		r.report.Kept++
		return nil
	}
	changed := before.Make != m || before.Pending || !slices.Equal(before.Labels, fetched.Labels)
	if changed {
		r.report.Changed++
	}
	return r.store.save(ctx, fetched, changed)
}

func (r *syncRun) removeOthers(ctx context.Context, makes []catalogue.Make) error {
	for name := range r.stored {
		if slices.ContainsFunc(makes, func(m catalogue.Make) bool { return m.Name == name }) {
			continue
		}
		if err := r.store.remove(ctx, name); err != nil {
			return err
		}
		r.report.Removed++
	}
	return nil
}

const (
	keyQuarantine = "tra:{catalogue}:quarantine" // hash: make name or allMakes → quarantined
	allMakes      = "*"                          // the list of makes; no make has this name

	// A list that changes by more than this share, and by more names than the
	// floors, is quarantined.
	quarantinePercent = 5
	makesFloor        = 1
	labelsFloor       = 3

	// A quarantined list is taken when quarantineSyncs syncs have seen the same, each
	// quarantineGap after the one before: an authority that lists nonsense for an hour
	// does not agree with itself later.
	quarantineSyncs = 3
	quarantineGap   = time.Hour
)

// quarantined is a list that was not taken into the catalogue.
type quarantined struct {
	Reason      string    `json:"reason"`
	Fingerprint string    `json:"fingerprint"`
	Syncs       int       `json:"syncs"` // that saw this list
	SeenAt      time.Time `json:"seenAt"`
}

// take reports whether a list is taken into the catalogue. reason is what is
// unusual about it; "" takes it. An unusual list is taken when an operator accepts
// it, or when enough syncs agree on it.
func (r *syncRun) take(ctx context.Context, name, reason string, list []string) (bool, error) {
	known, waits := r.quarantine[name]
	if reason == "" || r.options.Accept {
		if !waits {
			return true, nil
		}
		return true, r.store.releaseQuarantine(ctx, name)
	}
	now := r.store.options.Now()
	next := quarantined{Reason: reason, Fingerprint: fingerprint(list), Syncs: 1, SeenAt: now}
	if waits && known.Fingerprint == next.Fingerprint {
		next.Syncs, next.SeenAt = known.Syncs, known.SeenAt
		if now.Sub(known.SeenAt) >= quarantineGap {
			next.Syncs, next.SeenAt = known.Syncs+1, now
		}
	}
	if next.Syncs >= quarantineSyncs {
		return true, r.store.releaseQuarantine(ctx, name)
	}
	r.unusual = append(r.unusual, name+": "+reason)
	value, err := json.Marshal(next)
	if err == nil {
		err = r.store.redis.HSet(ctx, keyQuarantine, name, value).Err()
	}
	if err != nil {
		return false, fmt.Errorf("tra: quarantine %s: %w", name, err)
	}
	return false, nil
}

// change compares two lists of names and says how they differ. It is "" for lists
// that differ by no more than is usual; a first list is always usual.
func change(before, after []string, floor int, noun string) string {
	if len(before) == 0 {
		return ""
	}
	removed, added := missingFrom(after, before), missingFrom(before, after)
	usual := max(floor, len(before)*quarantinePercent/100)
	if removed <= usual && added <= usual {
		return ""
	}
	return fmt.Sprintf("%d of %d %s are missing and %d are new", removed, len(before), noun, added)
}

// missingFrom counts the names that a list does not have.
func missingFrom(list, names []string) (missing int) {
	has := make(map[string]bool, len(list))
	for _, name := range list {
		has[name] = true
	}
	for _, name := range names {
		if !has[name] {
			missing++
		}
	}
	return missing
}

func fingerprint(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(list)), "\n")))
	return hex.EncodeToString(sum[:8])
}

func (s *Store) releaseQuarantine(ctx context.Context, name string) error {
	return failed(s.redis.HDel(ctx, keyQuarantine, name).Err(), "release %s from quarantine", name)
}

// loadQuarantine reads what earlier syncs quarantined.
func (s *Store) loadQuarantine(ctx context.Context) (map[string]quarantined, error) {
	fields, err := s.redis.HGetAll(ctx, keyQuarantine).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: read quarantine: %w", err)
	}
	waiting := make(map[string]quarantined, len(fields))
	for name, field := range fields {
		var q quarantined
		if err := json.Unmarshal([]byte(field), &q); err != nil {
			return nil, fmt.Errorf("tra: quarantine of %s: %w", name, err)
		}
		waiting[name] = q
	}
	return waiting, nil
}

const (
	keyRequested = "tra:{catalogue}:requested" // the sync that an operator requested
	keyReport    = "tra:{catalogue}:report"    // the outcome of the last requested sync

	requestTTL = 10 * time.Minute
	reportTTL  = 24 * time.Hour
)

// SyncOptions are how a requested sync differs from a scheduled one.
type SyncOptions struct {
	All    bool `json:"all"`    // fetch the labels of every make, fresh ones too
	Accept bool `json:"accept"` // take unusual lists that would be quarantined
}

// syncRequest is a requested sync.
type syncRequest struct {
	SyncOptions

	ID string `json:"id"`
}

// SyncOutcome is the outcome of a requested sync.
type SyncOutcome struct {
	ID     string     `json:"id"`
	Report SyncReport `json:"report"`
	Error  string     `json:"error,omitempty"`
}

// RequestSync requests a sync of the worker that next looks whether one is due. It
// returns the id of the request. A later request replaces one that has not begun.
func (s *Store) RequestSync(ctx context.Context, o SyncOptions) (id string, err error) {
	id = rand.Text()
	value, err := json.Marshal(syncRequest{o, id})
	if err == nil {
		err = s.redis.Set(ctx, keyRequested, value, requestTTL).Err()
	}
	return id, failed(err, "request a sync")
}

// RequestedSync returns the outcome of a requested sync; nil while it has none.
func (s *Store) RequestedSync(ctx context.Context, id string) (*SyncOutcome, error) {
	value, err := s.redis.Get(ctx, keyReport).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil //nolint:nilnil // documented
	}
	var outcome SyncOutcome
	if err == nil {
		err = json.Unmarshal(value, &outcome)
	}
	if err != nil {
		return nil, fmt.Errorf("tra: outcome of a sync: %w", err)
	}
	if outcome.ID != id {
		return nil, nil //nolint:nilnil // the outcome of an earlier request
	}
	return &outcome, nil
}

// requestedSync returns the request that waits, and its text in Redis. Without one
// both are empty.
func (s *Store) requestedSync(ctx context.Context) (request syncRequest, text string, err error) {
	text, err = s.redis.Get(ctx, keyRequested).Result()
	if errors.Is(err, redis.Nil) {
		return request, "", nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &request)
	}
	return request, text, failed(err, "requested sync")
}

// answerSync stores the outcome of a requested sync.
func (s *Store) answerSync(ctx context.Context, text string, outcome SyncOutcome) error {
	if text == "" {
		return nil
	}
	value, err := json.Marshal(outcome)
	if err == nil {
		err = answerScript.Run(ctx, s.redis, []string{keyRequested, keyReport}, text, value, reportTTL.Milliseconds()).Err()
	}
	return failed(err, "outcome of a requested sync")
}

// answerScript stores an outcome, and removes its request unless a later one has
// replaced it.
var answerScript = redis.NewScript(`
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`)
