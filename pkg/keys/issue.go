package keys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const keyNames = "keys:names" // hash: name in lower case → id of the key that has it

// Create issues a key with the server's limits that does not expire. It returns the key in
// plain text, which no other method can, and its record. The error is ErrNameTaken when a
// valid key has the name.
func (s *Store) Create(ctx context.Context, name string) (string, Key, error) {
	return s.CreateUntil(ctx, name, time.Time{})
}

// CreateUntil is Create of a key that expires; the zero time is never.
func (s *Store) CreateUntil(ctx context.Context, name string, expires time.Time) (string, Key, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, notPrintable) {
		return "", Key{}, ErrName
	}
	if err := s.checkName(ctx, name); err != nil {
		return "", Key{}, err
	}
	plain := generate()
	key := Key{
		ID: randomText(idLength), Name: name, Hint: hintOf(plain), Created: time.Now().UTC().Truncate(time.Second),
		Expires: expires.UTC().Truncate(time.Second),
	}
	// The index is written first: a crash in between leaves an entry without a
	// record, never a valid key that cannot be listed and revoked.
	hash := hashOf(plain)
	if err := s.redis.HSet(ctx, index, key.ID, hash).Err(); err != nil {
		return "", Key{}, fmt.Errorf("keys: index: %w", err)
	}
	if _, err := s.add(ctx, hash, key); err != nil {
		return "", Key{}, err
	}
	if err := s.takeName(ctx, key); err != nil {
		return "", Key{}, errors.Join(err, s.discard(ctx, hash, key.ID))
	}
	return plain, key, nil
}

func hintOf(plain string) string { return plain[len(plain)-hintLength:] }

// add writes the record of a key, unless there is one.
func (s *Store) add(ctx context.Context, hash string, key Key) (added bool, err error) {
	record, err := json.Marshal(key)
	if err == nil {
		added, err = s.redis.SetNX(ctx, keyRecord(hash), record, 0).Result()
	}
	if err != nil {
		return false, fmt.Errorf("keys: write: %w", err)
	}
	return added, nil
}

// discard deletes a key that was not shown to anyone.
func (s *Store) discard(ctx context.Context, hash, id string) error {
	return errors.Join(s.redis.Del(ctx, keyRecord(hash)).Err(), s.redis.HDel(ctx, index, id).Err())
}

// checkName returns ErrNameTaken when a valid key has a name. Keys of earlier versions are
// not in keys:names.
func (s *Store) checkName(ctx context.Context, name string) error {
	pipe := s.redis.Pipeline()
	names, ids := pipe.HLen(ctx, keyNames), pipe.HLen(ctx, index)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("keys: names: %w", err)
	}
	if names.Val() >= ids.Val() {
		return nil // takeName finds it
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	for _, key := range all {
		if strings.EqualFold(key.Name, name) && key.IsValid(time.Now()) {
			return ErrNameTaken
		}
	}
	return nil
}

// scriptTakeName gives a name to a key if it still belongs to the given one. ARGV: name,
// the id that has it ("" for none), id of the key.
var scriptTakeName = redis.NewScript(`
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`)

// takeName gives a key its name, unless a valid key has it. Of two keys that are created at
// the same time one gets it.
func (s *Store) takeName(ctx context.Context, key Key) error {
	name := strings.ToLower(key.Name)
	for {
		holder, err := s.redis.HGet(ctx, keyNames, name).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return fmt.Errorf("keys: names: %w", err)
		}
		if holder != "" {
			other, err := s.Get(ctx, holder)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			if err == nil && other.IsValid(time.Now()) {
				return ErrNameTaken
			}
		}
		taken, err := scriptTakeName.Run(ctx, s.redis, []string{keyNames}, name, holder, key.ID).Bool()
		if err != nil {
			return fmt.Errorf("keys: names: %w", err)
		}
		if taken {
			return nil
		}
	}
}

// Rotate issues a new key with the id, name, limits and work of one, which stays valid for
// a grace; 0 ends it at once. It returns the new key in plain text. The error is ErrNotFound
// or ErrNotValid when there is no valid key with the id. A key of an earlier rotation ends.
func (s *Store) Rotate(ctx context.Context, id string, grace time.Duration) (string, Key, error) {
	hashes, err := s.hashesOf(ctx, id)
	if err != nil {
		return "", Key{}, err
	}
	key, current, err := s.readFirst(ctx, hashes...)
	switch {
	case errors.Is(err, redis.Nil):
		return "", Key{}, ErrNotFound
	case err != nil:
		return "", Key{}, err
	case !key.IsValid(time.Now()):
		return "", Key{}, ErrNotValid
	}
	for _, hash := range hashes {
		if hash == "" || hash == current {
			continue
		}
		if err := s.redis.Del(ctx, keyRecord(hash)).Err(); err != nil {
			return "", Key{}, fmt.Errorf("keys: end an old key: %w", err)
		}
	}
	plain, now := generate(), time.Now().UTC().Truncate(time.Second)
	key.Hint, key.OldUntil = hintOf(plain), now.Add(grace)
	// Both are in the index before there is a new record: a crash leaves the old key as it
	// was, and it can be listed, revoked and rotated.
	hash := hashOf(plain)
	if err := s.redis.HSet(ctx, index, id, hash, id+oldSuffix, current).Err(); err != nil {
		return "", Key{}, fmt.Errorf("keys: index: %w", err)
	}
	if _, err := s.add(ctx, hash, key); err != nil {
		return "", Key{}, err
	}
	if err := s.endOld(ctx, current, key.OldUntil, grace); err != nil {
		return "", Key{}, err
	}
	s.announce(ctx, id)
	return plain, key, nil
}

// endOld has an old key expire, and its record with it.
func (s *Store) endOld(ctx context.Context, hash string, until time.Time, grace time.Duration) error {
	if grace <= 0 {
		return s.redis.Del(ctx, keyRecord(hash)).Err()
	}
	err := s.updateRecord(ctx, hash, func(key *Key) {
		if key.Expires.IsZero() || until.Before(key.Expires) {
			key.Expires = until
		}
	})
	if err != nil {
		return err
	}
	return s.redis.ExpireAt(ctx, keyRecord(hash), until.Add(time.Second)).Err()
}
