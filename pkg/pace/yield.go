package pace

import (
	"context"
	"time"
)

// The processors of a process are shared by the steps of people and those of batches. A step of
// a person computes for a few milliseconds, between a dozen answers of Redis and of its site:
// after each it would stand behind the steps of a batch, which fill all processors.
const (
	// peopleMoment is for how long batches yield after a part of a person's work has begun. It
	// is the time of a whole estimate; while a person waits for a site, batches go on.
	peopleMoment = 25 * time.Millisecond
	// restPart is how many times as long as it has computed a batch rests meanwhile: it has a
	// fifth of the time.
	restPart = 4
	// longestRest is after a page that takes long to read.
	longestRest = 100 * time.Millisecond
)

// yielding is what the computations of batches know of people.
type yielding struct {
	// batches are the places of the computations of batches. One key leaves a processor to others.
	batches *Places
	// people is until when batches yield, and rested when the last of their computations is
	// paid for in that case. The lock of the Processor guards both.
	people, rested time.Time
}

// PersonGoesOn says that a part of a person's work begins.
func (p *Processor) PersonGoesOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.people = time.Now().Add(peopleMoment)
}

// BeginBatch waits until a computation of a batch may begin, and returns the function that ends
// it. Batches take turns by the owner of the context. The computation must not wait for anything.
func (p *Processor) BeginBatch(ctx context.Context) (end func(), err error) {
	release, err := p.batches.Take(ctx, Owner(ctx))
	if err != nil {
		return nil, err
	}
	for left := p.rest(); left > 0; left = p.rest() {
		if err := Sleep(ctx, left); err != nil {
			release()
			return nil, err
		}
	}
	begun := time.Now()
	return func() {
		p.mu.Lock()
		p.rested = time.Now().Add(min(restPart*time.Since(begun), longestRest))
		p.mu.Unlock()
		release() // the next finds how long it rests
	}, nil
}

// rest returns for how long a computation of a batch must still wait, if no person goes on
// meanwhile.
func (p *Processor) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(time.Until(p.people), time.Until(p.rested))
}
