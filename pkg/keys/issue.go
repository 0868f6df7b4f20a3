package keys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
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
	if err := s.add(ctx, hash, key); err != nil {
		return "", Key{}, err
	}
	if err := s.takeName(ctx, key); err != nil {
		return "", Key{}, errors.Join(err, s.discard(ctx, hash, key.ID))
	}
	return plain, key, nil
}

func hintOf(plain string) string { return plain[len(plain)-hintLength:] }

// add writes the record of a key, unless there is one.
func (s *Store) add(ctx context.Context, hash string, key Key) error {
	record, err := json.Marshal(key)
	if err == nil {
		err = s.redis.SetNX(ctx, keyRecord(hash), record, 0).Err()
	}
	if err != nil {
		return fmt.Errorf("keys: write: %w", err)
	}
	return nil
}

// discard deletes a key that was not shown to anyone.
func (s *Store) discard(ctx context.Context, hash, id string) error {
	return errors.Join(s.redis.Del(ctx, keyRecord(hash)).Err(), s.redis.HDel(ctx, index, id).Err())
}

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
		taken, err := redisx.Swap(ctx, s.redis, keyNames, name, holder, key.ID)
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
// or ErrNotValid when there is no valid key with the id, and ErrRotated when another
// rotation came first. A key of an earlier rotation ends.
func (s *Store) Rotate(ctx context.Context, id string, grace time.Duration) (string, Key, error) {
	hashes, err := s.hashesOf(ctx, id)
	if err != nil {
		return "", Key{}, err
	}
	key, current, err := s.inUse(ctx, hashes)
	switch {
	case errors.Is(err, redis.Nil):
		return "", Key{}, ErrNotFound
	case err != nil:
		return "", Key{}, err
	case !key.IsValid(time.Now()):
		return "", Key{}, ErrNotValid
	}
	plain, now := generate(), time.Now().UTC().Truncate(time.Second)
	key.Hint, key.OldUntil = hintOf(plain), now.Add(grace)
	if err := s.succeed(ctx, hashes, current, hashOf(plain), key); err != nil {
		return "", Key{}, err
	}
	if err := s.endOld(ctx, current, key.OldUntil, grace); err != nil {
		return "", Key{}, err
	}
	s.announce(ctx, id)
	return plain, key, nil
}

// inUse returns the key of hashes that its owner has: the newest, or the one before its
// rotation when that does not end as the rotation says. Then the rotation has failed before
// anyone saw the new key.
func (s *Store) inUse(ctx context.Context, hashes []string) (Key, string, error) {
	key, current, err := s.readFirst(ctx, hashes...)
	old := hashes[len(hashes)-1]
	if err != nil || key.OldUntil.IsZero() || old == "" || old == current {
		return key, current, err
	}
	before, _, err := s.read(ctx, old)
	switch {
	case errors.Is(err, redis.Nil):
		return key, current, nil
	case err == nil && (before.Expires.IsZero() || before.Expires.After(key.OldUntil)):
		return before, old, nil
	}
	return key, current, err
}

// succeed stores the key that follows the current one of hashes; the others end.
func (s *Store) succeed(ctx context.Context, hashes []string, current, hash string, key Key) error {
	endOthers := func() (err error) {
		for _, other := range hashes {
			if other != "" && other != current {
				err = errors.Join(err, s.redis.Del(ctx, keyRecord(other)).Err())
			}
		}
		return err
	}
	if err := endOthers(); err != nil {
		return fmt.Errorf("keys: end an old key: %w", err)
	}
	// Both are in the index before there is a new record: a crash leaves the old key as it
	// was, and it can be listed, revoked and rotated.
	swapped, err := redisx.Swap(ctx, s.redis, index, key.ID, hashes[0], hash, key.ID+oldSuffix, current)
	if err != nil {
		return fmt.Errorf("keys: index: %w", err)
	}
	if !swapped {
		return ErrRotated
	}
	if err := s.add(ctx, hash, key); err != nil {
		return err
	}
	// A rotation at the same time may have stored a key that the index no longer has: it
	// or this one deletes that.
	if err := endOthers(); err != nil {
		return fmt.Errorf("keys: end an old key: %w", err)
	}
	switch newest, err := s.redis.HGet(ctx, index, key.ID).Result(); {
	case err != nil:
		return fmt.Errorf("keys: index: %w", err)
	case newest != hash:
		return errors.Join(ErrRotated, s.redis.Del(ctx, keyRecord(hash)).Err())
	}
	return nil
}

// endOld has an old key expire. Its record is deleted by the next rotation.
func (s *Store) endOld(ctx context.Context, hash string, until time.Time, grace time.Duration) error {
	if grace <= 0 {
		return s.redis.Del(ctx, keyRecord(hash)).Err()
	}
	err := s.updateRecord(ctx, hash, func(key *Key) {
		if key.Expires.IsZero() || until.Before(key.Expires) {
			key.Expires = until
		}
	})
	if errors.Is(err, ErrNotFound) { // another rotation has ended it
		return nil
	}
	return err
}
