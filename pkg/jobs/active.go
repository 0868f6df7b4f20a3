package jobs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// ListDue returns up to limit jobs of a class that are due for a check, each to
// one caller only. The caller has the time hold to check the job and to schedule
// the next check; after that the job is due again.
func (s *Store) ListDue(ctx context.Context, class Class, limit int, hold time.Duration) ([]string, error) {
	return scriptListDue.Run(ctx, s.redis, []string{keyActive(class)}, limit, hold.Milliseconds()).StringSlice()
}

// Now returns the time by the clock of Redis, as the times in a record are.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return s.redis.Time(ctx).Result()
}

// ScheduleCheck sets when the sweeper checks an active job next.
func (s *Store) ScheduleCheck(ctx context.Context, id string, class Class, after time.Duration) error {
	return s.scheduleCheck(ctx, id, class, after, "XX")
}

func (s *Store) scheduleCheck(ctx context.Context, id string, class Class, after time.Duration, mode string) error {
	return scriptSchedule.Run(ctx, s.redis, []string{keyActive(class)}, id, after.Milliseconds(), mode).Err()
}

// RemoveActive removes a job from a class of the sweeper's set: its record is
// gone, or it is in the other class now.
func (s *Store) RemoveActive(ctx context.Context, id string, class Class) error {
	return s.redis.ZRem(ctx, keyActive(class), id).Err()
}

// scriptPromote marks a bulk job as interactive. It returns 1 when this call did.
var scriptPromote = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return 0 end
return redis.call('HSETNX', KEYS[1], 'promoted', 1)
`)

// Promote makes an interactive job of a bulk job that has not ended. The deadline
// stays. It may run twice, and returns true when this call promoted the job.
func (s *Store) Promote(ctx context.Context, job *Job) (bool, error) {
	promoted, err := scriptPromote.Run(ctx, s.redis, []string{keyJob(job.ID)}).Bool()
	if err != nil || !promoted {
		return false, err
	}
	return true, s.MoveToClass(ctx, job.ID, Bulk, Interactive)
}

// MoveToClass moves a job to another class of the sweeper's set.
func (s *Store) MoveToClass(ctx context.Context, id string, from, to Class) error {
	if err := s.scheduleCheck(ctx, id, to, firstCheckDelay, "NX"); err != nil {
		return err
	}
	return s.RemoveActive(ctx, id, from)
}
