// Package keys issues, lists, revokes and verifies API keys. A key is shown
// once, when it is created; Redis holds only its SHA-256, which is enough
// because a key is random and far too long to guess.
//
// In Redis: key:<sha256> is the record of one key, and keys:index maps the id
// of every key to that hash. Every command touches one Redis key, so all of
// them work on Redis Cluster. keys:changed is the channel on which changes are
// published.
package keys

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/quota"
)

// Errors of the store. Any other error means that Redis did not answer.
var (
	// ErrInvalid means that a key is malformed, unknown or revoked. Callers
	// cannot tell which, on purpose.
	ErrInvalid = errors.New("keys: invalid key")
	// ErrNotFound means that no key has the id.
	ErrNotFound = errors.New("keys: no key with that id")
	// ErrName means that a name is empty, longer than 100 bytes or not
	// printable.
	ErrName = errors.New("keys: a name must have 1 to 100 printable characters")
)

const (
	index      = "keys:index"
	idLength   = 12
	hintLength = 4
	maxName    = 100
)

// Key is the record of one API key. It does not hold the key itself.
type Key struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"` // of the person or system that it was issued to
	Hint    string       `json:"hint"` // its last four characters, to tell keys apart
	Created time.Time    `json:"created"`
	Revoked time.Time    `json:"revoked,omitzero"` // zero while the key is valid
	Limits  quota.Limits `json:"limits,omitzero"`  // zero: the server's
}

// Store stores API keys in Redis.
type Store struct{ redis redis.UniversalClient }

// NewStore returns a Store on a Redis connection, which the caller closes.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

// Create issues a key with the server's limits. It returns the key in plain text,
// which no other method can, and its record.
func (s *Store) Create(ctx context.Context, name string) (string, Key, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, notPrintable) {
		return "", Key{}, ErrName
	}
	plain := generate()
	key := Key{
		ID:      randomText(idLength),
		Name:    name,
		Hint:    plain[len(plain)-hintLength:],
		Created: time.Now().UTC().Truncate(time.Second),
	}
	// The index is written first: a crash in between leaves an entry without a
	// record, never a valid key that cannot be listed and revoked.
	hash := hashOf(plain)
	if err := s.redis.HSet(ctx, index, key.ID, hash).Err(); err != nil {
		return "", Key{}, fmt.Errorf("keys: index: %w", err)
	}
	record, err := json.Marshal(key)
	if err != nil {
		return "", Key{}, fmt.Errorf("keys: record: %w", err)
	}
	if err := s.redis.SetNX(ctx, keyRecord(hash), record, 0).Err(); err != nil {
		return "", Key{}, fmt.Errorf("keys: write: %w", err)
	}
	return plain, key, nil
}

// Verify returns the record of a valid key, or ErrInvalid. It makes one read, and
// none when the key is malformed.
func (s *Store) Verify(ctx context.Context, plain string) (Key, error) {
	if !wellFormed(plain) {
		return Key{}, ErrInvalid
	}
	key, _, err := s.read(ctx, hashOf(plain))
	if errors.Is(err, redis.Nil) || err == nil && !key.Revoked.IsZero() {
		return Key{}, ErrInvalid
	}
	return key, err
}

// List returns every key, revoked ones too, oldest first.
func (s *Store) List(ctx context.Context) ([]Key, error) {
	hashes, err := s.redis.HVals(ctx, index).Result()
	if err != nil {
		return nil, fmt.Errorf("keys: index: %w", err)
	}
	keys := make([]Key, 0, len(hashes))
	for _, hash := range hashes {
		key, _, err := s.read(ctx, hash)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return keys, nil
}

// Limits returns the limits of a key by its id; none when there is no such key.
func (s *Store) Limits(ctx context.Context, id string) (quota.Limits, error) {
	hash, err := s.redis.HGet(ctx, index, id).Result()
	if errors.Is(err, redis.Nil) {
		return quota.Limits{}, nil
	}
	if err != nil {
		return quota.Limits{}, fmt.Errorf("keys: index: %w", err)
	}
	key, _, err := s.read(ctx, hash)
	if errors.Is(err, redis.Nil) {
		return quota.Limits{}, nil
	}
	return key.Limits, err
}

// Limit sets the limits of a key, within a second; the zero value restores the
// server's. An unknown id is ErrNotFound.
func (s *Store) Limit(ctx context.Context, id string, limits quota.Limits) error {
	return s.update(ctx, id, func(key *Key) { key.Limits = limits })
}

// Revoke revokes a key: a Store refuses it at once, a Memory within a second. A
// key that is already revoked keeps its first date. An unknown id is ErrNotFound.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.update(ctx, id, func(key *Key) {
		if key.Revoked.IsZero() {
			key.Revoked = time.Now().UTC().Truncate(time.Second)
		}
	})
}

// scriptReplace writes a record if it has not changed. A revoked key is deleted first:
// that works while Redis is full, and after it so does the write. ARGV: old, new, 1 for
// a revoked key.
var scriptReplace = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '1' then
  redis.call('DEL', KEYS[1])
  redis.pcall('SET', KEYS[1], ARGV[2])
  return 1
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`)

// update changes the record of a key. When another process changes it at the same
// time, update reads it again: no change is lost, and a revoked key stays so.
func (s *Store) update(ctx context.Context, id string, change func(*Key)) error {
	hash, err := s.redis.HGet(ctx, index, id).Result()
	if errors.Is(err, redis.Nil) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("keys: index: %w", err)
	}
	for {
		key, old, err := s.read(ctx, hash)
		if errors.Is(err, redis.Nil) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		before := key
		if change(&key); key == before {
			return nil
		}
		record, err := json.Marshal(key)
		if err != nil {
			return fmt.Errorf("keys: record: %w", err)
		}
		written, err := scriptReplace.Run(ctx, s.redis, []string{keyRecord(hash)}, old, record, !key.Revoked.IsZero()).Bool()
		if err != nil {
			return fmt.Errorf("keys: write: %w", err)
		}
		if written { // else another change was, so this loop ends
			// A message that is lost is made up for by the bound on the age of what
			// a Memory remembers.
			_ = s.redis.Publish(ctx, channelChanged, id).Err()
			return nil
		}
	}
}

// read returns a key and its record as it is written.
func (s *Store) read(ctx context.Context, hash string) (key Key, record string, err error) {
	record, err = s.redis.Get(ctx, keyRecord(hash)).Result()
	if err != nil {
		return key, "", fmt.Errorf("keys: read: %w", err)
	}
	if err := json.Unmarshal([]byte(record), &key); err != nil {
		return key, "", fmt.Errorf("keys: record: %w", err)
	}
	return key, record, nil
}

func keyRecord(hash string) string { return "key:" + hash }

func hashOf(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
