package fair

import (
	"maps"
	"sync"
	"time"
)

// Rates are the shares of owners of a number of calls a second, in one process. The
// zero value is ready for use.
type Rates struct {
	mu   sync.Mutex
	part float64              // of all calls, which this process may make; 0: all
	next map[string]time.Time // when the calls of an owner so far were due
}

// maxRemembered is how many owners are remembered before those are forgotten who have
// not called for a while.
const maxRemembered = 1000

// SetPart says which part of all calls this process may make, because other processes
// make the others.
func (r *Rates) SetPart(part float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part = part
}

// Take counts a call of an owner against his share of a rate per second. It returns 0,
// or the time to wait, and then the call is not counted.
func (r *Rates) Take(owner string, perSecond int, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	share, units := Rate(owner, perSecond)
	perCall := time.Duration(units) * time.Second / time.Duration(share)
	if r.part > 0 {
		perCall = time.Duration(float64(perCall) / r.part)
	}
	burst := time.Duration(max(share/units, 1)-1) * perCall
	due := r.next[owner]
	if due.Before(now) {
		due = now
	}
	if wait := due.Sub(now) - burst; wait > 0 {
		return wait
	}
	if r.next == nil {
		r.next = map[string]time.Time{}
	}
	r.next[owner] = due.Add(perCall)
	if len(r.next) > maxRemembered {
		maps.DeleteFunc(r.next, func(_ string, due time.Time) bool { return due.Before(now) })
	}
	return 0
}
