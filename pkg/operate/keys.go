package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// CreateKey issues an API key; a zero expires is never. It returns the key in plain text,
// which is shown once only. The error is keys.ErrNameTaken when a valid key has the name.
func (o *Operator) CreateKey(ctx context.Context, name string, expires time.Time) (plain string, key keys.Key, err error) {
	key, err = act(ctx, o, "keys create", name, func() (keys.Key, error) {
		var err error
		plain, key, err = o.keys.CreateUntil(ctx, name, expires)
		return key, err
	})
	return plain, key, err
}

// LimitChange is what changes of the limits of a key; what is nil stays. A limit of 0
// restores the server's.
type LimitChange struct {
	PerMinute  *int   `json:"perMinute"`
	Jobs       *int   `json:"jobs"`
	BatchItems *int   `json:"batchItems"`
	Bytes      *int64 `json:"bytes"`
	AITokens   *int64 `json:"aiTokens"`
	// Expires is when the key expires; the zero time is never.
	Expires *time.Time `json:"expires"`
}

// ErrLimit means that a limit is negative.
var ErrLimit = errors.New("operate: a limit must not be negative; 0 means the server's limit")

func set[T int | int64](value, change *T) {
	if change != nil {
		*value = *change
	}
}

func isNegative[T int | int64](change *T) bool { return change != nil && *change < 0 }

// LimitKey changes the limits of a key, within a second, and returns the key.
func (o *Operator) LimitKey(ctx context.Context, id string, c LimitChange) (keys.Key, error) {
	return act(ctx, o, "keys limit", id, func() (keys.Key, error) {
		if isNegative(c.PerMinute) || isNegative(c.Jobs) || isNegative(c.BatchItems) || isNegative(c.Bytes) ||
			isNegative(c.AITokens) {
			return keys.Key{}, ErrLimit
		}
		_, err := o.keys.ChangeLimits(ctx, id, func(l *pace.Limits) {
			set(&l.PerMinute, c.PerMinute)
			set(&l.Jobs, c.Jobs)
			set(&l.BatchItems, c.BatchItems)
			set(&l.Bytes, c.Bytes)
			set(&l.AITokens, c.AITokens)
		})
		if err == nil && c.Expires != nil {
			err = o.keys.Expire(ctx, id, *c.Expires)
		}
		if err != nil {
			return keys.Key{}, notFound(err)
		}
		return o.keys.Get(ctx, id)
	})
}

// RotateKey issues a new key for the owner of one, with its limits and its work. The old one
// stays valid for a grace. It returns the new key in plain text.
func (o *Operator) RotateKey(ctx context.Context, id string, grace time.Duration) (plain string, key keys.Key, err error) {
	key, err = act(ctx, o, "keys rotate", fmt.Sprintf("%s, the old one for %v", id, grace), func() (keys.Key, error) {
		var err error
		plain, key, err = o.keys.Rotate(ctx, id, grace)
		return key, notFound(err)
	})
	return plain, key, err
}

// Stopped is what the revocation of a key has ended, and what goes on.
type Stopped struct {
	Batches  int `json:"batches"`
	Jobs     int `json:"jobs"`
	Webhooks int `json:"webhooks"`
	// Shared are the ids of jobs that go on, as others wait for them too.
	Shared []string `json:"shared,omitempty"`
}

// RevokeKey revokes a key and ends its work: its batches and jobs, except jobs that others
// wait for too, and it deletes its webhooks. With keepWork what has begun continues. It may
// run twice, and works while Redis has no memory left.
func (o *Operator) RevokeKey(ctx context.Context, id string, keepWork bool) (Stopped, error) {
	return act(ctx, o, "keys revoke", id, func() (Stopped, error) {
		err := notFound(o.keys.Revoke(ctx, id))
		if errors.Is(err, ErrNotFound) {
			// Its record was lost when it was revoked while Redis was full.
			ids, listErr := o.keys.IDs(ctx)
			if listErr != nil || !slices.Contains(ids, id) {
				return Stopped{}, errors.Join(err, listErr)
			}
			err = nil
		}
		if err != nil || keepWork {
			return Stopped{}, err
		}
		return o.stopWork(ctx, id)
	})
}

// stopWork ends the work of a key. One part that cannot be ended does not keep the others.
func (o *Operator) stopWork(ctx context.Context, id string) (s Stopped, err error) {
	endpoints, err := o.webhooks.List(ctx, id) // first: the end of the work is no event
	for _, e := range endpoints {
		if removeErr := o.webhooks.Remove(ctx, id, e.ID); removeErr != nil {
			err = errors.Join(err, removeErr)
			continue
		}
		s.Webhooks++
	}
	running, listErr := o.Batches(ctx, BatchFilter{Key: id, Running: true})
	err = errors.Join(err, listErr)
	for _, b := range running {
		if _, cancelErr := o.cancelBatch(ctx, b.ID); cancelErr != nil {
			err = errors.Join(err, cancelErr)
			continue
		}
		s.Batches++
	}
	err = errors.Join(err, o.stopJobs(ctx, id, &s))
	return s, err
}

// stopJobs withdraws a key from the jobs that it has requested. It counts in s the jobs that have
// ended with that, and those that go on. Jobs of rows only are not interactive.
func (o *Operator) stopJobs(ctx context.Context, id string, s *Stopped) error {
	ids, err := o.jobs.ListActive(ctx, jobs.Interactive)
	if err != nil {
		return err
	}
	active, err := o.jobs.GetAll(ctx, ids)
	for _, job := range active {
		if job.State.Ended() {
			continue
		}
		after, cancelErr := o.engine.CancelFor(ctx, job.ID, id)
		switch {
		case cancelErr == nil && after.State.Ended():
			s.Jobs++
		case errors.Is(cancelErr, tasks.ErrStillNeeded):
			s.Shared = append(s.Shared, job.ID)
		case errors.Is(cancelErr, tasks.ErrNotRequester), errors.Is(cancelErr, jobs.ErrNotFound):
		default:
			err = errors.Join(err, cancelErr)
		}
	}
	return err
}
