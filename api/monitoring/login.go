package monitoring

import (
	"net/netip"
	"sync"
	"time"
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

	// maxAddresses bounds the memory for addresses. Those that have waited longest are
	// forgotten first.
	maxAddresses = 10_000
)

// logins slows down who guesses the operator's password.
type logins struct {
	now func() time.Time

	mu        sync.Mutex
	all       time.Time // when all wrong passwords are forgotten
	addresses map[netip.Addr]loginRecord
	failures  int // since the start of the process, with the attempts that were not checked
}

// loginRecord is what is known of an address.
type loginRecord struct {
	failed    time.Time // when its wrong passwords are forgotten
	succeeded time.Time // the last login
}

func newLogins(now func() time.Time) *logins {
	return &logins{now: now, addresses: map[netip.Addr]loginRecord{}}
}

// wait returns how long an address must wait before its password is looked at; then
// the attempt has failed.
func (l *logins) wait(address netip.Addr) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, record := l.now(), l.addresses[address]
	wait := latest(record.failed, now).Sub(now) - (loginBurst-1)*loginPause
	if now.Sub(record.succeeded) > loginMemory {
		wait = max(wait, latest(l.all, now).Sub(now)-(loginBurstAll-1)*loginPauseAll)
	}
	if wait > 0 {
		l.failures++
	}
	return max(wait, 0)
}

// fail records a wrong password, and returns how many there were so far.
func (l *logins) fail(address netip.Addr) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.forget(now)
	record := l.addresses[address]
	record.failed = latest(record.failed, now).Add(loginPause)
	l.addresses[address] = record
	l.all = latest(l.all, now).Add(loginPauseAll)
	l.failures++
	return l.failures
}

// succeed records a login.
func (l *logins) succeed(address netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.forget(now)
	l.addresses[address] = loginRecord{succeeded: now}
}

// forget makes room for an address: it forgets what is over, or else some.
func (l *logins) forget(now time.Time) {
	if len(l.addresses) < maxAddresses {
		return
	}
	for address, record := range l.addresses {
		if now.After(record.failed) && now.Sub(record.succeeded) > loginMemory {
			delete(l.addresses, address)
		}
	}
	for address, record := range l.addresses {
		if len(l.addresses) < maxAddresses {
			return
		}
		if record.succeeded.IsZero() {
			delete(l.addresses, address)
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
