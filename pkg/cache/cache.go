// Package cache keeps finished answers in Redis as the bytes that the API
// will send, so that serving one again is a single read and a write.
package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pack"
)

// Errors of the cache. Any other error means that Redis did not answer.
var (
	// ErrMiss means that nothing is cached under the key.
	ErrMiss = errors.New("cache: miss")
	// ErrNoFlag means that a response is not a JSON object with a top-level
	// boolean "cached".
	ErrNoFlag = errors.New(`cache: the response has no "cached" flag`)
)

// estimateTTL is the specification's, section 8.
const estimateTTL = 14 * 24 * time.Hour

// SheetTTL is how long what was read of an inspection sheet is kept.
const SheetTTL = 30 * 24 * time.Hour

// Key names one cached answer.
type Key string

// EstimateKey names the estimate of a listing by its canonical URL.
func EstimateKey(canonicalURL string) Key {
	sum := sha256.Sum256([]byte(canonicalURL))
	return Key("cache:estimate:" + hex.EncodeToString(sum[:]))
}

// UploadKey names the estimate of a page that a caller sent, by its listing's
// canonical URL and the page's hash, so that nobody else is served figures of
// a page that somebody made up. Without a hash it is EstimateKey.
func UploadKey(canonicalURL, hash string) Key {
	if hash == "" {
		return EstimateKey(canonicalURL)
	}
	return EstimateKey(canonicalURL + "\n" + hash) // no URL holds a line break
}

// LabelKey names an estimate with the label that the caller chose, so that
// nobody else is served another's choice. Without a label it is the same key.
func LabelKey(estimate Key, modelBody string) Key {
	if modelBody == "" {
		return estimate
	}
	return EstimateKey(string(estimate) + "\n" + modelBody)
}

// QuoteKey names the estimate of a described car by the canonical description.
func QuoteKey(input []byte) Key {
	sum := sha256.Sum256(input)
	return Key("cache:quote:" + hex.EncodeToString(sum[:]))
}

// ExplanationKey names where the values of an estimate came from.
func ExplanationKey(estimate Key) Key {
	return "cache:explanation:" + estimate[len("cache:estimate:"):]
}

// ReadingKey names what was read of an inspection sheet, by the sheet's id.
func ReadingKey(sheet string) Key { return Key("cache:reading:" + sheet) }

// ListingKey names the estimate, by its key, whose listing has a sheet.
func ListingKey(sheet string) Key { return Key("cache:listing:" + sheet) }

// CompareKey names the comparison of two listings, in this order, by their
// canonical URLs, in a language.
func CompareKey(url1, url2, lang string) Key {
	sum := sha256.Sum256([]byte(url1 + "\n" + url2 + "\n" + lang)) // no URL holds a line break
	return Key("cache:compare:" + hex.EncodeToString(sum[:]))
}

// EstimateExpiry returns until when an estimate made now holds: 14 days, and
// never past the end of the authority's quarter, where its values change.
// The last quarter ends with the calendar year, where ages change.
func EstimateExpiry(now, quarterEnd time.Time) time.Time {
	if expiry := now.Add(estimateTTL); expiry.Before(quarterEnd) {
		return expiry
	}
	return quarterEnd
}

// Cache keeps answers in Redis.
type Cache struct{ rdb redis.Cmdable }

// New makes a Cache on a Redis connection.
func New(rdb redis.UniversalClient) *Cache { return &Cache{rdb} }

// Get returns the bytes that were put, in those of Put with "cached" true, or
// ErrMiss.
func (c *Cache) Get(ctx context.Context, key Key) ([]byte, error) {
	response, err := c.rdb.Get(ctx, string(key)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrMiss
	}
	if err != nil {
		return nil, fmt.Errorf("cache: get: %w", err)
	}
	if !bytes.HasPrefix(response, packed) { // kept by an earlier version
		return response, nil
	}
	if response, err = pack.Unpack(response); err != nil {
		return nil, ErrMiss // of another version, or spoiled: it is asked for anew
	}
	return response, nil
}

// packed is how everything begins that is packed, and no JSON.
var packed = pack.Pack(nil)[:4]

// Put keeps a response until its expiry, with its "cached" turned to true and
// every other byte as it is. A response that has expired is not kept.
func (c *Cache) Put(ctx context.Context, key Key, response []byte, expiry time.Time) error {
	marked, err := markCached(response)
	if err != nil {
		return err
	}
	return c.PutRaw(ctx, key, marked, expiry)
}

// PutRaw keeps bytes as they are until their expiry; nothing when that is
// past.
func (c *Cache) PutRaw(ctx context.Context, key Key, data []byte, expiry time.Time) error {
	lifetime := time.Until(expiry)
	if lifetime <= 0 {
		return nil
	}
	if err := c.rdb.Set(ctx, string(key), pack.Pack(data), lifetime).Err(); err != nil {
		return fmt.Errorf("cache: put: %w", err)
	}
	return nil
}

// Delete deletes answers.
func (c *Cache) Delete(ctx context.Context, keys ...Key) error {
	for _, key := range keys { // they may stand on several servers
		if err := c.rdb.Del(ctx, string(key)).Err(); err != nil {
			return fmt.Errorf("cache: drop: %w", err)
		}
	}
	return nil
}

// Pipelined has all that do puts and drops written in one round trip.
func (c *Cache) Pipelined(ctx context.Context, do func(*Cache) error) error {
	_, err := c.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error { return do(&Cache{pipe}) })
	return err
}

// markCached replaces the value of the top-level "cached".
func markCached(response []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(response))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, ErrNoFlag
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoFlag, err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoFlag, err)
		}
		if name == "cached" && (string(value) == "false" || string(value) == "true") {
			end := int(decoder.InputOffset())
			return bytes.Join([][]byte{response[:end-len(value)], response[end:]}, []byte("true")), nil
		}
	}
	return nil, ErrNoFlag
}
