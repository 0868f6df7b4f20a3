// Package upload keeps pages and files that callers send, from the request
// until a worker has read them. They are too large for a task or a job's
// record, and equal ones are kept once.
package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pack"
)

// What may be sent, in bytes.
const (
	// MaxPage is for a listing page: the largest that was seen has 600 KB.
	MaxPage = 4 << 20
	// MaxFile is for a picture or PDF: a photograph of a phone at its best has
	// ten megabytes.
	MaxFile = 12 << 20
)

// lifetime of what was sent: longer than the job that needs it may take.
const lifetime = 30 * time.Minute

// ErrExpired means that there is no such content any more. Any other error means
// that Redis did not answer.
var ErrExpired = errors.New("upload: no such content")

// Store keeps contents in Redis, packed: a page takes about an eighth of its
// size, a picture, which is packed already, what it has.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

func key(hash string) string { return "upload:{" + hash + "}" }

// Hash names a content: equal contents have equal hashes.
func Hash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Put keeps a content under its Hash for half an hour from now.
func (s *Store) Put(ctx context.Context, hash string, content []byte) error {
	if err := s.redis.Set(ctx, key(hash), pack.Pack(content), lifetime).Err(); err != nil {
		return fmt.Errorf("upload: put: %w", err)
	}
	return nil
}

// Get returns a content, or ErrExpired.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	packed, err := s.redis.Get(ctx, key(hash)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrExpired
	}
	if err != nil {
		return nil, fmt.Errorf("upload: get: %w", err)
	}
	return pack.Unpack(packed)
}

// Delete deletes a content.
func (s *Store) Delete(ctx context.Context, hash string) error {
	if err := s.redis.Del(ctx, key(hash)).Err(); err != nil {
		return fmt.Errorf("upload: drop: %w", err)
	}
	return nil
}
