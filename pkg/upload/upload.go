// Package upload stores pages and files that callers send, from the request until
// a worker has read them. They are too large for a task or a job's record, and
// equal ones are stored once.
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

// Maximum sizes in bytes.
const (
	// MaxPage is for a listing page. The largest that was seen has 600 KB.
	MaxPage = 4 << 20
	// MaxFile is for an image or a PDF. A phone's best photograph has ten megabytes.
	MaxFile = 12 << 20
)

// contentTTL is longer than the job that needs a content may take.
const contentTTL = 30 * time.Minute

// ErrExpired means that a content has expired or was deleted. Any other error means
// that Redis did not answer.
var ErrExpired = errors.New("upload: no such content")

// Store stores contents in Redis, packed: a page takes about an eighth of its size;
// an image, which is compressed already, all of it.
type Store struct{ redis redis.UniversalClient }

// NewStore returns a Store on a Redis connection, which the caller closes.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

func key(hash string) string { return "upload:{" + hash + "}" }

// Hash returns the name of a content: equal contents have equal hashes.
func Hash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Put stores a content under its Hash for half an hour from now.
func (s *Store) Put(ctx context.Context, hash string, content []byte) error {
	if err := s.redis.Set(ctx, key(hash), pack.Pack(content), contentTTL).Err(); err != nil {
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

// Delete deletes a content. Deleting it twice does nothing.
func (s *Store) Delete(ctx context.Context, hash string) error {
	if err := s.redis.Del(ctx, key(hash)).Err(); err != nil {
		return fmt.Errorf("upload: delete: %w", err)
	}
	return nil
}
