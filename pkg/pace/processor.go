package pace

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// What one owner may use of the processors of one process: so many processors on the
// average, and so much time beyond that.
const (
	processorsKey       = 0.5
	burstKey            = 20 * time.Second // a list of 10,000 rows as CSV and as XLSX, one after the other
	processorsAnonymous = 0.2
	burstAnonymous      = 2 * time.Second

	// maxAccounts bounds the memory for owners who have used time. Who has not used any for
	// longest is forgotten first.
	maxAccounts = 20_000
)

// Processor shares the time of the processors of one process. Computations take turns by
// owner, and the time that each took is billed to its owner afterwards. An owner who has used
// more than its share is refused until the rest has paid for it. The place is the
// reservation: of the computations of an owner no more begin than the owner has places, so
// the account is exceeded by these at most.
type Processor struct {
	places *Places
	// batches are the places of the computations of batches. One key leaves a processor to others.
	batches *Places

	mu sync.Mutex
	// paid is when the time that an owner has used is paid for.
	paid *simplelru.LRU[string, time.Time]
	// people is until when batches yield, and rested when the last of their computations is
	// paid for in that case.
	people, rested time.Time
}

// NewProcessor returns the time of a process with so many processors. There are at least two
// places, so that one is left for another owner.
func NewProcessor(processors int) *Processor {
	p := &Processor{places: NewPlaces(max(processors, 2)), batches: NewPlaces(processors)} //nolint:mnd // as the comment says
	p.paid, _ = simplelru.NewLRU[string, time.Time](maxAccounts, nil)                      // the only error is a size below one
	return p
}

// share returns what an owner may use.
func share(owner string) (processors float64, burst time.Duration) {
	if IsAnonymous(owner) {
		return processorsAnonymous, burstAnonymous
	}
	return processorsKey, burstKey
}

// Account returns the time that an owner has left, in milliseconds.
func (p *Processor) Account(owner string) Allowance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account(owner)
}

func (p *Processor) account(owner string) Allowance {
	processors, burst := share(owner)
	paid, _ := p.paid.Peek(owner)
	reset := max(time.Until(paid), 0)
	left := burst - time.Duration(float64(reset)*processors)
	account := Allowance{Allowed: left > 0, Remaining: int(max(left, 0).Milliseconds()), Reset: reset}
	if !account.Allowed {
		account.RetryAfter = time.Duration(float64(-left)/processors) + time.Millisecond
	}
	return account
}

// policy returns what an owner may use in milliseconds, and the time in which that is there
// again.
func policy(owner string) Policy {
	processors, burst := share(owner)
	return Policy{"processor", int(burst.Milliseconds()), time.Duration(float64(burst) / processors)}
}

// Bill adds time that was used for an owner.
func (p *Processor) Bill(owner string, used time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	processors, _ := share(owner)
	paid, _ := p.paid.Get(owner)
	if now := time.Now(); paid.Before(now) {
		paid = now
	}
	p.paid.Add(owner, paid.Add(time.Duration(float64(used)/processors)))
}

// Admit bills a request of an owner what the least request costs. It returns a SpentError
// when the owner has used more than its share.
func (p *Processor) Admit(owner string) error {
	err := p.check(owner)
	if err == nil {
		p.Bill(owner, leastRequest)
	}
	return err
}

func (p *Processor) check(owner string) error {
	if account := p.Account(owner); !account.Allowed {
		return &SpentError{policy(owner), account}
	}
	return nil
}

// leastRequest is what a request costs beside its computations: to read, log and answer it.
const leastRequest = 200 * time.Microsecond

// SpentError means that an owner has used more than its share of the processors.
type SpentError struct {
	Policy  Policy
	Account Allowance
}

func (e *SpentError) Error() string {
	return fmt.Sprintf("pace: the share of the processors is used up for %s", e.Account.RetryAfter)
}

// Turn returns a turn of an owner, without a place.
func (p *Processor) Turn(owner string) *Turn { return &Turn{processor: p, owner: owner} }

// Turn is the place of one computation, which may have several parts. It must be given back
// before the computation waits for anything: the turn of another, Redis or a connection. Nil
// has none, and needs none.
type Turn struct {
	processor *Processor
	owner     string
	release   func() // nil without the place
	began     time.Time
}

// Begin waits for the place, unless the turn has it. It returns a SpentError when the owner
// has then used more than its share.
func (t *Turn) Begin(ctx context.Context) error {
	if t == nil || t.release != nil {
		return nil
	}
	err := t.processor.check(t.owner) // who has nothing left does not wait
	if err == nil {
		err = t.Take(ctx)
	}
	if err == nil {
		err = t.processor.check(t.owner)
	}
	if err != nil {
		t.Give()
	}
	return err
}

// Take waits for the place, unless the turn has it, whatever its owner has used: for work that
// has begun.
func (t *Turn) Take(ctx context.Context) error {
	if t == nil || t.release != nil {
		return nil
	}
	release, err := t.processor.places.Take(ctx, t.owner)
	if err == nil {
		t.release, t.began = release, time.Now()
	}
	return err
}

// Give gives the place back, if the turn has it, and bills the time for which it had it.
func (t *Turn) Give() {
	if t == nil || t.release == nil {
		return
	}
	t.processor.Bill(t.owner, time.Since(t.began))
	t.release()
	t.release = nil
}

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
