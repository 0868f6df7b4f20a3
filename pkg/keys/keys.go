// Package keys issues, lists, revokes and verifies API keys. A key is shown
// once, when it is created; Redis holds only its SHA-256, which is enough
// because a key is random and far too long to guess.
//
// In Redis: key:<sha256> is the record of one key, keys:index maps the id of every
// key to that hash, and the id with ".old" to that of the key before a rotation;
// keys:names maps the name of every key to its id. Every command touches one Redis
// key, so all of them work on Redis Cluster. keys:changed is the channel on which
// changes are published.
package keys

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
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
	// ErrNameTaken means that a valid key has the name already. Case does not count.
	ErrNameTaken = errors.New("keys: another key has that name")
	// ErrNotValid means that a key that is to be rotated is revoked or has expired.
	ErrNotValid = errors.New("keys: the key is revoked or has expired")
	// ErrRotated means that another rotation of the key came first.
	ErrRotated = errors.New("keys: another rotation of the key came first")
)

const (
	index      = "keys:index"
	oldSuffix  = ".old" // of an id in the index: the key before the rotation
	idLength   = 12
	hintLength = 4
	maxName    = 100
)

// Key is the record of one API key. It does not hold the key itself.
type Key struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"` // of the person or system that it was issued to
	Hint    string      `json:"hint"` // its last four characters, to tell keys apart
	Created time.Time   `json:"created"`
	Revoked time.Time   `json:"revoked,omitzero"` // zero while the key is valid
	Limits  pace.Limits `json:"limits,omitzero"`  // zero: the server's
	Expires time.Time   `json:"expires,omitzero"` // zero: never
	// OldUntil is until when the key before the last rotation is valid too; zero when
	// there was none.
	OldUntil time.Time `json:"oldUntil,omitzero"`
}

// IsValid reports whether the key is neither revoked nor expired at a time.
func (k Key) IsValid(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// Store stores API keys in Redis.
type Store struct{ redis redis.UniversalClient }

// NewStore returns a Store on a Redis connection, which the caller closes.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

// Verify returns the record of a valid key, or ErrInvalid, with the id of a key that was
// valid, for the log. It makes one read, and
// none when the key is malformed.
func (s *Store) Verify(ctx context.Context, plain string) (Key, error) {
	if !wellFormed(plain) {
		return Key{}, ErrInvalid
	}
	key, _, err := s.read(ctx, hashOf(plain))
	switch {
	case errors.Is(err, redis.Nil):
		return Key{}, ErrInvalid
	case err == nil && !key.IsValid(time.Now()):
		return Key{ID: key.ID}, ErrInvalid
	}
	return key, err
}

// IDs returns the ids of all keys, also those whose record is lost.
func (s *Store) IDs(ctx context.Context) ([]string, error) {
	fields, err := s.redis.HKeys(ctx, index).Result()
	if err != nil {
		return nil, fmt.Errorf("keys: index: %w", err)
	}
	ids := slices.DeleteFunc(fields, func(id string) bool { return strings.HasSuffix(id, oldSuffix) })
	slices.Sort(ids)
	return ids, nil
}

// List returns every key, revoked ones too, oldest first. Of a rotated key it returns
// the new one only.
func (s *Store) List(ctx context.Context) ([]Key, error) {
	all, err := s.redis.HGetAll(ctx, index).Result()
	if err != nil {
		return nil, fmt.Errorf("keys: index: %w", err)
	}
	keys := make([]Key, 0, len(all))
	for id := range all {
		if strings.HasSuffix(id, oldSuffix) {
			continue
		}
		key, _, err := s.readFirst(ctx, all[id], all[id+oldSuffix])
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

// readFirst returns the first key of hashes that has a record, and its hash. That of a
// rotation whose process died has none, and the old key goes on.
func (s *Store) readFirst(ctx context.Context, hashes ...string) (key Key, hash string, err error) {
	err = fmt.Errorf("keys: read: %w", redis.Nil)
	for _, hash := range hashes {
		if hash == "" {
			continue
		}
		if key, _, err = s.read(ctx, hash); !errors.Is(err, redis.Nil) {
			return key, hash, err
		}
	}
	return key, "", err
}

// hashesOf returns the hash of a key and that of the key before its rotation; "" for
// what there is not.
func (s *Store) hashesOf(ctx context.Context, id string) (hashes []string, err error) {
	found, err := s.redis.HMGet(ctx, index, id, id+oldSuffix).Result()
	if err != nil {
		return nil, fmt.Errorf("keys: index: %w", err)
	}
	for _, value := range found {
		hash, _ := value.(string)
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// Get returns the record of a key by its id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id string) (Key, error) {
	key, _, err := s.newest(ctx, id)
	return key, err
}

// newest returns what Get does, and the hash of the key.
func (s *Store) newest(ctx context.Context, id string) (key Key, hash string, err error) {
	hashes, err := s.hashesOf(ctx, id)
	if err == nil {
		key, hash, err = s.readFirst(ctx, hashes...)
	}
	if errors.Is(err, redis.Nil) {
		err = ErrNotFound
	}
	return key, hash, err
}

// Limits returns the limits of a key by its id; none when there is no such key.
func (s *Store) Limits(ctx context.Context, id string) (pace.Limits, error) {
	key, err := s.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return pace.Limits{}, nil
	}
	return key.Limits, err
}

// Limit sets the limits of a key, within a second; the zero value restores the
// server's. An unknown id is ErrNotFound.
func (s *Store) Limit(ctx context.Context, id string, limits pace.Limits) error {
	_, err := s.ChangeLimits(ctx, id, func(l *pace.Limits) { *l = limits })
	return err
}

// ChangeLimits changes the limits of a key as Limit does, and returns them.
func (s *Store) ChangeLimits(ctx context.Context, id string, change func(*pace.Limits)) (limits pace.Limits, err error) {
	err = s.update(ctx, id, func(key *Key) {
		change(&key.Limits)
		limits = key.Limits
	})
	return limits, err
}

// Expire sets when a key expires, but not the one before its rotation; the zero time is
// never. An unknown id is ErrNotFound.
func (s *Store) Expire(ctx context.Context, id string, at time.Time) error {
	_, hash, err := s.newest(ctx, id)
	if err == nil {
		err = s.updateRecord(ctx, hash, func(key *Key) { key.Expires = at.UTC().Truncate(time.Second) })
		s.announce(ctx, id)
	}
	return err
}

// Revoke revokes a key, and the one before its rotation: a Store refuses them at once, a
// Memory within a second. It also works while Redis has no memory left; then the record of
// the key is lost. A key that is already revoked keeps its first date. An unknown id is
// ErrNotFound.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.update(ctx, id, func(key *Key) {
		if key.Revoked.IsZero() {
			key.Revoked = time.Now().UTC().Truncate(time.Second)
		}
	})
}

// update changes the record of a key, and of the key before its rotation.
func (s *Store) update(ctx context.Context, id string, change func(*Key)) error {
	hashes, err := s.hashesOf(ctx, id)
	if err != nil {
		return err
	}
	found := false
	for _, hash := range slices.Backward(hashes) {
		if hash == "" {
			continue
		}
		err := s.updateRecord(ctx, hash, change)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		found = found || err == nil
	}
	if !found {
		return ErrNotFound
	}
	s.announce(ctx, id)
	return nil
}

// announce tells every Memory that a key has changed. A message that is lost is made up for
// by the bound on the age of what a Memory remembers.
func (s *Store) announce(ctx context.Context, id string) {
	_ = s.redis.Publish(ctx, ChannelChanged, id).Err()
}

// updateRecord changes one record. When another process changes it at the same time,
// updateRecord reads it again: no change is lost, and a revoked key stays so.
func (s *Store) updateRecord(ctx context.Context, hash string, change func(*Key)) error {
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
		written, err := redisx.Replace(ctx, s.redis, keyRecord(hash), old, record, !key.Revoked.IsZero())
		if err != nil {
			return fmt.Errorf("keys: write: %w", err)
		}
		if written { // else another change was, so this loop ends
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

const (
	prefix         = "ush_" // lets people and secret scanners recognize a key
	randomLength   = 32     // 190 bits
	checksumLength = 6      // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// generate returns a new key: the prefix, random characters, their checksum.
func generate() string {
	secret := randomText(randomLength)
	return prefix + secret + checksum(secret)
}

// wellFormed reports whether a text has the format of a key. A mistyped or
// invented key fails here and costs no read.
func wellFormed(plain string) bool {
	rest, found := strings.CutPrefix(plain, prefix)
	if !found || len(rest) != randomLength+checksumLength {
		return false
	}
	secret, sum := rest[:randomLength], rest[randomLength:]
	return strings.Trim(secret, alphabet) == "" && sum == checksum(secret)
}

// checksum returns the CRC32 (IEEE) of the text as six base62 digits.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	digits := make([]byte, checksumLength)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits)
}

// randomText returns n random characters of the alphabet. Bytes above the last
// multiple of its length are discarded: they would favour its start.
func randomText(n int) string {
	const fair = 256 / len(alphabet) * len(alphabet)
	text := make([]byte, 0, n)
	for buffer := make([]byte, n); len(text) < n; {
		_, _ = rand.Read(buffer) // never returns an error
		for _, b := range buffer {
			if int(b) < fair && len(text) < n {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
