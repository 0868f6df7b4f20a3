package tra

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keyRequested = "tra:{catalogue}:requested" // the sync that an operator requested
	keyReport    = "tra:{catalogue}:report"    // the outcome of the last requested sync

	requestTTL = 10 * time.Minute
	reportTTL  = 24 * time.Hour
)

// SyncOptions are how a requested sync differs from a scheduled one.
type SyncOptions struct {
	All    bool `json:"all"`    // fetch the labels of every make, fresh ones too
	Accept bool `json:"accept"` // take unusual lists that would be quarantined
}

// syncRequest is a requested sync.
type syncRequest struct {
	SyncOptions

	ID string `json:"id"`
}

// SyncOutcome is the outcome of a requested sync.
type SyncOutcome struct {
	ID     string     `json:"id"`
	Report SyncReport `json:"report"`
	Error  string     `json:"error,omitempty"`
}

// RequestSync requests a sync of the worker that next looks whether one is due. It
// returns the id of the request. A later request replaces one that has not begun.
func (s *Store) RequestSync(ctx context.Context, o SyncOptions) (id string, err error) {
	id = rand.Text()
	value, err := json.Marshal(syncRequest{o, id})
	if err == nil {
		err = s.redis.Set(ctx, keyRequested, value, requestTTL).Err()
	}
	return id, failed(err, "request a sync")
}

// RequestedSync returns the outcome of a requested sync; nil while it has none.
func (s *Store) RequestedSync(ctx context.Context, id string) (*SyncOutcome, error) {
	value, err := s.redis.Get(ctx, keyReport).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil //nolint:nilnil // documented
	}
	var outcome SyncOutcome
	if err == nil {
		err = json.Unmarshal(value, &outcome)
	}
	if err != nil {
		return nil, fmt.Errorf("tra: outcome of a sync: %w", err)
	}
	if outcome.ID != id {
		return nil, nil //nolint:nilnil // the outcome of an earlier request
	}
	return &outcome, nil
}

// requestedSync returns the request that waits, and its text in Redis. Without one
// both are empty.
func (s *Store) requestedSync(ctx context.Context) (request syncRequest, text string, err error) {
	text, err = s.redis.Get(ctx, keyRequested).Result()
	if errors.Is(err, redis.Nil) {
		return request, "", nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &request)
	}
	return request, text, failed(err, "requested sync")
}

// answerScript stores an outcome, and removes its request unless a later one has
// replaced it.
var answerScript = redis.NewScript(`
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`)

// answerSync stores the outcome of a requested sync.
func (s *Store) answerSync(ctx context.Context, text string, outcome SyncOutcome) error {
	if text == "" {
		return nil
	}
	value, err := json.Marshal(outcome)
	if err == nil {
		err = answerScript.Run(ctx, s.redis, []string{keyRequested, keyReport}, text, value, reportTTL.Milliseconds()).Err()
	}
	return failed(err, "outcome of a requested sync")
}
