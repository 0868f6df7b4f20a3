package monitoring

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"ushuru/api/request"
)

const (
	// A network (24 bits of IPv4, 48 of IPv6) has loginBurst guesses, and one more every
	// loginPause: 65 in an hour. An address from which an operator logged in during loginMemory
	// has its own.
	loginBurst  = 5
	loginPause  = time.Minute
	loginMemory = 12 * time.Hour

	// maxNetworks bounds the memory for networks and addresses.
	maxNetworks = 10_000
)

// logins bounds the guesses of the operator's password. It counts in this process and
// not in Redis, since an operator must be able to log in while Redis is away. Only wrong
// passwords count: a browser sends the right one with every request. Networks do not share
// a bound, so that nobody's guesses keep an operator out who is elsewhere.
type logins struct {
	now func() time.Time

	mu       sync.Mutex
	wrong    *simplelru.LRU[string, *rate.Limiter] // of the guesses of a network
	right    *simplelru.LRU[netip.Addr, time.Time] // the last login from an address
	failures int                                   // since the start of the process, with the attempts that were not answered
}

func newLogins(now func() time.Time) *logins {
	l := &logins{now: now}
	l.wrong, _ = simplelru.NewLRU[string, *rate.Limiter](maxNetworks, nil) // the only error is a size below one
	l.right, _ = simplelru.NewLRU[netip.Addr, time.Time](maxNetworks, nil)
	return l
}

// attempt counts an attempt from an address with the right password or a wrong one. It
// returns how long the network must wait before an attempt is answered; then this one is
// not, whatever the password is.
func (l *logins) attempt(address netip.Addr, right bool) (wait time.Duration, failures int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, network := l.now(), request.NetworkOf(address)
	if last, known := l.right.Get(address); known && now.Sub(last) <= loginMemory {
		network = address.String()
	}
	limiter, known := l.wrong.Get(network)
	if !known {
		limiter = rate.NewLimiter(rate.Every(loginPause), loginBurst)
	}
	switch missing := 1 - limiter.TokensAt(now); {
	case missing > 0:
		l.failures++
		return time.Duration(missing * float64(loginPause)), l.failures
	case right:
		l.right.Add(address, now)
		return 0, l.failures
	}
	limiter.AllowN(now, 1)
	l.wrong.Add(network, limiter)
	l.failures++
	return 0, l.failures
}
