// Package paste keeps pages that callers send in place of having them fetched,
// from the request until a worker has read them. They are too large for a
// task or a job's record, and equal ones are kept once.
package paste

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
)

// MaxBytes is the largest page that may be sent. The largest listing page seen
// has 600 KB.
const MaxBytes = 4 << 20

// lifetime of a page: longer than the job that needs it may take.
const lifetime = 30 * time.Minute

// Errors of a Store. Any other error means that Redis did not answer.
var (
	// ErrTooLarge means that a page has more than MaxBytes.
	ErrTooLarge = errors.New("paste: the page is too large")
	// ErrGone means that there is no such page any more.
	ErrGone = errors.New("paste: no such page")
)

// Store keeps pages in Redis, compressed: a page takes about an eighth of its
// size.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{client} }

func key(hash string) string { return "page:{" + hash + "}" }

// Hash names a page: equal pages have equal hashes.
func Hash(page string) string {
	sum := sha256.Sum256([]byte(page))
	return hex.EncodeToString(sum[:])
}

// Put keeps a page under its Hash for half an hour from now.
func (s *Store) Put(ctx context.Context, hash, page string) error {
	if len(page) > MaxBytes {
		return ErrTooLarge
	}
	var packed bytes.Buffer
	packer, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = io.WriteString(packer, page)
	}
	if err == nil {
		err = packer.Close()
	}
	if err != nil {
		return fmt.Errorf("paste: %w", err)
	}
	if err := s.redis.Set(ctx, key(hash), packed.Bytes(), lifetime).Err(); err != nil {
		return fmt.Errorf("paste: put: %w", err)
	}
	return nil
}

// Get returns a page, or ErrGone.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	packed, err := s.redis.Get(ctx, key(hash)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("paste: get: %w", err)
	}
	packer, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("paste: %w", err)
	}
	page, err := io.ReadAll(io.LimitReader(packer, MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("paste: %w", err)
	}
	return page, nil
}
