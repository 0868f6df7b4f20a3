package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

const (
	// TypeDeliver is the type of the task that sends one delivery.
	TypeDeliver = "webhook:deliver"
	// Queue is where these tasks wait. It is served with slots of its own, so
	// that receivers that do not answer never delay a step of a job.
	Queue = "webhook"

	retention   = 30 * 24 * time.Hour // of a delivery
	maxListed   = 500                 // deliveries that are listed for one endpoint
	maxAttempts = 20                  // attempts that a delivery records
)

// errChanged means that another process wrote the record since it was read.
var errChanged = errors.New("webhook: the delivery has changed")

// Emit records and enqueues the deliveries of an event: one for each enabled
// endpoint of its owner that subscribes to it or that is named. subject says
// what the event is about: for the same event and subject there is one delivery,
// however often Emit is called. After an error Emit must be called again; it
// then completes what is missing.
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

// Test emits a test event to one endpoint, once for a subject. It returns
// ErrNotFound when the key has no such endpoint.
func (s *Store) Test(ctx context.Context, owner, endpoint, subject string, at time.Time) (Delivery, error) {
	if err := s.checkEnabled(ctx, owner, endpoint); err != nil {
		return Delivery{}, err
	}
	return s.emit(ctx, owner, endpoint, testEvent, subject, at, map[string]string{"webhook": endpoint})
}

func (s *Store) emit(
	ctx context.Context, owner, endpoint, event, subject string, at time.Time, data any,
) (d Delivery, err error) {
	content, err := json.Marshal(data)
	if err != nil {
		return d, fmt.Errorf("webhook: data of %s: %w", event, err)
	}
	payload, err := json.Marshal(Message{Type: event, Timestamp: localtime.Of(at), Data: content})
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
	// It counts against the bytes of the key, with the attempts that it will record.
	const attempts = 500
	created, err := s.redis.SetNX(ctx, keyDelivery(d.ID), record, retention).Result()
	if err == nil && created {
		_, err = pace.NewAccounts(s.redis, pace.KindBytes).Settle(ctx, pace.Holder{Whole: owner},
			pace.Kept{Size: int64(len(record)) + attempts + pace.EntryOverhead, TTL: retention})
	}
	if err != nil {
		return d, fmt.Errorf("webhook: record delivery: %w", err)
	}
	if !created { // by an earlier call, which may have died before it enqueued the task
		recorded, _, err := s.delivery(ctx, d.ID)
		if err != nil || recorded.State != Pending {
			return recorded, ignoreMissing(err)
		}
		d = recorded
	}
	if err := s.list(ctx, d); err != nil {
		return d, err
	}
	return d, s.enqueue(ctx, d)
}

// list adds a delivery to the list of its endpoint.
func (s *Store) list(ctx context.Context, d Delivery) error {
	pipe := s.redis.Pipeline()
	key := keyLog(d.Owner, d.Endpoint)
	pipe.ZAdd(ctx, key, redis.Z{Score: float64(d.Created.UnixMilli()), Member: d.ID})
	pipe.ZRemRangeByRank(ctx, key, 0, -maxListed-1)
	pipe.Expire(ctx, key, retention)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("webhook: list delivery: %w", err)
	}
	return nil
}

// taskPayload names the delivery that a task sends. Webhook and Event are for the
// operator who looks at the queue.
type taskPayload struct {
	Delivery string `json:"delivery"`
	Run      int    `json:"run,omitempty"`
	Webhook  string `json:"webhook"`
	Event    string `json:"event"`
}

// taskID is the id of the task of a delivery's run.
func (d *Delivery) taskID() string {
	if d.Run > 0 {
		return d.ID + "." + strconv.Itoa(d.Run)
	}
	return d.ID
}

// enqueue enqueues the task of a delivery's run, once.
func (s *Store) enqueue(ctx context.Context, d Delivery, more ...asynq.Option) error {
	payload, err := json.Marshal(taskPayload{d.ID, d.Run, d.Endpoint, d.Event})
	if err != nil {
		return err
	}
	if err := s.watch(ctx, d.ID); err != nil {
		return err
	}
	task := asynq.NewTask(TypeDeliver, payload, more...)
	_, err = s.tasks.EnqueueContext(ctx, task, asynq.TaskID(d.taskID()), asynq.Queue(Queue),
		// The handler ends the task by the record's count. One retry more than it
		// needs keeps asynq from archiving the last attempt of a killed worker.
		asynq.MaxRetry(len(schedule)+1), asynq.Timeout(attemptTimeout+writeTimeout))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("webhook: enqueue delivery: %w", err)
	}
	return nil
}

// delivery returns a delivery and its record as it is written.
func (s *Store) delivery(ctx context.Context, id string) (d Delivery, record string, err error) {
	record, err = s.redis.Get(ctx, keyDelivery(id)).Result()
	if errors.Is(err, redis.Nil) {
		return d, "", ErrNotFound
	}
	if err != nil {
		return d, "", fmt.Errorf("webhook: read delivery: %w", err)
	}
	if err := json.Unmarshal([]byte(record), &d); err != nil {
		return d, "", fmt.Errorf("webhook: delivery %s: %w", id, err)
	}
	return d, record, nil
}

// replace writes a delivery if its record is still the given one. It returns
// errChanged when it is not.
func (s *Store) replace(ctx context.Context, old string, d Delivery) error {
	record, err := json.Marshal(d)
	if err != nil {
		return err
	}
	written, err := redisx.Replace(ctx, s.redis, keyDelivery(d.ID), old, record, false)
	switch {
	case err != nil:
		return fmt.Errorf("webhook: write delivery: %w", err)
	case !written:
		return errChanged
	}
	return nil
}

// Deliveries returns the deliveries of an endpoint, newest first, at most limit.
// It returns ErrNotFound when the key has no such endpoint.
func (s *Store) Deliveries(ctx context.Context, owner, endpoint string, limit int) ([]Delivery, error) {
	deliveries, _, err := s.DeliveriesAfter(ctx, owner, endpoint, "", limit)
	return deliveries, err
}

// DeliveriesAfter returns the deliveries of an endpoint that are older than one, "" for the
// newest, and after which the next page begins; "" for none.
func (s *Store) DeliveriesAfter(
	ctx context.Context, owner, endpoint, cursor string, limit int,
) (deliveries []Delivery, next string, err error) {
	if _, err := s.get(ctx, owner, endpoint); err != nil {
		return nil, "", err
	}
	from := int64(0)
	if cursor != "" {
		rank, err := s.redis.ZRevRank(ctx, keyLog(owner, endpoint), cursor).Result()
		if errors.Is(err, redis.Nil) {
			return nil, "", ErrBadCursor
		}
		if err != nil {
			return nil, "", err
		}
		from = rank + 1
	}
	ids, err := s.redis.ZRevRange(ctx, keyLog(owner, endpoint), from, from+int64(limit)).Result()
	if err != nil {
		return nil, "", err
	}
	if len(ids) > limit {
		ids, next = ids[:limit], ids[limit-1]
	}
	for _, id := range ids {
		d, _, err := s.delivery(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		deliveries = append(deliveries, d)
	}
	return deliveries, next, nil
}

// checkEnabled returns ErrDisabled for an endpoint to which nothing is sent.
func (s *Store) checkEnabled(ctx context.Context, owner, endpoint string) error {
	e, err := s.get(ctx, owner, endpoint)
	if err == nil && e.Disabled != "" {
		return ErrDisabled
	}
	return err
}

// Delivery returns a delivery of an endpoint, or ErrNotFound.
func (s *Store) Delivery(ctx context.Context, owner, endpoint, id string) (Delivery, error) {
	d, _, err := s.ownDelivery(ctx, owner, endpoint, id)
	return d, err
}

func (s *Store) ownDelivery(ctx context.Context, owner, endpoint, id string) (d Delivery, record string, err error) {
	d, record, err = s.delivery(ctx, id)
	if err == nil && (d.Owner != owner || d.Endpoint != endpoint) {
		return Delivery{}, "", ErrNotFound
	}
	return d, record, err
}

// Redeliver sends a delivery of an endpoint again, whatever its state, by a new
// run of the schedule. A task of an earlier run does nothing any more.
func (s *Store) Redeliver(ctx context.Context, owner, endpoint, id string) error {
	if err := s.checkEnabled(ctx, owner, endpoint); err != nil {
		return err
	}
	for range maxConflicts {
		d, record, err := s.ownDelivery(ctx, owner, endpoint, id)
		if err != nil {
			return err
		}
		d.State, d.Run, d.Tries, d.Next = Pending, d.Run+1, 0, time.Now().UTC()
		err = s.replace(ctx, record, d)
		if errors.Is(err, errChanged) {
			continue
		}
		if err != nil {
			return err
		}
		return s.enqueue(ctx, d)
	}
	return errChanged
}

func ignoreMissing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
