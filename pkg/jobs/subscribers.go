package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/plainjson"
)

// A parent is whoever is to be told of a job's end: another job, or a batch.
// Its name is a word, a colon, and what that word's handler needs to know. The
// parents of a job are a set beside its record, under the same hash tag, so
// that wanting a job and its end cannot miss each other: who came before the
// end is in the set when it is read after the end, and who comes after it
// learns how the job ended at once.
func keySubscribers(id string) string { return "parents:{" + id + "}" }

// scriptSubscribe notes who else wants a job. ARGV: parent, or "" for a caller.
// Returns the job's state, or "missing"; nothing is noted of one that has ended.
var scriptSubscribe = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
local state = redis.call('HGET', KEYS[1], 'state')
if ended() then return state end
if ARGV[1] == '' then
  redis.call('HSET', KEYS[1], 'asked', 1)
else
  redis.call('SADD', KEYS[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
end
return state
`)

// scriptUnsubscribe ends the interest of a parent, and the job with it when that
// was the last. ARGV: parent, retention in ms. Returns 1 when it ended the job.
var scriptUnsubscribe = redis.NewScript(luaNow + `
if redis.call('SREM', KEYS[2], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return 0 end
if redis.call('HEXISTS', KEYS[1], 'asked') == 1 or redis.call('SCARD', KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], 'state', 'cancelled', 'ended', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// scriptSetChildField writes a field of a child into its parent's record, once.
// ARGV: field, value. Returns the value that stands there; "" when the parent
// has ended or is gone.
var scriptSetChildField = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return '' end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`)

// Subscribe notes that a parent is to be told of a job's end, "" that a caller
// waits for it. It returns the job's state: of one that has ended nothing is
// noted, and nobody will be told. ErrNotFound when there is no such job.
func (s *Store) Subscribe(ctx context.Context, id, parent string) (State, error) {
	state, err := scriptSubscribe.Run(ctx, s.redis, []string{keyJob(id), keySubscribers(id)}, parent).Text()
	if err == nil && state == string(NotFound) {
		err = ErrNotFound
	}
	return State(state), err
}

// join wants a job in flight, and returns it as it is then. ErrNotFound when
// it ended meanwhile in a way that nobody joins.
func (s *Store) join(ctx context.Context, job *Job, parent string) (*Job, error) {
	if job.State.Ended() || parent == "" && job.RequestedByCaller {
		return job, nil
	}
	state, err := s.Subscribe(ctx, job.ID, parent)
	switch {
	case err != nil:
		return nil, err
	case !state.Ended():
		return job, nil
	case state == Succeeded:
		return s.Get(ctx, job.ID)
	}
	return nil, ErrNotFound
}

// Unsubscribe ends the interest of a parent in a job. When nobody else wants it,
// the job ends as cancelled: then it returns true.
func (s *Store) Unsubscribe(ctx context.Context, id, parent string) (bool, error) {
	return scriptUnsubscribe.Run(ctx, s.redis, []string{keyJob(id), keySubscribers(id)}, parent, retention.Milliseconds()).Bool()
}

// RemoveNotified drops parents that have been told of a job's end.
func (s *Store) RemoveNotified(ctx context.Context, id string, parents []string) error {
	names := make([]any, len(parents))
	for i, parent := range parents {
		names[i] = parent
	}
	return s.redis.SRem(ctx, keySubscribers(id), names...).Err()
}

// SetChildJob notes in a parent's record which job its child is, and returns the id
// that stands there: the first stays. "" when the parent has ended or is gone.
func (s *Store) SetChildJob(ctx context.Context, parent, name, child string) (string, error) {
	return s.setChildField(ctx, parent, name, "job", child)
}

// SetChildOutcome writes in a parent's record how its child ended. The first word stays.
func (s *Store) SetChildOutcome(ctx context.Context, parent, name string, child Child) error {
	// Without escapes the result stays as it is, byte for byte.
	data, err := plainjson.Encode(childOutcome{child.State, child.Result, child.Error})
	if err != nil {
		return fmt.Errorf("jobs: child %s: %w", name, err)
	}
	_, err = s.setChildField(ctx, parent, name, "end", string(data))
	return err
}

func (s *Store) setChildField(ctx context.Context, parent, name, what, value string) (string, error) {
	return scriptSetChildField.Run(ctx, s.redis, []string{keyJob(parent)}, "c:"+name+":"+what, value).Text()
}

// childOutcome is how a child ended, as it is written.
type childOutcome struct {
	State  State           `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// childrenOf reads the children in the fields of a record.
func childrenOf(fields map[string]string) (map[string]Child, error) {
	children := map[string]Child{}
	for field, value := range fields {
		rest, ok := strings.CutPrefix(field, "c:")
		name, what, _ := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		child := children[name]
		switch what {
		case "job":
			child.Job = value
		case "end":
			var end childOutcome
			if err := json.Unmarshal([]byte(value), &end); err != nil {
				return nil, errors.Join(fmt.Errorf("child %s", name), err)
			}
			child.State, child.Result, child.Error = end.State, end.Result, end.Error
		}
		children[name] = child
	}
	return children, nil
}
