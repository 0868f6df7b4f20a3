package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
)

// End is how a job ends.
type End struct {
	State  State
	Result json.RawMessage // of a job that succeeded
	// Cached says that the cache has the result: the record of a row's job does not get it,
	// unless a caller has joined the job.
	Cached bool
	Error  *Error // of a job that failed
	// Steps are the last steps, which have made the result. The job does not end when one
	// has an output of another run.
	Steps []string
	// With a Claim the job ends only while that claim on the Step is valid.
	Step, Claim string
	// Remember is for how long equal requests join a job that failed, at most RefusalTTL.
	Remember time.Duration
}

// End ends a job, once: it deletes what its caller sent, releases the dedup key and wakes
// the waiters of the Hubs. It returns the record as it is then, and the subscribers that
// must be notified. The record is nil when this call did not end the job: read it then.
func (s *Store) End(ctx context.Context, job *Job, how End) (ended *Job, subscribers []string, err error) {
	field, value := "", []byte(nil)
	switch {
	case how.Cached && job.Class == Bulk && !job.RequestedByCaller:
		field = "cached"
	case how.Result != nil:
		field, value = "result", redisx.Pack(how.Result)
	case how.Error != nil:
		field = "error"
		if value, err = json.Marshal(how.Error); err != nil {
			return nil, nil, fmt.Errorf("jobs: end: %w", err)
		}
	}
	args := append(make([]any, 0, 9+len(how.Steps)), job.ID, graceOf(how.State, how.Remember).Milliseconds(), ChannelEnded,
		retention.Milliseconds(), string(how.State), field, value, how.Step, how.Claim)
	for _, step := range how.Steps {
		args = append(args, step)
	}
	reply, err := scriptEnd.Run(ctx, s.redis, keysOf(job), args...).Slice()
	if err != nil || len(reply) == 0 {
		return nil, nil, err
	}
	if reply[0] == "wanted" {
		how.Cached = false
		return s.End(ctx, job, how)
	}
	ms, okTime := reply[0].(int64)
	members, okMembers := reply[2].([]any)
	if !okTime || !okMembers {
		return nil, nil, fmt.Errorf("jobs: end: unexpected reply %v", reply)
	}
	for _, member := range members {
		subscriber, _ := member.(string)
		subscribers = append(subscribers, subscriber)
	}
	after := *job
	after.State, after.Result, after.Error, after.Kept = how.State, how.Result, how.Error, int64(len(value))
	after.Ended = time.UnixMilli(ms).UTC()
	if reply[1] == int64(1) {
		after.Class = Interactive
	}
	return &after, subscribers, nil
}

// graceOf returns for how long equal requests join a job that has ended.
func graceOf(state State, remember time.Duration) time.Duration {
	switch state {
	case Succeeded:
		return joinGrace
	case Failed:
		return min(remember, RefusalTTL)
	case Queued, Running, Cancelled:
	}
	return 0
}

// PublishEnd does again what End does beside the record, for a job that has ended: its
// process may have died, or it was cancelled by Unsubscribe. It returns the subscribers that
// must still be notified. It may run twice: the sweeper checks the job until MarkFinalized.
func (s *Store) PublishEnd(ctx context.Context, job *Job, remember time.Duration) (parents []string, err error) {
	grace := graceOf(job.State, remember).Milliseconds()
	return scriptPublish.Run(ctx, s.redis, keysOf(job), job.ID, grace, ChannelEnded).StringSlice()
}

// RemoveNotified removes subscribers that have been notified of a job's end.
func (s *Store) RemoveNotified(ctx context.Context, id string, subscribers []string) error {
	names := make([]any, len(subscribers))
	for i, subscriber := range subscribers {
		names[i] = subscriber
	}
	return s.redis.SRem(ctx, keySubscribers(id), names...).Err()
}

// MarkFinalized removes a job whose subscribers have all been notified from the
// sweeper's set. Of a bulk job that no caller requested only the error is kept: there are
// thousands of these, and the subscribers and the cache have the result. What is kept counts
// against the bytes of the owner's key.
func (s *Store) MarkFinalized(ctx context.Context, job *Job) error {
	return redisx.Pipelined(ctx, s.redis, func(pipe redis.Pipeliner, run redisx.ScriptRunner) {
		if job.Class == Bulk && !job.RequestedByCaller {
			run(scriptTrim, []string{keyJob(job.ID)}, retention.Milliseconds())
		}
		s.account(ctx, pipe, job)
		pipe.Del(ctx, keySubscribers(job.ID))
		pipe.ZRem(ctx, keyActive(job.Class), job.ID)
	})
}

// trimmedBytes is what the record of a job takes of which MarkFinalized leaves little,
// besides its error. RecordBytes is what one takes that a caller has requested, besides its
// outcome, with the keys around it.
const (
	trimmedBytes = 1000
	RecordBytes  = 3000 + 6*pace.EntryOverhead
)

// account counts what is kept of a job against its owner's key. The requests of callers
// have counted the record (RecordBytes) before it was written.
func (*Store) account(ctx context.Context, pipe redis.Pipeliner, job *Job) {
	size := job.Kept
	if job.Class == Bulk && !job.RequestedByCaller {
		size = trimmedBytes
		if job.Error != nil {
			size += job.Kept
		}
	}
	pace.AddTo(ctx, pipe, job.Caller(), size, retention)
	if job.Attached {
		pace.ForgetIn(ctx, pipe, job.Caller(), AttachmentName(job.DedupKey))
	}
}

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
