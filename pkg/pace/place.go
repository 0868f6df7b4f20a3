package pace

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
)

// Places are places of one process that owners share. The zero value has none; use
// NewPlaces.
type Places struct {
	mu      sync.Mutex
	free    int
	has     map[string]int
	waiting []*waiter // in the order in which they came
	// served is when owners who wait were served last, as a number of turns.
	served map[string]int
	turns  int
}

type waiter struct {
	owner string
	ready chan struct{} // closed when the place is the waiter's
}

// NewPlaces returns n places.
func NewPlaces(n int) *Places {
	return &Places{free: n, has: map[string]int{}, served: map[string]int{}}
}

// ErrManyWait means that as many of an owner wait for a place as may.
var ErrManyWait = errors.New("pace: too many wait for a place")

// Take takes a place for an owner, and waits for it until ctx is done. It returns
// the function that gives the place back.
func (p *Places) Take(ctx context.Context, owner string) (release func(), err error) {
	return p.TakeAmong(ctx, owner, math.MaxInt)
}

// TakeAmong does what Take does while fewer than most of the owner wait, and else returns
// ErrManyWait.
func (p *Places) TakeAmong(ctx context.Context, owner string, most int) (release func(), err error) {
	w := &waiter{owner, make(chan struct{})}
	p.mu.Lock()
	before := p.countWaiting(owner)
	p.waiting = append(p.waiting, w)
	p.serve()
	if before >= most && slices.Contains(p.waiting, w) {
		p.waiting = p.waiting[:len(p.waiting)-1]
		p.mu.Unlock()
		return nil, ErrManyWait
	}
	p.mu.Unlock()
	select {
	case <-w.ready:
		return sync.OnceFunc(func() { p.release(owner) }), nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.forget(owner)
		return nil, ctx.Err()
	}
	p.give(owner) // it came at the same moment
	return nil, ctx.Err()
}

// Try takes a place for an owner if one is to be had now.
func (p *Places) Try(owner string) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !admits(owner, p.has[owner], p.free) {
		return nil, false
	}
	p.free--
	p.has[owner]++
	return sync.OnceFunc(func() { p.release(owner) }), true
}

// Admits reports whether an owner may have one more place now.
func (p *Places) Admits(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return admits(owner, p.has[owner], p.free)
}

// Waiting returns how many wait for a place of an owner.
func (p *Places) Waiting(owner string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.countWaiting(owner)
}

func (p *Places) countWaiting(owner string) (n int) {
	for _, w := range p.waiting {
		if w.owner == owner {
			n++
		}
	}
	return n
}

func (p *Places) release(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.give(owner)
}

// give gives a place of an owner to the caller that is next.
func (p *Places) give(owner string) {
	p.free++
	if p.has[owner]--; p.has[owner] <= 0 {
		delete(p.has, owner)
		p.forget(owner)
	}
	p.serve()
}

// forget forgets when an owner was served, unless the owner still waits.
func (p *Places) forget(owner string) {
	if !slices.ContainsFunc(p.waiting, func(w *waiter) bool { return w.owner == owner }) {
		delete(p.served, owner)
	}
}

// serve gives free places to waiting owners that may have one: first to the owner with the
// fewest places, and among equals to the owner that was served longest ago.
func (p *Places) serve() {
	for p.free > 0 {
		next := -1
		for i, w := range p.waiting {
			if admits(w.owner, p.has[w.owner], p.free) && (next < 0 || p.precedes(w.owner, p.waiting[next].owner)) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.free--
		p.has[w.owner]++
		p.turns++
		p.served[w.owner] = p.turns
		close(w.ready)
	}
}

// precedes reports whether an owner is served before another one that has waited longer.
func (p *Places) precedes(owner, other string) bool {
	if p.has[owner] != p.has[other] {
		return p.has[owner] < p.has[other]
	}
	return p.served[owner] < p.served[other]
}

// Counts are what is open of each owner in one process, such as streams of events. The zero
// value is ready for use.
type Counts struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// Bound is how many one owner may have open.
type Bound struct {
	Owner string
	Most  int
}

// Take counts one more of each owner until release. It is false when one of them has too
// many.
func (c *Counts) Take(wanted ...Bound) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, bound := range wanted {
		if c.of[bound.Owner] >= bound.Most {
			return nil, false
		}
	}
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.add(wanted, 1)
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.add(wanted, -1)
	}), true
}

func (c *Counts) add(wanted []Bound, n int) {
	c.all += n
	for _, bound := range wanted {
		if c.of[bound.Owner] += n; c.of[bound.Owner] == 0 {
			delete(c.of, bound.Owner)
		}
	}
}

// All returns how many are open.
func (c *Counts) All() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}
