package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Store keeps endpoints and deliveries in Redis.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{redis: client} }

func keyEndpoints(owner string) string     { return "webhook:{" + owner + "}" }
func keyLog(owner, endpoint string) string { return "webhook:{" + owner + "}:" + endpoint }
func keyDelivery(id string) string         { return "delivery:{" + id + "}" }

// scriptAdd adds an endpoint unless it is there or there are too many. ARGV:
// id, record, most.
var scriptAdd = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`)

// NewID makes an id for an endpoint.
func NewID() string { return "wh" + strings.ToLower(rand.Text()) }

// Add makes an endpoint under an id from NewID and returns it with its secret,
// which is shown this once; one that stands under the id is returned as it is.
// The URL must have been checked. ErrTooMany when there are MaxEndpoints.
func (s *Store) Add(ctx context.Context, owner, id, url string, events []string) (Endpoint, string, error) {
	made := stored{
		Endpoint: Endpoint{
			ID: id, URL: url, Events: slices.Clone(events), Created: time.Now().UTC(),
		},
		Secrets: []secret{{Value: NewSecret()}},
	}
	record, err := json.Marshal(made)
	if err != nil {
		return Endpoint{}, "", err
	}
	added, err := scriptAdd.Run(ctx, s.redis, []string{keyEndpoints(owner)}, made.ID, record, MaxEndpoints).Bool()
	if err != nil {
		return Endpoint{}, "", err
	}
	if !added {
		return Endpoint{}, "", ErrTooMany
	}
	stands, err := s.get(ctx, owner, id)
	if err != nil {
		return Endpoint{}, "", err
	}
	return stands.Endpoint, stands.Secrets[0].Value, nil
}

// List returns the endpoints of a key, oldest first.
func (s *Store) List(ctx context.Context, owner string) ([]Endpoint, error) {
	all, err := s.all(ctx, owner)
	endpoints := make([]Endpoint, 0, len(all))
	for _, e := range all {
		endpoints = append(endpoints, e.Endpoint)
	}
	return endpoints, err
}

func (s *Store) all(ctx context.Context, owner string) ([]stored, error) {
	records, err := s.redis.HGetAll(ctx, keyEndpoints(owner)).Result()
	if err != nil {
		return nil, err
	}
	all := make([]stored, 0, len(records))
	for id, record := range records {
		var e stored
		if err := json.Unmarshal([]byte(record), &e); err != nil {
			return nil, fmt.Errorf("webhook: endpoint %s: %w", id, err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b stored) int {
		if byTime := a.Created.Compare(b.Created); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}

// Get returns an endpoint of a key, or ErrNotFound.
func (s *Store) Get(ctx context.Context, owner, id string) (Endpoint, error) {
	e, err := s.get(ctx, owner, id)
	return e.Endpoint, err
}

func (s *Store) get(ctx context.Context, owner, id string) (e stored, err error) {
	record, err := s.redis.HGet(ctx, keyEndpoints(owner), id).Bytes()
	if errors.Is(err, redis.Nil) {
		return e, ErrNotFound
	}
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(record, &e); err != nil {
		return e, fmt.Errorf("webhook: endpoint %s: %w", id, err)
	}
	return e, nil
}

// Remove ends an endpoint: nothing more is sent there.
func (s *Store) Remove(ctx context.Context, owner, id string) error {
	removed, err := s.redis.HDel(ctx, keyEndpoints(owner), id).Result()
	if err == nil && removed == 0 {
		err = ErrNotFound
	}
	return err
}

// scriptReplace writes a record if it is still as it was read. ARGV: id, old, new.
var scriptReplace = redis.NewScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`)

// change reads an endpoint, changes it and writes it, anew when somebody else
// wrote in between.
func (s *Store) change(ctx context.Context, owner, id string, change func(*stored)) error {
	for range 10 {
		old, err := s.redis.HGet(ctx, keyEndpoints(owner), id).Result()
		if errors.Is(err, redis.Nil) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		var e stored
		if err := json.Unmarshal([]byte(old), &e); err != nil {
			return fmt.Errorf("webhook: endpoint %s: %w", id, err)
		}
		change(&e)
		record, err := json.Marshal(e)
		if err != nil {
			return err
		}
		written, err := scriptReplace.Run(ctx, s.redis, []string{keyEndpoints(owner)}, id, old, record).Bool()
		if err != nil || written {
			return err
		}
	}
	return fmt.Errorf("webhook: endpoint %s changes too fast", id)
}

// Rotate gives an endpoint a new secret, from NewSecret. The one before signs
// along for a day; those before it are gone. A secret that it has is not new.
func (s *Store) Rotate(ctx context.Context, owner, id, fresh string) (Endpoint, error) {
	var changed Endpoint
	err := s.change(ctx, owner, id, func(e *stored) {
		changed = e.Endpoint
		if slices.ContainsFunc(e.Secrets, func(s secret) bool { return s.Value == fresh }) {
			return
		}
		old := e.Secrets[0]
		old.Until = time.Now().UTC().Add(rotationGrace)
		e.Secrets = []secret{{Value: fresh}, old}
	})
	return changed, err
}

// Enable lets an endpoint be sent to again.
func (s *Store) Enable(ctx context.Context, owner, id string) error {
	return s.change(ctx, owner, id, func(e *stored) { e.Disabled = "" })
}

// disable stops an endpoint, saying why.
func (s *Store) disable(ctx context.Context, owner, id, why string) error {
	return s.change(ctx, owner, id, func(e *stored) { e.Disabled = why })
}
