package tra

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// ErrNoCatalogue means that the authority's catalogue was never synced.
var ErrNoCatalogue = errors.New("tra: the catalogue has not been synced")

// The keys of the catalogue are in one slot of a Redis Cluster.
const (
	keyMakes   = "tra:{catalogue}:makes"   // hash: make name → storedMake
	keyVersion = "tra:{catalogue}:version" // counts what readers must reload for
	keyDirty   = "tra:{catalogue}:dirty"   // set while there are changes that the version does not count yet
	keySynced  = "tra:{catalogue}:synced"  // set while a sync that missed nothing is recent enough
	keyAsOf    = "tra:{catalogue}:asOf"    // when the last sync ended that missed nothing
	keyTried   = "tra:{catalogue}:tried"   // set for a while after a sync that missed something
	keySyncing = "tra:{catalogue}:syncing" // set while a live process runs a sync
)

// StoreOptions of a Store. The zero value is good.
type StoreOptions struct {
	SyncPeriod  time.Duration    // how long the labels of a make count as fresh; default 20 h, for a daily sync
	Concurrency int              // makes fetched at the same time by a sync; default 4
	Now         func() time.Time // default time.Now

	// Implausible, if not nil, returns why a calculation of a time cannot be right; ""
	// when it may be. Such a calculation is requested again; if it stays, it is returned
	// with a warning, and not cached.
	Implausible func(tax vehicle.Tax, on time.Time) string
	// OnLookup, if not nil, is called for every look-up of a cached answer with whether
	// there was one that may be used: of the tax of a vehicle, else of a list.
	OnLookup func(tax, hit bool)
}

// Store stores the authority's catalogue and its status in Redis, for all
// processes. It caches the catalogue's index in memory.
type Store struct {
	redis   redis.UniversalClient
	options StoreOptions

	// lists are the lists of the authority that this process has read, so that an estimate of a
	// label that was seen before reads none of them from Redis: a stored[[]int] or a
	// stored[[]string] by its key. A list is as fresh as in Redis: its freshness is decided
	// when it is read.
	lists  *lru.Cache[string, any]
	period recentInt // of keyPeriod
	latest recentInt // of keyVersion

	mu      sync.Mutex
	version int64
	index   *catalogue.Catalogue
}

// maxLists bounds the lists in memory: a few hundred bytes each.
const maxLists = 8192

// NewStore returns a Store. It does not close the client.
func NewStore(client redis.UniversalClient, o StoreOptions) *Store {
	o.SyncPeriod = cmp.Or(o.SyncPeriod, 20*time.Hour)
	o.Concurrency = max(cmp.Or(o.Concurrency, 4), 1)
	if o.Now == nil {
		o.Now = time.Now
	}
	lists, _ := lru.New[string, any](maxLists) // the only error is a size below one
	return &Store{redis: client, options: o, lists: lists}
}

// onLookup reports a look-up of the answer to a request.
func (s *Store) onLookup(q listRequest, hit bool) {
	if s.options.OnLookup != nil {
		s.options.OnLookup(q.Call == callDetails, hit)
	}
}

// Catalogue returns the index of the last complete sync. It looks once a second
// whether the catalogue has changed, and is ErrNoCatalogue before the first sync.
func (s *Store) Catalogue(ctx context.Context) (*catalogue.Catalogue, error) {
	version, err := s.catalogueVersion(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil && s.version == version {
		return s.index, nil
	}
	stored, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	makes := make([]catalogue.MakeLabels, 0, len(stored))
	for _, m := range stored {
		makes = append(makes, m.MakeLabels)
	}
	s.index, s.version = catalogue.New(makes), version
	return s.index, nil
}

// catalogueVersion returns the version as it was at most refreshInterval ago.
func (s *Store) catalogueVersion(ctx context.Context) (int64, error) {
	if version, recent := s.latest.get(); recent {
		return version, nil
	}
	read := time.Now()
	version, err := s.redis.Get(ctx, keyVersion).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, ErrNoCatalogue
	}
	if err != nil {
		return 0, fmt.Errorf("tra: catalogue version: %w", err)
	}
	s.latest.set(version, read)
	return version, nil
}

// recentInt is an integer in Redis as it was at most refreshInterval ago. It is safe
// for concurrent use.
type recentInt struct {
	mu    sync.Mutex
	value int64
	read  time.Time
}

// refreshInterval is how old the period and the version of the catalogue in the
// memory of a process may be.
const refreshInterval = time.Second

// get returns the value; ok is false when it must be read again.
func (r *recentInt) get() (value int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, !r.read.IsZero() && time.Since(r.read) < refreshInterval
}

// last returns the value however old it is.
func (r *recentInt) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// set stores a value that was read or written at a time.
func (r *recentInt) set(value int64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.read) {
		r.value, r.read = value, at
	}
}

// raise stores a value that is higher than the one in memory.
func (r *recentInt) raise(value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value = max(r.value, value)
}

// storedMake is one make in Redis.
type storedMake struct {
	catalogue.MakeLabels
	FetchedAt time.Time `json:"fetchedAt"`
}

func (s *Store) load(ctx context.Context) (map[string]storedMake, error) {
	fields, err := s.redis.HGetAll(ctx, keyMakes).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: read catalogue: %w", err)
	}
	stored := make(map[string]storedMake, len(fields))
	for name, field := range fields {
		var m storedMake
		if err := json.Unmarshal([]byte(field), &m); err != nil {
			return nil, fmt.Errorf("tra: stored make %q: %w", name, err)
		}
		stored[name] = m
	}
	return stored, nil
}

// save writes one make. changed marks the catalogue as changed, so that publish
// increments its version at the end of the sync.
func (s *Store) save(ctx context.Context, m storedMake, changed bool) error {
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("tra: encode make %q: %w", m.Make.Name, err)
	}
	_, err = s.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, keyMakes, m.Make.Name, value)
		if changed {
			p.Set(ctx, keyDirty, 1, 0)
		}
		return nil
	})
	return failed(err, "store make %q", m.Make.Name)
}

func (s *Store) remove(ctx context.Context, name string) error {
	_, err := s.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HDel(ctx, keyMakes, name)
		p.Set(ctx, keyDirty, 1, 0)
		return nil
	})
	return failed(err, "remove make %q", name)
}

func (s *Store) publish(ctx context.Context) (version int64, err error) {
	version, err = publishScript.Run(ctx, s.redis, []string{keyVersion, keyDirty}).Int64()
	if err != nil {
		return 0, fmt.Errorf("tra: publish catalogue: %w", err)
	}
	s.latest.set(version, time.Now())
	return version, nil
}

// publishScript increments the version when the catalogue has changed or has no
// version, and returns it.
var publishScript = redis.NewScript(`
if redis.call('DEL', KEYS[2]) == 1 or redis.call('EXISTS', KEYS[1]) == 0 then
	return redis.call('INCR', KEYS[1])
end
return tonumber(redis.call('GET', KEYS[1]))`)

// SyncDue reports whether it is time to Sync: the last complete sync is hours old
// or of another quarter and no incomplete one ended recently, or one is requested; and
// none is running.
func (s *Store) SyncDue(ctx context.Context) (bool, error) {
	pipe := s.redis.Pipeline()
	recent, running := pipe.Exists(ctx, keySynced, keyTried), pipe.Exists(ctx, keySyncing)
	requested := pipe.Exists(ctx, keyRequested)
	if _, err := pipe.Exec(ctx); err != nil {
		return false, fmt.Errorf("tra: sync due: %w", err)
	}
	return running.Val() == 0 && (recent.Val() == 0 || requested.Val() > 0), nil
}

const (
	syncEvery   = 6 * time.Hour    // looks for new makes; labels are asked again after the sync period only
	syncAgainIn = 30 * time.Second // after one that missed something
)

func (s *Store) markTried(ctx context.Context) error {
	return failed(s.redis.Set(ctx, keyTried, 1, syncAgainIn).Err(), "mark sync")
}

// markQuarantined makes the next sync due soon enough to agree with this one.
func (s *Store) markQuarantined(ctx context.Context) error {
	return failed(s.redis.Set(ctx, keySynced, 1, quarantineGap).Err(), "mark sync")
}

func (s *Store) markSynced(ctx context.Context) error {
	now := s.options.Now()
	life := max(min(syncEvery, QuarterEnd(now).Sub(now)), time.Millisecond)
	pipe := s.redis.TxPipeline()
	pipe.Set(ctx, keySynced, 1, life)
	pipe.Set(ctx, keyAsOf, now.UTC().Format(timeInRedis), 0)
	_, err := pipe.Exec(ctx)
	return failed(err, "mark sync")
}

// CatalogueState is the state of the copy of the authority's lists.
type CatalogueState struct {
	AsOf        *time.Time // when a sync was complete last; nil when none was
	Period      int64      // the latest year and quarter that the authority showed, as year * 10 + quarter; 0: none
	Quarantined int64      // lists that are not used yet
}

// State reads the state of the catalogue.
func (s *Store) State(ctx context.Context) (CatalogueState, error) {
	pipe := s.redis.Pipeline()
	asOf, period, waiting := pipe.Get(ctx, keyAsOf), pipe.Get(ctx, keyPeriod), pipe.HLen(ctx, keyQuarantine)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return CatalogueState{}, fmt.Errorf("tra: state of the catalogue: %w", err)
	}
	latest, _ := period.Int64() // it may never have been seen
	return CatalogueState{timeOf(asOf.Val()), latest, waiting.Val()}, nil
}

// failed returns the error of an exchange with Redis, with what failed; nil for none.
func failed(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("tra: "+what+": %w", append(args, err)...)
}
