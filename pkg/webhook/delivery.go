package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keyDue = "webhooks:due"

	retention   = 30 * 24 * time.Hour // of a delivery
	logLength   = 500                 // deliveries of an endpoint that its log shows
	maxAttempts = 20                  // attempts that a delivery remembers

	// lease is how long a sender has for one attempt before another takes it
	// for dead; longer than the longest attempt.
	lease = 60 * time.Second
)

// Emit makes the deliveries of an event: one for each endpoint of its owner
// that asked for it, or that is named. subject names what it is about: the same
// event of the same subject is made once, however often this is called.
func (s *Store) Emit(ctx context.Context, owner, event, subject string, at time.Time, data any, named ...string) error {
	endpoints, err := s.all(ctx, owner)
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		if e.Disabled != "" || !slices.Contains(e.Events, event) && !slices.Contains(named, e.ID) {
			continue
		}
		if _, err := s.emit(ctx, owner, e.ID, event, subject, at, data); err != nil {
			return err
		}
	}
	return nil
}

// Test makes the delivery of a test event to one endpoint: once for a subject.
// ErrNotFound when the key has no such endpoint.
func (s *Store) Test(ctx context.Context, owner, endpoint, subject string, at time.Time) (Delivery, error) {
	if _, err := s.get(ctx, owner, endpoint); err != nil {
		return Delivery{}, err
	}
	return s.emit(ctx, owner, endpoint, TestEvent, subject, at, map[string]string{"webhook": endpoint})
}

func (s *Store) emit(
	ctx context.Context, owner, endpoint, event, subject string, at time.Time, data any,
) (d Delivery, err error) {
	content, err := json.Marshal(data)
	if err != nil {
		return d, fmt.Errorf("webhook: data of %s: %w", event, err)
	}
	payload, err := json.Marshal(Message{Type: event, Timestamp: at.UTC(), Data: content})
	if err != nil {
		return d, err
	}
	sum := sha256.Sum256([]byte(endpoint + "\x00" + event + "\x00" + subject))
	d = Delivery{
		ID: "msg" + hex.EncodeToString(sum[:16]), Endpoint: endpoint, Owner: owner, Event: event, Payload: payload,
		Created: time.Now().UTC(), State: Pending, Attempts: []Attempt{},
	}
	record, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	made, err := s.redis.SetNX(ctx, keyDelivery(d.ID), record, retention).Result()
	if err != nil {
		return d, err
	}
	if !made { // by a call before this one, which may have died here
		there, err := s.delivery(ctx, d.ID)
		if err != nil || there.State != Pending {
			return there, ignoreMissing(err)
		}
		d = there
	}
	if err := s.list(ctx, d); err != nil {
		return d, err
	}
	return d, s.redis.ZAddNX(ctx, keyDue, redis.Z{Score: float64(time.Now().UnixMilli()), Member: d.ID}).Err()
}

// list puts a delivery into the log of its endpoint.
func (s *Store) list(ctx context.Context, d Delivery) error {
	pipe := s.redis.Pipeline()
	key := keyLog(d.Owner, d.Endpoint)
	pipe.ZAdd(ctx, key, redis.Z{Score: float64(d.Created.UnixMilli()), Member: d.ID})
	pipe.ZRemRangeByRank(ctx, key, 0, -logLength-1)
	pipe.Expire(ctx, key, retention)
	_, err := pipe.Exec(ctx)
	return err
}

func (s *Store) delivery(ctx context.Context, id string) (d Delivery, err error) {
	record, err := s.redis.Get(ctx, keyDelivery(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return d, ErrNotFound
	}
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(record, &d); err != nil {
		return d, fmt.Errorf("webhook: delivery %s: %w", id, err)
	}
	return d, nil
}

func (s *Store) write(ctx context.Context, d Delivery) error {
	record, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.redis.Set(ctx, keyDelivery(d.ID), record, redis.KeepTTL).Err()
}

// Deliveries returns those of an endpoint, newest first, at most limit.
// ErrNotFound when the key has no such endpoint.
func (s *Store) Deliveries(ctx context.Context, owner, endpoint string, limit int) ([]Delivery, error) {
	if _, err := s.get(ctx, owner, endpoint); err != nil {
		return nil, err
	}
	ids, err := s.redis.ZRevRange(ctx, keyLog(owner, endpoint), 0, int64(limit)-1).Result()
	if err != nil {
		return nil, err
	}
	deliveries := make([]Delivery, 0, len(ids))
	for _, id := range ids {
		d, err := s.delivery(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, d)
	}
	return deliveries, nil
}

// Delivery returns one of an endpoint, or ErrNotFound.
func (s *Store) Delivery(ctx context.Context, owner, endpoint, id string) (Delivery, error) {
	d, err := s.delivery(ctx, id)
	if err == nil && (d.Owner != owner || d.Endpoint != endpoint) {
		return Delivery{}, ErrNotFound
	}
	return d, err
}

// Redeliver sends a delivery of an endpoint again, whatever became of it.
func (s *Store) Redeliver(ctx context.Context, owner, endpoint, id string) error {
	d, err := s.Delivery(ctx, owner, endpoint, id)
	if err != nil {
		return err
	}
	d.State, d.Tries, d.Next = Pending, 0, time.Now().UTC()
	if err := s.write(ctx, d); err != nil {
		return err
	}
	return s.due(ctx, id, d.Next)
}

// due says when a delivery is to be sent next.
func (s *Store) due(ctx context.Context, id string, at time.Time) error {
	return s.redis.ZAdd(ctx, keyDue, redis.Z{Score: float64(at.UnixMilli()), Member: id}).Err()
}

// scriptLease hands out what is due, each to one caller until the lease ends.
// ARGV: lease in ms, most.
var scriptLease = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], now + ARGV[1], id) end
return due
`)

func (s *Store) lease(ctx context.Context, most int) ([]string, error) {
	return scriptLease.Run(ctx, s.redis, []string{keyDue}, lease.Milliseconds(), most).StringSlice()
}

// done takes a delivery off the list of those to send.
func (s *Store) done(ctx context.Context, id string) error {
	return s.redis.ZRem(ctx, keyDue, id).Err()
}

func ignoreMissing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
