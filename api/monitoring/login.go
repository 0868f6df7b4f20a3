package monitoring

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

const (
	// An address has loginBurst wrong passwords, and one more every loginPause.
	loginBurst = 5
	loginPause = 10 * time.Second
	// All addresses together have these, but for those from which an operator logged in
	// during loginMemory.
	loginBurstAll = 30
	loginPauseAll = time.Second
	loginMemory   = 12 * time.Hour

	// maxAddresses bounds the memory for addresses.
	maxAddresses = 10_000
)

// logins slows down the guessing of the operator's password. It counts in this process and
// not in Redis, since an operator must be able to log in while Redis is away. Only wrong
// passwords count: a browser sends the right one with every request.
type logins struct {
	now func() time.Time

	mu       sync.Mutex
	all      *rate.Limiter                             // of wrong passwords from all addresses
	wrong    *simplelru.LRU[netip.Addr, *rate.Limiter] // of wrong passwords from one address
	right    *simplelru.LRU[netip.Addr, time.Time]     // the last login from an address
	failures int                                       // since the start of the process, with the attempts that were not checked
}

func newLogins(now func() time.Time) *logins {
	l := &logins{now: now, all: rate.NewLimiter(rate.Every(loginPauseAll), loginBurstAll)}
	l.wrong, _ = simplelru.NewLRU[netip.Addr, *rate.Limiter](maxAddresses, nil) // the only error is a size below one
	l.right, _ = simplelru.NewLRU[netip.Addr, time.Time](maxAddresses, nil)
	return l
}

// wait returns how long an address must wait before its password is looked at; then
// the attempt has failed.
func (l *logins) wait(address netip.Addr) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, wait := l.now(), time.Duration(0)
	if limiter, known := l.wrong.Get(address); known {
		wait = untilNext(limiter, now)
	}
	if last, known := l.right.Get(address); !known || now.Sub(last) > loginMemory {
		wait = max(wait, untilNext(l.all, now))
	}
	if wait > 0 {
		l.failures++
	}
	return wait
}

// untilNext returns how long it takes until a limiter allows one more.
func untilNext(limiter *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - limiter.TokensAt(now)
	return max(time.Duration(missing/float64(limiter.Limit())*float64(time.Second)), 0)
}

// fail records a wrong password, and returns how many there were so far. Wrong passwords that
// were sent at the same time lengthen the wait together.
func (l *logins) fail(address netip.Addr) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter, known := l.wrong.Get(address)
	if !known {
		limiter = rate.NewLimiter(rate.Every(loginPause), loginBurst)
		l.wrong.Add(address, limiter)
	}
	limiter.ReserveN(l.now(), 1)
	l.all.ReserveN(l.now(), 1)
	l.failures++
	return l.failures
}

// succeed records a login, and forgets the wrong passwords of the address.
func (l *logins) succeed(address netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong.Remove(address)
	l.right.Add(address, l.now())
}
