package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pack"
	"ushuru/pkg/quota"
)

// Succeed ends a job with its result and returns the time of its end; zero when
// the job had ended before.
func (s *Store) Succeed(ctx context.Context, id string, result json.RawMessage) (time.Time, error) {
	job, err := s.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	finished, err := s.Finish(ctx, job, result)
	return finished.At, err
}

// Finished is the outcome of Finish.
type Finished struct {
	At          time.Time // of the end; zero when this call did not end the job
	Promoted    bool      // an interactive request has joined the bulk job
	Kept        int64     // bytes of the result in the record
	Subscribers []string  // who must be notified
}

// Finish ends a job with its result, which its last steps have made, and does what
// PublishEnd does. It does nothing to a job that has ended, or when one of the steps
// has an output of another run: read the record. Without steps it ends a job whose
// outputs are all stored.
func (s *Store) Finish(ctx context.Context, job *Job, result json.RawMessage, steps ...string) (Finished, error) {
	packed := pack.Pack(result)
	args := append(make([]any, 0, 5+len(steps)),
		job.ID, joinGrace.Milliseconds(), ChannelEnded, packed, retention.Milliseconds())
	for _, step := range steps {
		args = append(args, step)
	}
	reply, err := scriptFinish.Run(ctx, s.redis, keysOf(job), args...).Slice()
	if err != nil || len(reply) == 0 {
		return Finished{}, err
	}
	ms, okTime := reply[0].(int64)
	members, okMembers := reply[2].([]any)
	if !okTime || !okMembers {
		return Finished{}, fmt.Errorf("jobs: finish: unexpected reply %v", reply)
	}
	finished := Finished{
		At: time.UnixMilli(ms).UTC(), Promoted: reply[1] == int64(1), Kept: int64(len(packed)),
		Subscribers: make([]string, 0, len(members)),
	}
	for _, member := range members {
		subscriber, _ := member.(string)
		finished.Subscribers = append(finished.Subscribers, subscriber)
	}
	return finished, nil
}

// Fail ends a job with an error. With a claim it does so only while that claim on
// the step is valid. It returns false when the job had ended before or the claim
// is no longer valid.
func (s *Store) Fail(ctx context.Context, id, step, claim string, failure *Error) (bool, error) {
	data, err := json.Marshal(failure)
	if err != nil {
		return false, err
	}
	at, err := s.end(ctx, id, Failed, "error", data, step, claim)
	return !at.IsZero(), err
}

// Cancel ends a job without a result. It returns false when the job had ended
// before. A step that runs finds out from the Hub, or when it stores its output.
func (s *Store) Cancel(ctx context.Context, id string) (bool, error) {
	at, err := s.end(ctx, id, Cancelled, "", nil, "", "")
	return !at.IsZero(), err
}

// end ends a job once. It returns the time of the end; zero when it did not end it.
func (s *Store) end(
	ctx context.Context, id string, state State, field string, data []byte, step, claim string,
) (time.Time, error) {
	ms, err := scriptEnd.Run(ctx, s.redis, []string{keyJob(id), keyAttachment(id)},
		string(state), field, data, retention.Milliseconds(), step, claim).Int64()
	if err != nil || ms == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(ms).UTC(), nil
}

// PublishEnd releases the dedup key of a job that has ended, wakes the waiters of
// its Hubs, and returns the subscribers that must still be notified. A job that failed is
// joined for as long as remember says, at most RefusalTTL. It may run
// twice: the sweeper checks the job until MarkFinalized.
func (s *Store) PublishEnd(ctx context.Context, job *Job, remember time.Duration) (parents []string, err error) {
	grace := time.Duration(0)
	if job.State == Succeeded {
		grace = joinGrace
	}
	if job.State == Failed {
		grace = min(remember, RefusalTTL)
	}
	return scriptPublish.Run(ctx, s.redis, keysOf(job), job.ID, grace.Milliseconds(), ChannelEnded).StringSlice()
}

// MarkFinalized removes a job whose subscribers have all been notified from the
// sweeper's set. Of a bulk job that no caller requested only the result is kept:
// there are thousands of these, and the subscribers have the outcome. What is kept
// counts against the bytes of the owner's key.
func (s *Store) MarkFinalized(ctx context.Context, job *Job) error {
	return s.pipelined(ctx, func(pipe redis.Pipeliner, run scriptRunner) {
		if job.Class == Bulk && !job.RequestedByCaller {
			run(scriptTrim, []string{keyJob(job.ID)}, trimmedTTL.Milliseconds())
		}
		s.account(ctx, pipe, job)
		pipe.Del(ctx, keySubscribers(job.ID))
		pipe.ZRem(ctx, keyActive(job.Class), job.ID)
	})
}

// recordBytes is what the record of a job takes besides its outcome, with the keys
// around it.
const recordBytes = 1500 + 3*quota.EntryOverhead

// RecordBytes is what a job takes that a caller has requested, besides its outcome: it
// keeps its steps.
const RecordBytes = 2 * recordBytes

// account counts what is kept of a job against its owner's key. The requests of callers
// have counted the record (RecordBytes) before it was written.
func (*Store) account(ctx context.Context, pipe redis.Pipeliner, job *Job) {
	size := job.Kept
	if job.Class == Bulk {
		size += recordBytes
	}
	quota.AddTo(ctx, pipe, job.Owner, size, retention)
	if job.Attached {
		quota.ForgetIn(ctx, pipe, job.Owner, AttachmentName(job.DedupKey))
	}
}
