package jobs

import (
	"context"
	"encoding/json"
	"time"

	"ushuru/pkg/pack"
)

// Succeed ends a job with its result and returns the time of its end; zero when
// the job had ended before.
func (s *Store) Succeed(ctx context.Context, id string, result json.RawMessage) (time.Time, error) {
	return s.end(ctx, id, Succeeded, "result", pack.Pack(result), "", "")
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
	ms, err := scriptEnd.Run(ctx, s.redis, []string{keyJob(id)},
		string(state), field, data, retention.Milliseconds(), step, claim).Int64()
	if err != nil || ms == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(ms).UTC(), nil
}

// PublishEnd releases the dedup key of a job that has ended, wakes the waiters of
// its Hubs, and returns the subscribers that must still be notified. It may run
// twice: the sweeper checks the job until MarkFinalized.
func (s *Store) PublishEnd(ctx context.Context, job *Job) (parents []string, err error) {
	grace := time.Duration(0)
	if job.State == Succeeded {
		grace = joinGrace
	}
	pipe := s.redis.Pipeline()
	scriptReleaseKey.Eval(ctx, pipe, []string{keyDedup(job.DedupKey)}, job.ID, grace.Milliseconds())
	pipe.Publish(ctx, channelEnded, job.ID)
	members := pipe.SMembers(ctx, keySubscribers(job.ID))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	return members.Val(), nil
}

// MarkFinalized removes a job whose subscribers have all been notified from the
// sweeper's set. Of a bulk job that no caller requested only the result is kept:
// there are thousands of these, and the subscribers have the outcome.
func (s *Store) MarkFinalized(ctx context.Context, job *Job) error {
	pipe := s.redis.Pipeline()
	if job.Class == Bulk && !job.RequestedByCaller {
		scriptTrim.Eval(ctx, pipe, []string{keyJob(job.ID)}, trimmedTTL.Milliseconds())
	}
	pipe.Del(ctx, keySubscribers(job.ID))
	pipe.ZRem(ctx, keyActive(job.Class), job.ID)
	_, err := pipe.Exec(ctx)
	return err
}
