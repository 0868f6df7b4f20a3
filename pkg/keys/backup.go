package keys

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/redis/go-redis/v9"
)

// saved is one line of a backup: the record of a key and the hash that it is found
// by. A key cannot be computed from its hash.
type saved struct {
	Key
	Hash string `json:"sha256"`
}

var validHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Export writes the records of all keys as JSON lines, revoked ones too, but not the key
// before a rotation. It holds no key, only hashes; who has the file can use no key, but
// sees names and limits.
func (s *Store) Export(ctx context.Context, w io.Writer) (n int, err error) {
	ids, err := s.IDs(ctx)
	if err != nil {
		return 0, err
	}
	lines := json.NewEncoder(w)
	for _, id := range ids {
		hashes, err := s.hashesOf(ctx, id)
		if err != nil {
			return n, err
		}
		key, hash, err := s.readFirst(ctx, hashes...)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err == nil {
			err = lines.Encode(saved{key, hash})
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Import adds the keys of an export that do not exist, and returns their number. A
// key that exists keeps its record, but is revoked when the export says so: no import
// brings a revoked key back. It may run twice.
func (s *Store) Import(ctx context.Context, r io.Reader) (added int, err error) {
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var line saved
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return added, fmt.Errorf("keys: line %d: %w", number, err)
		}
		if !validHash.MatchString(line.Hash) || line.ID == "" {
			return added, fmt.Errorf("keys: line %d has no sha256 or no id", number)
		}
		isNew, err := s.restore(ctx, line)
		if err != nil {
			return added, fmt.Errorf("line %d: %w", number, err)
		}
		if isNew {
			added++
		}
	}
	return added, lines.Err()
}

// restore writes one key, the index first, as Create does.
func (s *Store) restore(ctx context.Context, line saved) (added bool, err error) {
	if err := s.redis.HSetNX(ctx, index, line.ID, line.Hash).Err(); err != nil {
		return false, fmt.Errorf("keys: index: %w", err)
	}
	hashes, err := s.hashesOf(ctx, line.ID)
	if err != nil {
		return false, err
	}
	switch line.Hash {
	case hashes[0]:
		if added, err = s.add(ctx, line.Hash, line.Key); err != nil {
			return false, err
		}
	case hashes[1]: // it was rotated after the export
	default:
		key, _, err := s.readFirst(ctx, hashes...)
		if err != nil || key.OldUntil.IsZero() { // else it was rotated twice
			return false, fmt.Errorf("keys: another key has the id %s", line.ID)
		}
	}
	if added || line.Revoked.IsZero() {
		return added, nil
	}
	return false, s.revoke(ctx, line.ID, line.Revoked)
}
