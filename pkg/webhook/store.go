package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// Store stores endpoints and deliveries in Redis.
type Store struct {
	redis     redis.UniversalClient
	tasks     *asynq.Client
	inspector *asynq.Inspector
	ring      *Ring
}

// NewStore returns a Store on a Redis connection, which the caller closes. The ring
// seals the secrets of endpoints; nil stores them in the clear.
func NewStore(client redis.UniversalClient, ring *Ring) *Store {
	return &Store{
		redis: client, ring: ring,
		tasks: asynq.NewClientFromRedisClient(client), inspector: asynq.NewInspectorFromRedisClient(client),
	}
}

// maxConflicts is how often a change is attempted while others change the same record.
const maxConflicts = 10

func keyEndpoints(owner string) string { return "webhook:{" + owner + "}" }

func keyLog(owner, endpoint string) string { return "webhook:{" + owner + "}:" + endpoint }

func keyDelivery(id string) string { return "delivery:{" + id + "}" }

// scriptAdd adds an endpoint unless it exists or there are too many. ARGV: id,
// record, maximum.
var scriptAdd = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`)

// NewID returns an id for a new endpoint.
func NewID() string { return "wh" + strings.ToLower(rand.Text()) }

// Add adds an endpoint under an id from NewID, asks it whether it wants events, and
// returns it with its secret. When an endpoint with that id exists, Add returns that one. The URL must have
// been checked. ErrTooMany means that the key has MaxEndpoints endpoints.
func (s *Store) Add(ctx context.Context, owner, id, url string, events []string) (Endpoint, string, error) {
	added := stored{
		Endpoint: Endpoint{
			ID: id, URL: url, Events: slices.Clone(events), Created: time.Now().UTC(), State: Unverified,
		},
		Secrets: []secret{{Value: NewSecret()}},
	}
	record, err := s.record(owner, &added)
	if err != nil {
		return Endpoint{}, "", err
	}
	ok, err := scriptAdd.Run(ctx, s.redis, []string{keyEndpoints(owner)}, added.ID, record, MaxEndpoints).Bool()
	if err != nil {
		return Endpoint{}, "", err
	}
	if !ok {
		return Endpoint{}, "", ErrTooMany
	}
	existing, err := s.get(ctx, owner, id)
	if err != nil {
		return Endpoint{}, "", err
	}
	if existing.State == Unverified {
		if _, err := s.Verify(ctx, owner, id, "created", existing.Created); err != nil {
			return Endpoint{}, "", err
		}
	}
	value, err := s.OpenSecret(owner, id, existing.Secrets[0].Value)
	return existing.Endpoint, value, err
}

// List returns the endpoints of a key, oldest first.
func (s *Store) List(ctx context.Context, owner string) ([]Endpoint, error) {
	of, err := s.ListOf(ctx, []string{owner})
	return of[owner], err
}

// ListOf returns the endpoints of several keys, oldest first, by key.
func (s *Store) ListOf(ctx context.Context, owners []string) (map[string][]Endpoint, error) {
	records, err := redisx.Each(ctx, s.redis, owners, func(pipe redis.Pipeliner, owner string) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, keyEndpoints(owner))
	})
	if err != nil {
		return nil, fmt.Errorf("webhook: endpoints: %w", err)
	}
	endpoints := map[string][]Endpoint{}
	for i, owner := range owners {
		all, err := parse(records[i].Val())
		if err != nil {
			return nil, err
		}
		endpoints[owner] = make([]Endpoint, 0, len(all))
		for _, e := range all {
			endpoints[owner] = append(endpoints[owner], e.Endpoint)
		}
	}
	return endpoints, nil
}

func (s *Store) all(ctx context.Context, owner string) ([]stored, error) {
	records, err := s.redis.HGetAll(ctx, keyEndpoints(owner)).Result()
	if err != nil {
		return nil, err
	}
	return parse(records)
}

// parse parses the records of a key's endpoints, oldest first.
func parse(records map[string]string) ([]stored, error) {
	all := make([]stored, 0, len(records))
	for id, record := range records {
		var e stored
		if err := json.Unmarshal([]byte(record), &e); err != nil {
			return nil, fmt.Errorf("webhook: endpoint %s: %w", id, err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b stored) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Get returns an endpoint of a key, or ErrNotFound.
func (s *Store) Get(ctx context.Context, owner, id string) (Endpoint, error) {
	e, err := s.get(ctx, owner, id)
	return e.Endpoint, err
}

func (s *Store) get(ctx context.Context, owner, id string) (e stored, err error) {
	e, _, err = s.read(ctx, owner, id)
	return e, err
}

// read returns an endpoint and its record as it is written.
func (s *Store) read(ctx context.Context, owner, id string) (e stored, record string, err error) {
	record, err = s.redis.HGet(ctx, keyEndpoints(owner), id).Result()
	if errors.Is(err, redis.Nil) {
		return e, "", ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal([]byte(record), &e)
	}
	if err != nil {
		return e, "", fmt.Errorf("webhook: endpoint %s: %w", id, err)
	}
	return e, record, nil
}

// Remove deletes an endpoint: nothing more is sent to it.
func (s *Store) Remove(ctx context.Context, owner, id string) error {
	removed, err := s.redis.HDel(ctx, keyEndpoints(owner), id).Result()
	if err == nil && removed == 0 {
		err = ErrNotFound
	}
	return err
}

// update reads an endpoint, changes it and writes it; again when another process
// has written it in between.
func (s *Store) update(ctx context.Context, owner, id string, change func(*stored)) error {
	for range maxConflicts {
		e, old, err := s.read(ctx, owner, id)
		if err != nil {
			return err
		}
		change(&e)
		record, err := s.record(owner, &e)
		if err != nil {
			return err
		}
		if string(record) == old {
			return nil
		}
		written, err := redisx.Swap(ctx, s.redis, keyEndpoints(owner), id, old, record)
		if err != nil || written {
			return err
		}
	}
	return fmt.Errorf("webhook: endpoint %s changes too fast", id)
}

// Rotate sets a new secret, from NewSecret. The previous one stays valid for a
// day; older ones are deleted. Rotate does nothing when the endpoint has the
// secret already.
func (s *Store) Rotate(ctx context.Context, owner, id, secretValue string) (Endpoint, error) {
	var changed Endpoint
	has := func(old secret) bool {
		value, err := s.OpenSecret(owner, id, old.Value)
		return err == nil && value == secretValue
	}
	err := s.update(ctx, owner, id, func(e *stored) {
		changed = e.Endpoint
		if slices.ContainsFunc(e.Secrets, has) {
			return
		}
		old := e.Secrets[0]
		old.Until = time.Now().UTC().Add(rotationGrace)
		e.Secrets = []secret{{Value: secretValue}, old}
	})
	return changed, err
}

// Enable enables a disabled endpoint.
func (s *Store) Enable(ctx context.Context, owner, id string) error {
	return s.update(ctx, owner, id, func(e *stored) { e.Disabled = "" })
}

// Change sets the URL and the events of an endpoint; what is empty stays. The URL must
// have been checked. An endpoint with another URL must prove again that it wants events;
// until then they wait.
func (s *Store) Change(ctx context.Context, owner, id, url string, events []string) (Endpoint, error) {
	var changed Endpoint
	moved := false
	err := s.update(ctx, owner, id, func(e *stored) {
		if moved = url != "" && url != e.URL; moved {
			e.URL, e.State = url, Unverified
		}
		if len(events) > 0 {
			e.Events = slices.Clone(events)
		}
		changed = e.Endpoint
	})
	if err != nil || changed.State != Unverified || url == "" {
		return changed, err
	}
	// Also when an earlier call died before it asked; the subject makes it one question.
	subject := "changed " + changed.URL
	if moved {
		subject += " " + rand.Text()
	}
	_, err = s.Verify(ctx, owner, id, subject, time.Now())
	return changed, err
}

// disable disables an endpoint for a reason.
func (s *Store) disable(ctx context.Context, owner, id, reason string) error {
	return s.update(ctx, owner, id, func(e *stored) { e.Disabled = reason })
}

const (
	// keyPending is a sorted set of the deliveries that may be pending, by when Sweep looks at
	// them next, in ms.
	keyPending = "webhook:pending"
	// sweepAfter is how long a delivery is without a task before it gets a new one.
	sweepAfter = time.Minute
	// sweepLimit is how many deliveries one sweep looks at.
	sweepLimit = 200
)

// watch has Sweep look at a delivery.
func (s *Store) watch(ctx context.Context, id string) error {
	at := float64(time.Now().Add(sweepAfter).UnixMilli())
	if err := s.redis.ZAdd(ctx, keyPending, redis.Z{Score: at, Member: id}).Err(); err != nil {
		return fmt.Errorf("webhook: watch delivery: %w", err)
	}
	return nil
}

// Sweep gives a new task to pending deliveries whose task was deleted or archived by hand: such a
// delivery would stay pending for ever. It returns how many those were. Any number of processes
// may sweep.
func (s *Store) Sweep(ctx context.Context) (sent int, err error) {
	due, err := s.redis.ZRangeByScore(ctx, keyPending, &redis.ZRangeBy{
		Min: "-inf", Max: strconv.FormatInt(time.Now().UnixMilli(), 10), Count: sweepLimit,
	}).Result()
	if err != nil {
		return 0, fmt.Errorf("webhook: sweep: %w", err)
	}
	var errs []error
	for _, id := range due {
		again, err := s.sweepOne(ctx, id)
		if again {
			sent++
		}
		errs = append(errs, err)
	}
	return sent, errors.Join(errs...)
}

// sweepOne looks at one delivery, and reports whether it got a new task.
func (s *Store) sweepOne(ctx context.Context, id string) (again bool, err error) {
	d, _, err := s.delivery(ctx, id)
	if errors.Is(err, ErrNotFound) || err == nil && d.State != Pending {
		return false, s.redis.ZRem(ctx, keyPending, id).Err()
	}
	if err != nil {
		return false, err
	}
	info, err := s.inspector.GetTaskInfo(Queue, d.taskID())
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
	case err != nil:
		return false, fmt.Errorf("webhook: sweep: %w", err)
	case info.State == asynq.TaskStateArchived || info.State == asynq.TaskStateCompleted:
		if err := s.inspector.DeleteTask(Queue, info.ID); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
			return false, fmt.Errorf("webhook: sweep: %w", err)
		}
	default:
		return false, s.watch(ctx, id)
	}
	return true, s.enqueue(ctx, d, asynq.ProcessAt(d.Next))
}
