package jobs

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/pace"
)

const (
	// runningTTL is how long a running job counts after it was submitted. It ends long before.
	runningTTL = 24 * time.Hour
	// reserved begins the name of a place for a job that is about to be submitted, and
	// reservedFor is for how long it counts: that of a process that was killed is free afterwards.
	reserved    = "?"
	reservedFor = 15 * time.Second
)

func (s *Store) running() *pace.Accounts { return pace.NewAccounts(s.redis, pace.KindJobs) }

// Reserve takes a place for one more running job of an owner, of at most maxJobs, and returns its
// name; "" when there is none. A visitor leaves as many to the others of a network as the visitor
// has. Jobs are not counted down when they end, so that a process that dies leaves no wrong
// count behind: when no place is free, Reserve removes the jobs that have ended.
func (s *Store) Reserve(ctx context.Context, owner pace.Holder, maxJobs int) (place string, err error) {
	place = reserved + rand.Text()
	take := func() (bool, error) {
		within := pace.Within{Whole: int64(maxJobs), Half: true}
		b, err := s.running().TakeFor(ctx, owner, within, pace.Kept{Name: place, Size: 1, TTL: reservedFor})
		return !b.Refused, err
	}
	if ok, err := take(); ok || err != nil {
		return place, err
	}
	ids, err := s.tracked(ctx, owner)
	if err != nil {
		return "", err
	}
	ended, err := s.ListEnded(ctx, ids)
	if err != nil || len(ended) == 0 {
		return "", err
	}
	if err := s.running().Forget(ctx, owner, ended...); err != nil {
		return "", err
	}
	if ok, err := take(); !ok {
		return "", err
	}
	return place, nil
}

// Track gives a place back that Reserve took, and counts a job in its stead until it has
// ended; with the id "" none.
func (s *Store) Track(ctx context.Context, owner pace.Holder, place, id string) error {
	things := []pace.Kept{{Name: place}}
	if id != "" {
		things = append(things, pace.Kept{Name: id, Size: 1, TTL: runningTTL})
	}
	_, err := s.running().Settle(ctx, owner, things...)
	return err
}

// CountRunning returns how many jobs of an owner run, without those of batches.
func (s *Store) CountRunning(ctx context.Context, owner string) (int, error) {
	ids, err := s.tracked(ctx, pace.Holder{Whole: owner})
	if err != nil {
		return 0, err
	}
	ended, err := s.ListEnded(ctx, ids)
	return len(ids) - len(ended), err
}

// tracked returns the jobs that Track counted; some have ended.
func (s *Store) tracked(ctx context.Context, owner pace.Holder) ([]string, error) {
	names, err := s.running().Names(ctx, owner)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, reserved) }), err
}
