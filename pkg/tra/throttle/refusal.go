package throttle

import (
	"sync"
	"time"
)

// The pauses after a refusal: the first, which doubles with each further one. The
// longest is BreakerTimeout.
const firstRefusalPause = 5 * time.Second

// refusal pauses the calls of a process that the authority refuses, which is an
// outage of this process and not of the authority: a worker elsewhere may be
// answered. The zero value pauses nothing.
type refusal struct {
	mu    sync.Mutex
	pause time.Duration // the last one; 0 after a call that was not refused
	until time.Time
}

// remaining returns for how long no call may be made.
func (r *refusal) remaining() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(time.Until(r.until), 0)
}

// record counts the outcome of a call. It returns the pause that begins with it;
// 0 when none does. Refusals of calls that were under way together count once.
func (r *refusal) record(refused bool, longest time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !refused:
		r.pause, r.until = 0, time.Time{}
		return 0
	case time.Now().Before(r.until):
		return 0
	}
	r.pause = min(max(2*r.pause, firstRefusalPause), longest)
	r.until = time.Now().Add(r.pause)
	return r.pause
}
