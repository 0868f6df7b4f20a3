package jobs

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// scriptPromote notes that a person waits for a job of a batch. Returns 1
// when this call did it.
var scriptPromote = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return 0 end
return redis.call('HSETNX', KEYS[1], 'promoted', 1)
`)

// Promote makes an interactive job of a bulk one that has not ended. The
// deadline stays. It may be done twice; true when this call did it.
func (s *Store) Promote(ctx context.Context, job *Job) (bool, error) {
	promoted, err := scriptPromote.Run(ctx, s.redis, []string{keyJob(job.ID)}).Bool()
	if err != nil || !promoted {
		return false, err
	}
	return true, s.MoveToClass(ctx, job.ID, Bulk, Interactive)
}

// MoveToClass has a job looked at among those of another class.
func (s *Store) MoveToClass(ctx context.Context, id string, from, to Class) error {
	if err := s.scheduleCheck(ctx, id, to, firstCheckDelay, "NX"); err != nil {
		return err
	}
	return s.RemoveActive(ctx, id, from)
}

// IsSubscribed reports whether a parent is among those who are to be told of a job's
// end.
func (s *Store) IsSubscribed(ctx context.Context, id, parent string) (bool, error) {
	parents, err := s.redis.SMembers(ctx, keySubscribers(id)).Result()
	return slices.Contains(parents, parent), err
}
