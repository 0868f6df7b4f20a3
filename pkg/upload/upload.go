// Package upload keeps files that callers send, from the request until a
// worker has read them. They are too large for a task or a job's record, and
// equal ones are kept once.
package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// MaxBytes is the largest file that is kept: a photograph of a phone at its
// best has ten megabytes.
const MaxBytes = 12 << 20

// lifetime of a file: longer than the job that needs it may take.
const lifetime = 30 * time.Minute

// Errors of a Store. Any other error means that Redis did not answer.
var (
	// ErrTooLarge means that a file has more than MaxBytes.
	ErrTooLarge = errors.New("upload: the file is too large")
	// ErrGone means that there is no such file any more.
	ErrGone = errors.New("upload: no such file")
)

// Store keeps files in Redis, as they are: pictures and PDFs are compressed
// already.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

func key(hash string) string { return "upload:{" + hash + "}" }

// Hash names a file: equal files have equal hashes.
func Hash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// Put keeps a file under its Hash for half an hour from now.
func (s *Store) Put(ctx context.Context, hash string, file []byte) error {
	if len(file) > MaxBytes {
		return ErrTooLarge
	}
	if err := s.redis.Set(ctx, key(hash), file, lifetime).Err(); err != nil {
		return fmt.Errorf("upload: put: %w", err)
	}
	return nil
}

// Get returns a file, or ErrGone.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	file, err := s.redis.Get(ctx, key(hash)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("upload: get: %w", err)
	}
	return file, nil
}

// Drop forgets a file.
func (s *Store) Drop(ctx context.Context, hash string) error {
	if err := s.redis.Del(ctx, key(hash)).Err(); err != nil {
		return fmt.Errorf("upload: drop: %w", err)
	}
	return nil
}
