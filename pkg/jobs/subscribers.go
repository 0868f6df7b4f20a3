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

// scriptUnsubscribe removes a subscriber, and cancels the job when that was the
// last one, also while Redis is full. KEYS: the record, the subscribers, the attachment.
// ARGV: subscriber, retention in ms. It returns 1 when it cancelled the
// job.
var scriptUnsubscribe = redis.NewScript(luaNow + `
if redis.call('SREM', KEYS[2], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return 0 end
if redis.call('HEXISTS', KEYS[1], 'asked') == 1 or redis.call('SCARD', KEYS[2]) > 0 then return 0 end
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[1], 'state', 'cancelled', 'ended', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// scriptSetChildField writes a field of a child into its parent's record, once.
// ARGV: field, value. It returns the stored value, "" when the parent has ended or
// does not exist.
var scriptSetChildField = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return '' end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`)

// Unsubscribe removes a subscriber from a job. When no one else waits for the job
// it is cancelled, and Unsubscribe returns true.
func (s *Store) Unsubscribe(ctx context.Context, id, subscriber string) (bool, error) {
	return scriptUnsubscribe.Run(ctx, s.redis, []string{keyJob(id), keySubscribers(id), keyAttachment(id)},
		subscriber, retention.Milliseconds()).Bool()
}

// Subscribers returns the subscribers of a job.
func (s *Store) Subscribers(ctx context.Context, id string) ([]string, error) {
	return s.redis.SMembers(ctx, keySubscribers(id)).Result()
}

// SetChildJob records in a parent's record which job a child is, and returns the
// recorded id: the first one stays. It returns "" when the parent has ended or
// does not exist.
func (s *Store) SetChildJob(ctx context.Context, parent, name, child string) (string, error) {
	return s.setChildField(ctx, parent, name, "job", child)
}

// SetChildOutcome records in a parent's record how a child ended. The first
// outcome stays.
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

// childOutcome is how a child ended, as it is stored.
type childOutcome struct {
	State  State           `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// childrenOf decodes the children in the fields of a record.
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
