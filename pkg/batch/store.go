package batch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
)

const (
	keyActive = "batches:open"

	// chunk is how many rows are packed together.
	chunk = 100
	// orphanTTL is how long rows live whose process died before it created the batch.
	orphanTTL = time.Hour
)

func keyOf(owner string) string { return "batches:of:{" + owner + "}" }

// keysOf returns the keys of a batch in the order of the scripts.
func keysOf(id string) []string {
	base := "batch:{" + id + "}"
	return []string{
		base, base + ":states", base + ":rows", base + ":duplicates", base + ":running", base + ":out", base + ":parked",
		base + ":ended",
	}
}

// Indexes of keysOf.
const (
	keyHash = iota
	keyStates
	keyRows
	keyDuplicates
	keyRunning
	keyOut
	keyParked
	keyEnded
)

// Store stores batches in Redis.
type Store struct{ redis redis.UniversalClient }

// NewStore returns a Store on a Redis connection, which the caller closes.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

// meta is the part of the record that never changes.
type meta struct {
	Owner    string    `json:"owner"`
	Options  Options   `json:"options"`
	Rows     int       `json:"rows"`
	Repeated int       `json:"repeated"`
	Created  time.Time `json:"created"`

	Sites     []string `json:"sites,omitempty"` // hosts of the listings, see sitesOf
	SiteOfRow string   `json:"siteOf,omitempty"`
}

// NewID returns an id for a new batch.
func NewID() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }

// Create creates a batch, as a whole or, when its process dies, not at all. Its
// rows wait until they are dispatched.
func (s *Store) Create(ctx context.Context, n New) (*Batch, error) {
	now := time.Now().UTC()
	id := n.ID
	if id == "" {
		id = NewID()
	} else if b, err := s.Get(ctx, id); !errors.Is(err, ErrNotFound) {
		return b, err
	}
	keys := keysOf(id)
	duplicates, states := markDuplicates(n.Rows)
	m := meta{Owner: n.Owner, Options: n.Options, Rows: len(n.Rows), Created: now}
	m.Repeated = strings.Count(states, "W")
	m.Sites, m.SiteOfRow = sitesOf(n.Rows, states)
	head, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	// The rows and the list entries are written before the batch, so that a batch
	// that exists is complete.
	if err := s.writeRows(ctx, keys, n.Rows, duplicates); err != nil {
		return nil, err
	}
	if err := s.MarkServed(ctx, id); err != nil {
		return nil, err
	}
	pipe := s.redis.Pipeline()
	pipe.ZAdd(ctx, keyOf(n.Owner), redis.Z{Score: float64(now.UnixMilli()), Member: id})
	pipe.ZRemRangeByRank(ctx, keyOf(n.Owner), 0, -maxListed-1)
	pipe.ZRemRangeByScore(ctx, keyOf(n.Owner), "-inf", strconv.FormatInt(now.Add(-2*listRetention).UnixMilli(), 10))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	waiting := strings.Count(states, "w")
	origin, err := json.Marshal(n.Origin)
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if err := scriptCreate.Run(ctx, s.redis, keys, head, n.Owner, states, waiting, origin).Err(); err != nil {
		return nil, err
	}
	return s.Get(ctx, id)
}

// listRetention is how long a batch is listed at least. It is longer than any runs.
const listRetention = 60 * 24 * time.Hour

// maxListed is how many batches of a key are listed, the newest.
const maxListed = 10_000

// CountDuplicates returns how many rows duplicate an earlier one, and sets their
// DuplicateOf and DuplicateRow.
func CountDuplicates(rows []Row) int {
	_, states := markDuplicates(rows)
	return strings.Count(states, "W")
}

// markDuplicates sets DuplicateOf and DuplicateRow. It returns the duplicates of
// each row that has some, and the state code of each row.
func markDuplicates(rows []Row) (duplicates map[int][]int, states string) {
	type listing struct {
		url, label, known, car string
		priced                 bool
	}
	first := map[listing]int{}
	duplicates = map[int][]int{}
	codes := make([]byte, len(rows))
	for i := range rows {
		row := &rows[i]
		row.DuplicateOf = i
		if row.RejectReason != nil {
			codes[i] = codeOf(Rejected)
			continue
		}
		l := listing{row.URL, row.ModelBody, string(row.Known), string(row.Car), row.PriceCandidates}
		if at, found := first[l]; found {
			row.DuplicateOf, row.DuplicateRow, row.DuplicateSheet = at, rows[at].Number, rows[at].Sheet
			duplicates[at] = append(duplicates[at], i)
			codes[i] = 'W'
			continue
		}
		first[l] = i
		codes[i] = codeOf(Waiting)
	}
	return duplicates, string(codes)
}

// writeRows writes the rows, which never change. They expire unless the batch is created.
func (s *Store) writeRows(ctx context.Context, keys []string, rows []Row, duplicates map[int][]int) error {
	pipe := s.redis.Pipeline()
	for from := 0; from < len(rows); from += chunk {
		data, err := json.Marshal(rows[from:min(from+chunk, len(rows))])
		if err != nil {
			return fmt.Errorf("batch: rows: %w", err)
		}
		pipe.HSet(ctx, keys[keyRows], from/chunk, redisx.Pack(data))
	}
	pipe.PExpire(ctx, keys[keyRows], orphanTTL)
	for row, others := range duplicates {
		pipe.HSet(ctx, keys[keyDuplicates], row, strings.Trim(fmt.Sprint(others), "[]"))
	}
	pipe.PExpire(ctx, keys[keyDuplicates], orphanTTL)
	_, err := pipe.Exec(ctx)
	return err
}

// MarkServed makes batches active, and records that rows of them were dispatched now.
func (s *Store) MarkServed(ctx context.Context, ids ...string) error {
	now, err := s.redis.Time(ctx).Result()
	if err != nil {
		return err
	}
	members := make([]redis.Z, len(ids))
	for i, id := range ids {
		members[i] = redis.Z{Score: float64(now.UnixMilli()), Member: id}
	}
	return s.redis.ZAdd(ctx, keyActive, members...).Err()
}

// Get returns a batch. ErrNotFound means that there is none.
func (s *Store) Get(ctx context.Context, id string) (*Batch, error) {
	keys := keysOf(id)
	pipe := s.redis.Pipeline()
	fields, states := pipe.HGetAll(ctx, keys[keyHash]), pipe.Get(ctx, keys[keyStates])
	clock := pipe.Time(ctx)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return nil, err
	}
	return parse(id, fields.Val(), states.Val(), clock.Val())
}

// Watch sends on a channel of a Hub when a batch may have changed or ended,
// until leave is called.
func (s *Store) Watch(hub *jobs.Hub, id string) (moved <-chan struct{}, leave func()) {
	return hub.WatchHash(keysOf(id)[keyHash], "waiting", "running", "done", "cancelled", "ended")
}

func parse(id string, fields map[string]string, states string, now time.Time) (*Batch, error) {
	if fields["meta"] == "" || states == "" {
		return nil, ErrNotFound
	}
	var m meta
	if err := json.Unmarshal([]byte(fields["meta"]), &m); err != nil {
		return nil, fmt.Errorf("batch: record %s: %w", id, err)
	}
	b := &Batch{
		ID: id, Owner: m.Owner, Options: m.Options, Rows: m.Rows, Repeated: m.Repeated, Created: m.Created,
		Cancelled: millis(fields["cancelled"]), Ended: millis(fields["ended"]), Counts: map[State]int{},
	}
	for i := range len(states) {
		b.Counts[stateOf(states[i])]++
	}
	if b.PerSecond = speed(fields, now); b.PerSecond > 0 {
		b.Remaining = time.Duration(float64(b.Counts[Waiting]+b.Counts[Running]) / b.PerSecond * float64(time.Second))
	}
	if b.Ended.IsZero() {
		b.OpenAt = m.openAt(states)
	} else {
		b.Expires = b.Ended.Add(Retention)
	}
	return b, nil
}

// speed returns the rows finished per second since the last but one of the marks
// that scriptFinish sets every ten seconds.
func speed(fields map[string]string, now time.Time) float64 {
	at, done := fields["at_0"], fields["done_0"]
	if at == "" {
		at, done = fields["at_1"], fields["done_1"]
	}
	until := now
	if ended := millis(fields["ended"]); !ended.IsZero() {
		until = ended
	}
	before, _ := strconv.Atoi(done)
	after, _ := strconv.Atoi(fields["done"])
	took := until.Sub(millis(at)).Seconds()
	if at == "" || took <= 0 || after <= before {
		return 0
	}
	return float64(after-before) / took
}

func millis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// List returns up to limit batches of a key, newest first, older than the one
// named by before ("" is no bound).
func (s *Store) List(ctx context.Context, owner, before string, limit int) ([]*Batch, error) {
	bound := "+inf"
	if before != "" {
		parsed, err := ulid.ParseStrict(before)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadCursor, err)
		}
		bound = strconv.FormatUint(parsed.Time(), 10)
	}
	var found []*Batch
	for offset := 0; len(found) < limit; offset += limit {
		ids, err := s.redis.ZRevRangeByScore(ctx, keyOf(owner), &redis.ZRangeBy{
			Min: "-inf", Max: bound, Offset: int64(offset), Count: int64(limit),
		}).Result()
		if err != nil || len(ids) == 0 {
			return found, err
		}
		for _, id := range ids {
			if before != "" && id >= before || len(found) == limit {
				continue
			}
			b, err := s.Get(ctx, id)
			if errors.Is(err, ErrNotFound) { // it has expired, or was never created
				continue
			}
			if err != nil {
				return nil, err
			}
			found = append(found, b)
		}
	}
	return found, nil
}

// Newest returns the ids of the newest batches of several keys, up to n of each. Some may
// have expired.
func (s *Store) Newest(ctx context.Context, owners []string, n int) (ids []string, err error) {
	listed, err := redisx.Each(ctx, s.redis, owners, func(pipe redis.Pipeliner, owner string) *redis.StringSliceCmd {
		return pipe.ZRevRange(ctx, keyOf(owner), 0, int64(n)-1)
	})
	if err != nil {
		return nil, err
	}
	for _, found := range listed {
		ids = append(ids, found.Val()...)
	}
	return ids, nil
}
