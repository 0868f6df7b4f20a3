package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
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
