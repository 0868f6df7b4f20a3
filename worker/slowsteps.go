package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// slowSteps bounds the steps of batches that take long: those of one key never have all
// the places of a worker. A step that takes longer than after needs a place among the
// slow ones; a step that gets none is tried again later, and so is one that begins while
// its key may have no more.
type slowSteps struct {
	places       int
	after, delay time.Duration

	mu   sync.Mutex
	all  int            // slow steps
	owns map[string]int // of each key
}

func newSlowSteps(places int) *slowSteps {
	return &slowSteps{places: places, after: 3 * time.Second, delay: 5 * time.Second, owns: map[string]int{}}
}

var errTooSlow = errors.New("worker: slow pages of the same key have all the places that one key may have")

// run runs the part of a step that may be slow, bounded. The steps of people take turns
// instead.
func (s *slowSteps) run(ctx context.Context, job *jobs.Job, part func(context.Context) error) error {
	if job.Class != jobs.Bulk {
		return part(ctx)
	}
	if !s.admits(job.Owner) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var slow bool
	checked := make(chan struct{})
	timer := time.AfterFunc(s.after, func() {
		defer close(checked)
		if slow = s.take(job.Owner); !slow {
			cancel(errTooSlow)
		}
	})
	err := part(ctx)
	if !timer.Stop() {
		<-checked
		if slow {
			s.give(job.Owner)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errTooSlow) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	return err
}

// admits reports whether one more step of a key may be slow.
func (s *slowSteps) admits(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pace.Admits(owner, s.owns[owner], s.places-s.all)
}

// take takes a place for a slow step of a key, if it may have one more.
func (s *slowSteps) take(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !pace.Admits(owner, s.owns[owner], s.places-s.all) {
		return false
	}
	s.all++
	s.owns[owner]++
	return true
}

func (s *slowSteps) give(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.owns[owner]--; s.owns[owner] == 0 {
		delete(s.owns, owner)
	}
}
