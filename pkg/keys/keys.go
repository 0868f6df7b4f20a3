// Package keys issues, lists, revokes and verifies API keys. A key is shown
// once, when it is made; Redis holds only its SHA-256, which is enough
// because a key is random and far too long to guess.
//
// In Redis: key:<sha256> is the record of one key, and keys:index maps the id
// of every key to that hash. Every command touches one Redis key, so all of
// it works on Redis Cluster.
package keys

import (
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
	// ErrInvalid means that a key opens nothing: malformed, unknown and
	// revoked look alike on purpose.
	ErrInvalid = errors.New("keys: invalid key")
	// ErrNotFound means that no key has the id.
	ErrNotFound = errors.New("keys: no key with that id")
	// ErrName means that a name is empty, longer than 100 bytes or not
	// printable.
	ErrName = errors.New("keys: a name needs 1 to 100 printable characters")
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
	Name    string       `json:"name"` // whom it was issued to
	Hint    string       `json:"hint"` // the last four characters, to tell keys apart
	Created time.Time    `json:"created"`
	Revoked time.Time    `json:"revoked,omitzero"` // zero while the key is good
	Limits  quota.Limits `json:"limits,omitzero"`  // zero: the server's
}

// Store keeps API keys in Redis.
type Store struct{ rdb redis.UniversalClient }

// NewStore makes a Store on a Redis connection.
func NewStore(rdb redis.UniversalClient) *Store { return &Store{rdb} }

// Create issues a key with the server's limits and returns it in plain text, which nothing can do
// again, together with its record.
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
	// The index goes first: a crash in between leaves an entry that leads
	// nowhere, never a good key that cannot be listed and revoked.
	hash := hashOf(plain)
	if err := s.rdb.HSet(ctx, index, key.ID, hash).Err(); err != nil {
		return "", Key{}, fmt.Errorf("keys: index: %w", err)
	}
	if err := s.write(ctx, hash, key, s.rdb.SetNX); err != nil {
		return "", Key{}, err
	}
	return plain, key, nil
}

// Verify returns the record of a good key, or ErrInvalid. It costs one read,
// and none when the key is malformed.
func (s *Store) Verify(ctx context.Context, plain string) (Key, error) {
	if !wellFormed(plain) {
		return Key{}, ErrInvalid
	}
	key, err := s.read(ctx, hashOf(plain))
	if errors.Is(err, redis.Nil) || err == nil && !key.Revoked.IsZero() {
		return Key{}, ErrInvalid
	}
	return key, err
}

// List returns every key, revoked ones too, oldest first.
func (s *Store) List(ctx context.Context) ([]Key, error) {
	hashes, err := s.rdb.HVals(ctx, index).Result()
	if err != nil {
		return nil, fmt.Errorf("keys: index: %w", err)
	}
	keys := make([]Key, 0, len(hashes))
	for _, hash := range hashes {
		key, err := s.read(ctx, hash)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		if byTime := a.Created.Compare(b.Created); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.ID, b.ID)
	})
	return keys, nil
}

// Limit gives a key limits of its own, from the next request on; the zero
// value gives it the server's. An unknown id is ErrNotFound.
func (s *Store) Limit(ctx context.Context, id string, limits quota.Limits) error {
	return s.change(ctx, id, func(key *Key) { key.Limits = limits })
}

// Revoke ends a key at once: every request reads the record. A key that is
// revoked already keeps its first date. An unknown id is ErrNotFound.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.change(ctx, id, func(key *Key) {
		if key.Revoked.IsZero() {
			key.Revoked = time.Now().UTC().Truncate(time.Second)
		}
	})
}

// change writes a key's record anew. Two changes at once, which only an
// operator can make, leave one of them.
func (s *Store) change(ctx context.Context, id string, change func(*Key)) error {
	hash, err := s.rdb.HGet(ctx, index, id).Result()
	if errors.Is(err, redis.Nil) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("keys: index: %w", err)
	}
	key, err := s.read(ctx, hash)
	if errors.Is(err, redis.Nil) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	before := key
	change(&key)
	if key == before {
		return nil
	}
	return s.write(ctx, hash, key, s.rdb.SetXX)
}

func (s *Store) read(ctx context.Context, hash string) (Key, error) {
	var key Key
	record, err := s.rdb.Get(ctx, "key:"+hash).Bytes()
	if err != nil {
		return key, fmt.Errorf("keys: read: %w", err)
	}
	if err := json.Unmarshal(record, &key); err != nil {
		return key, fmt.Errorf("keys: record: %w", err)
	}
	return key, nil
}

// write stores a record with SetNX or SetXX.
func (s *Store) write(ctx context.Context, hash string, key Key,
	set func(context.Context, string, any, time.Duration) *redis.BoolCmd,
) error {
	record, err := json.Marshal(key)
	if err != nil {
		return fmt.Errorf("keys: record: %w", err)
	}
	if err := set(ctx, "key:"+hash, record, 0).Err(); err != nil {
		return fmt.Errorf("keys: write: %w", err)
	}
	return nil
}

func hashOf(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
