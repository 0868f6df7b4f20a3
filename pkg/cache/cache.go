// Package cache stores finished results in Redis as the bytes that the API will
// send, so that serving one again is a single read and a write.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jsonobject"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

// ErrNoFlag means that a response is not a JSON object with a top-level boolean "cached". Any
// other error of the cache means that Redis did not answer.
var ErrNoFlag = errors.New(`cache: the response has no "cached" flag`)

// estimateTTL is how long an estimate is cached at most. The contract of the API
// names it.
const estimateTTL = 14 * 24 * time.Hour

// SheetTTL is how long the reading of an inspection sheet is cached.
const SheetTTL = 30 * 24 * time.Hour

// Cache caches results in Redis.
type Cache struct {
	redis  redis.Cmdable
	recent *recent
	latest *lru.Cache[Key, latestPut]
	owner  string // id of the API key whose bytes are used by what is put; "" for none
	// onLookup is called for every look-up; nil: nothing is.
	onLookup func(cache string, hit bool)
}

// New returns a Cache on a Redis connection, which the caller closes.
func New(client redis.UniversalClient) *Cache {
	latest, _ := lru.New[Key, latestPut](maxLatest) // the only error is a size below one
	return &Cache{redis: client, recent: newRecent(), latest: latest}
}

// Names are the names of the caches, which begin the keys of their entries.
var Names = []string{"estimate", "quote", "compare", "reading", "explanation", "listing"}

// OnLookup returns the same cache, which calls a function for every look-up, with the name of
// the cache and whether there was a valid entry.
func (c *Cache) OnLookup(do func(cache string, hit bool)) *Cache {
	observed := *c
	observed.onLookup = do
	return &observed
}

// latestPut is what PutOften put last under a key, and when. For latestPeriod it is not put again;
// it is small, and bounded by its number.
type latestPut struct {
	data string
	at   time.Time
}

const (
	maxLatest    = 10_000
	latestPeriod = time.Minute
)

// Get returns the bytes that Put or PutRaw cached; nil when nothing is cached under the key. In
// those of Put "cached" is true. The caller must not change them.
func (c *Cache) Get(ctx context.Context, key Key) ([]byte, error) {
	return c.response(key, c.redis.Get(ctx, string(key)))
}

// GetAll does what Get does for many keys in one round trip.
func (c *Cache) GetAll(ctx context.Context, keys []Key) ([][]byte, error) {
	replies, err := c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Get(ctx, string(key))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("cache: get: %w", err)
	}
	responses := make([][]byte, len(keys))
	for i, reply := range replies {
		got, ok := reply.(*redis.StringCmd)
		if !ok {
			continue
		}
		if responses[i], err = c.response(keys[i], got); err != nil {
			return nil, err
		}
	}
	return responses, nil
}

// response returns the bytes that were cached under a key, and reports the look-up.
func (c *Cache) response(key Key, reply *redis.StringCmd) (response []byte, err error) {
	packed, err := reply.Bytes()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("cache: get: %w", err)
	}
	if err == nil {
		if response, err = c.recent.unpack(packed); err != nil {
			response = nil // damaged, or packed by another version
		}
	}
	if c.onLookup != nil {
		_, rest, _ := strings.Cut(string(key), ":")
		name, _, _ := strings.Cut(rest, ":")
		c.onLookup(name, response != nil)
	}
	return response, nil
}

// Put caches a response until its expiry, with its "cached" set to true and every
// other byte unchanged. A response that has expired is not cached.
func (c *Cache) Put(ctx context.Context, key Key, response []byte, expiry time.Time) error {
	marked, err := Marked(response, true)
	if err != nil {
		return err
	}
	return c.PutRaw(ctx, key, marked, expiry)
}

// PutRaw caches bytes unchanged until their expiry. Bytes that have expired are
// not cached.
func (c *Cache) PutRaw(ctx context.Context, key Key, data []byte, expiry time.Time) error {
	lifetime := time.Until(expiry)
	if lifetime <= 0 {
		return nil
	}
	packed := redisx.Pack(data)
	put := func(to redis.Cmdable) error {
		if c.owner != "" {
			pace.AddTo(ctx, to, c.owner, int64(len(packed))+pace.EntryOverhead, lifetime)
		}
		return to.Set(ctx, string(key), packed, lifetime).Err()
	}
	var err error
	if _, queued := c.redis.(redis.Pipeliner); queued || c.owner == "" {
		err = put(c.redis)
	} else {
		_, err = c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error { return put(pipe) })
	}
	if err != nil {
		return fmt.Errorf("cache: put: %w", err)
	}
	return nil
}

// PutOften is PutRaw for callers that cache the same again and again: it counts once
// against the bytes of an API key, and what this process has put less than a minute ago is
// not put again.
func (c *Cache) PutOften(ctx context.Context, key Key, data []byte, expiry time.Time) error {
	lifetime := time.Until(expiry)
	last, ok := c.latest.Get(key)
	if lifetime <= 0 || ok && last.data == string(data) && time.Since(last.at) < latestPeriod {
		return nil
	}
	packed := redisx.Pack(data)
	err := c.redis.SetArgs(ctx, string(key), packed, redis.SetArgs{Get: true, TTL: lifetime}).Err()
	isNew := errors.Is(err, redis.Nil) // there was nothing
	if err == nil || isNew {
		c.latest.Add(key, latestPut{string(data), time.Now()})
	}
	if isNew {
		pipe := c.redis.Pipeline()
		pace.AddTo(ctx, pipe, c.owner, int64(len(packed))+pace.EntryOverhead, lifetime)
		_, err = pipe.Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("cache: put: %w", err)
	}
	return nil
}

// For returns the same cache, whose puts count against the bytes of an API key.
func (c *Cache) For(owner string) *Cache {
	owned := *c
	owned.owner = owner
	return &owned
}

// Pipelined sends everything that do puts in one round trip.
func (c *Cache) Pipelined(ctx context.Context, do func(*Cache) error) error {
	_, err := c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		queued := *c
		queued.redis = pipe
		return do(&queued)
	})
	return err
}

// Marked returns a response whose top-level "cached" has a value: true when the cache answers the
// request, false when a job made the response for it.
func Marked(response []byte, cached bool) ([]byte, error) {
	for name, value := range jsonobject.Members(response) {
		if string(name) == "cached" && (string(value) == "false" || string(value) == "true") {
			at := cap(response) - cap(value) // value is a part of response
			return slices.Concat(response[:at], strconv.AppendBool(nil, cached), response[at+len(value):]), nil
		}
	}
	return nil, ErrNoFlag
}

// Key is the Redis key of one cached result.
type Key string

// EstimateKey returns the key of a listing's estimate, by its canonical URL.
func EstimateKey(canonicalURL string) Key {
	sum := sha256.Sum256([]byte(canonicalURL))
	return Key("cache:estimate:" + hex.EncodeToString(sum[:]))
}

// UploadKey returns the key of the estimate of a page that a caller sent, by the
// listing's canonical URL and the page's hash: figures of an invented page are
// served for that page only. Without a hash it is EstimateKey.
func UploadKey(canonicalURL, hash string) Key {
	if hash == "" {
		return EstimateKey(canonicalURL)
	}
	return EstimateKey(canonicalURL + "\n" + hash) // a URL has no line break
}

// LabelKey returns the key of an estimate with the label that a caller chose, so
// that a choice is served only to callers who make it too. Without a label it
// returns the given key.
func LabelKey(estimate Key, modelBody string) Key {
	if modelBody == "" {
		return estimate
	}
	return EstimateKey(string(estimate) + "\n" + modelBody)
}

// OwnedKey returns the key of a result that only one API key may get: one of a page
// that it sent, or of a URL with a token. Without an owner it returns the given key.
func OwnedKey(key Key, owner string) Key {
	if owner == "" {
		return key
	}
	prefix := key[:strings.LastIndexByte(string(key), ':')+1]
	sum := sha256.Sum256([]byte("owner\n" + owner + "\n" + string(key)))
	return prefix + Key(hex.EncodeToString(sum[:]))
}

// QuoteKey returns the key of the estimate of a described car, by the canonical
// description.
func QuoteKey(input []byte) Key {
	sum := sha256.Sum256(input)
	return Key("cache:quote:" + hex.EncodeToString(sum[:]))
}

// ExplanationKey returns the key of the sources of an estimate's values.
func ExplanationKey(estimate Key) Key {
	return "cache:explanation:" + estimate[len("cache:estimate:"):]
}

// ReadingKey returns the key of the reading of an inspection sheet, by the sheet's id.
func ReadingKey(sheet string) Key { return Key("cache:reading:" + sheet) }

// ListingKey returns the key of the cache key of the estimate whose listing has a
// sheet, among the listings that one API key has named: a page can name any sheet.
func ListingKey(sheet, owner string) Key { return Key("cache:listing:" + sheet + ":" + owner) }

// CompareKey returns the key of the comparison of two listings in this order, by
// their canonical URLs, in a language.
func CompareKey(url1, url2, lang string) Key {
	sum := sha256.Sum256([]byte(url1 + "\n" + url2 + "\n" + lang)) // a URL has no line break
	return Key("cache:compare:" + hex.EncodeToString(sum[:]))
}

// EstimateExpiry returns when an estimate that is made now expires: after 14 days,
// but at the latest at the end of the authority's quarter, when its values
// change. The last quarter ends with the year, when the ages of cars change.
func EstimateExpiry(now, quarterEnd time.Time) time.Time {
	if expiry := now.Add(estimateTTL); expiry.Before(quarterEnd) {
		return expiry
	}
	return quarterEnd
}

const (
	// maxRecent bounds the bytes of recent.
	maxRecent = 8 << 20
	// maxResult bounds those of one result, which must not displace all others.
	maxResult = maxRecent / 16
)

// recent remembers what packed results were last unpacked to: unpacking one
// takes longer than reading it from Redis. It is looked up by the packed bytes
// themselves, after they have been read, so it never returns an old result.
type recent struct {
	mu      sync.Mutex
	results *simplelru.LRU[string, []byte]
	size    int // bytes of the results, packed and unpacked
}

func newRecent() *recent {
	r := &recent{}
	r.results, _ = simplelru.NewLRU(math.MaxInt, func(packed string, data []byte) { // the only error is a size below one
		r.size -= len(packed) + len(data)
	})
	return r
}

// unpack returns what was packed. The caller must not change it.
func (r *recent) unpack(packed []byte) ([]byte, error) {
	r.mu.Lock()
	data, ok := r.results.Get(string(packed))
	r.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := redisx.Unpack(packed)
	if err != nil {
		return nil, err
	}
	data = slices.Clip(data) // a caller that appends gets a copy
	r.add(string(packed), data)
	return data, nil
}

// add remembers a result that is not too large, in place of those that were used longest ago.
func (r *recent) add(packed string, data []byte) {
	size := len(packed) + len(data)
	if size > maxResult {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results.Contains(packed) { // two callers have unpacked it
		return
	}
	r.results.Add(packed, data)
	for r.size += size; r.size > maxRecent; {
		r.results.RemoveOldest()
	}
}

// droppable begin the keys of results that Drop looks at.
var droppable = []string{"cache:estimate:", "cache:quote:", "cache:compare:"}

// Drop deletes the estimates, quotes and comparisons for which matches returns true, and
// returns how many. matches gets every JSON object of a result, also those inside others.
// Drop reads all results: it is for an operator.
func Drop(ctx context.Context, client redis.UniversalClient, matches func(object map[string]any) bool) (dropped int, err error) {
	for _, prefix := range droppable {
		err = redisx.Scan(ctx, client, prefix+"*", func(keys []string) error {
			n, err := drop(ctx, client, keys, matches)
			dropped += n
			return err
		})
		if err != nil {
			return dropped, fmt.Errorf("cache: drop: %w", err)
		}
	}
	return dropped, nil
}

// dropChunk is how many results are in memory at once.
const dropChunk = 50

func drop(ctx context.Context, client redis.UniversalClient, keys []string, matches func(map[string]any) bool) (int, error) {
	n := 0
	for len(keys) > 0 {
		chunk := keys[:min(len(keys), dropChunk)]
		keys = keys[len(chunk):]
		names := make([]Key, len(chunk))
		for i, key := range chunk {
			names[i] = Key(key)
		}
		results, err := New(client).GetAll(ctx, names)
		if err != nil {
			return n, err
		}
		for i, result := range results {
			var value any
			if json.Unmarshal(result, &value) != nil || !contains(value, matches) {
				continue
			}
			if err := client.Del(ctx, chunk[i]).Err(); err != nil {
				return n, err
			}
			n++
			if !strings.HasPrefix(chunk[i], droppable[0]) {
				continue
			}
			if err := client.Del(ctx, string(ExplanationKey(names[i]))).Err(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// contains reports whether an object of a JSON value matches.
func contains(value any, matches func(map[string]any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		if matches(value) {
			return true
		}
		for _, part := range value {
			if contains(part, matches) {
				return true
			}
		}
	case []any:
		for _, part := range value {
			if contains(part, matches) {
				return true
			}
		}
	}
	return false
}
