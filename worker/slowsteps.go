package worker

import (
	"context"
	"errors"
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
	places       *pace.Places // of the slow steps
	after, delay time.Duration
}

func newSlowSteps(places int) *slowSteps {
	return &slowSteps{pace.NewPlaces(places), 3 * time.Second, 5 * time.Second}
}

var errTooSlow = errors.New("worker: slow pages of the same key have all the places that one key may have")

// run runs the part of a step that may be slow, bounded. The steps of people take turns
// instead.
func (s *slowSteps) run(ctx context.Context, job *jobs.Job, part func(context.Context) error) error {
	if job.Class != jobs.Bulk {
		return part(ctx)
	}
	if !s.places.Admits(job.Caller()) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var release func() // of a slow step
	checked := make(chan struct{})
	timer := time.AfterFunc(s.after, func() {
		defer close(checked)
		var ok bool
		if release, ok = s.places.Try(job.Caller()); !ok {
			cancel(errTooSlow)
		}
	})
	err := part(ctx)
	if !timer.Stop() {
		<-checked
		if release != nil {
			release()
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errTooSlow) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	return err
}
