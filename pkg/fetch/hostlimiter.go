package fetch

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

const (
	// burst is how many interactive requests may exceed the rate. Bulk requests
	// may not exceed it, so that there is always room for a person.
	burst = 3

	// addressFactor is how many times the rate of a site is that of an address, which
	// several sites may share.
	addressFactor = 4

	limiterTimeout = 2 * time.Second // for one exchange with Redis

	// Pauses after a 429 or 503 without a Retry-After header.
	// BE FORWARD was seen to answer 429 for about three minutes.
	pauseTooMany     = time.Minute
	pauseUnavailable = 5 * time.Second
	// maxPause bounds the pause that a site can ask for.
	maxPause = time.Hour

	waitingWindow = 10 * time.Second
	maxJitter     = 5 * time.Minute
)

// hostLimiter limits the requests of all processes that share a Redis to each
// site: to a rate per second, and to none while a pause that the site asked for
// is in force. Without Redis it allows every request.
type hostLimiter struct {
	redis redis.UniversalClient
	rates *pace.Rates
	rate  int // pages a second of one site; 0: no limit
}

func newHostLimiter(client redis.UniversalClient, rate int) *hostLimiter {
	if client == nil {
		return &hostLimiter{}
	}
	return &hostLimiter{client, pace.NewRates(client), rate}
}

func keyPause(host string) string         { return "fetch:pause:{" + host + "}" }
func keyRate(host string) string          { return "rate:fetch:{" + host + "}" }
func keyRateOf(host, owner string) string { return keyRate(host) + ":" + owner }
func keyAddress(address string) string    { return "rate:fetch:{" + address + "}:address" }
func keyWaiting(host string) string       { return "fetch:waiting:{" + host + "}" }
func keyPages(host string) string         { return "fetch:pages:{" + host + "}" }

// Pace is how the pages of a host are requested now, by all processes that share a Redis.
type Pace struct {
	Pause     time.Duration // that the host has asked for, or an operator; 0 for none
	Delayed   bool          // requests of batches were delayed in the last seconds, to keep to the rate
	PerSecond float64       // pages lately; 0 when that is not known
}

// PacesOf returns the paces of hosts.
func PacesOf(ctx context.Context, client redis.UniversalClient, hosts ...string) (map[string]Pace, error) {
	type replies struct {
		left           *redis.DurationCmd
		delayed, pages *redis.IntCmd
		first          *redis.StringCmd
	}
	pipe := client.Pipeline()
	clock, of := pipe.Time(ctx), map[string]replies{}
	for _, host := range hosts {
		of[host] = replies{
			pipe.PTTL(ctx, keyPause(host)), pipe.Exists(ctx, keyWaiting(host)),
			pipe.LLen(ctx, keyPages(host)), pipe.LIndex(ctx, keyPages(host), -1),
		}
	}
	if err := redisx.Exec(ctx, pipe); err != nil {
		return nil, limiterUnavailable(err)
	}
	paces := map[string]Pace{}
	for host, r := range of {
		pace := Pace{Pause: max(r.left.Val(), 0), Delayed: r.delayed.Val() > 0}
		first, _ := r.first.Int64()
		if span := clock.Val().Sub(time.UnixMilli(first)); r.pages.Val() > 1 && span > 0 {
			pace.PerSecond = float64(r.pages.Val()-1) / span.Seconds()
		}
		paces[host] = pace
	}
	return paces, nil
}

const (
	// pagesKept is over how many pages of a host its pace is measured.
	pagesKept = 60
	// pagesTTL is after how long without a page the pace of a host is not known.
	pagesTTL = 2 * time.Minute
)

// scriptPage remembers when a page was requested. ARGV: how many are kept, TTL in ms.
var scriptPage = redis.NewScript(redisx.LuaClock + `
redis.call('LPUSH', KEYS[1], now)
redis.call('LTRIM', KEYS[1], 0, ARGV[1] - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// allow returns nil when a request to a site may be sent now, and counts it; else
// it returns a host_busy error with the time to wait.
func (l *hostLimiter) allow(parent context.Context, host string, bulk bool) error {
	if l.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, limiterTimeout)
	defer cancel()
	left, err := l.redis.PTTL(ctx, keyPause(host)).Result()
	switch {
	case err != nil:
		return limiterUnavailable(err)
	case left > 0:
		return &Error{
			Notice:    message.New("error/host_busy.pause", nil),
			Retryable: true, Wait: left, Paused: true,
		}
	case l.rate <= 0:
		return nil
	}
	wait, err := l.take(ctx, host, bulk)
	switch {
	case err != nil:
		return limiterUnavailable(err)
	case wait == 0:
		// Without its time the pace that callers are told is not exact; the rate holds all the same.
		_ = scriptPage.Run(ctx, l.redis, []string{keyPages(host)}, pagesKept, pagesTTL.Milliseconds()).Err()
		return nil
	}
	if bulk {
		jitter, err := l.jitter(ctx, host)
		if err != nil {
			return limiterUnavailable(err)
		}
		wait += jitter
	}
	return &Error{Notice: message.New("error/host_busy.many", nil), Retryable: true, Wait: wait}
}

// take counts a page of a site: against what one API key may use of the pace, and
// against the pace. It returns 0, or the time to wait.
func (l *hostLimiter) take(ctx context.Context, host string, bulk bool) (time.Duration, error) {
	rate := float64(l.rate)
	limits := []pace.Limit{{Key: keyRate(host), Rate: rate, Burst: burst}}
	owner := pace.Owner(ctx)
	switch {
	case bulk:
		limits[0].Burst = 1
	case owner != "":
		limits = append(limits, pace.Limit{Key: keyRateOf(host, owner), Rate: pace.Share(owner, rate), Burst: burst - 1})
	}
	allowance, err := l.rates.Take(ctx, limits...)
	return allowance.RetryAfter, err
}

// allowAddress counts a connection to an address, for sites that are not known: however many
// names one server has, no more of its pages are fetched. On this machine each port is an
// address.
func (l *hostLimiter) allowAddress(parent context.Context, to netip.AddrPort, bulk bool) error {
	ctx, cancel := context.WithTimeout(parent, limiterTimeout)
	defer cancel()
	address := to.Addr().Unmap().String()
	if to.Addr().IsLoopback() {
		address = to.String()
	}
	limit := pace.Limit{Key: keyAddress(address), Rate: float64(addressFactor * l.rate), Burst: addressFactor * burst}
	if bulk {
		limit.Burst = addressFactor
	}
	allowance, err := l.rates.Take(ctx, limit)
	switch {
	case err != nil:
		return limiterUnavailable(err)
	case allowance.Allowed:
		return nil
	}
	return &Error{Notice: message.New("error/host_busy.many", nil), Retryable: true, Wait: allowance.RetryAfter}
}

// jitter returns a random additional delay for a bulk request. It grows with the
// number of bulk requests that were delayed recently: a thousand requests that
// all returned after one second would load Redis without any gain.
func (l *hostLimiter) jitter(ctx context.Context, host string) (time.Duration, error) {
	pipe := l.redis.Pipeline()
	pipe.SetNX(ctx, keyWaiting(host), 0, waitingWindow)
	waiting := pipe.Incr(ctx, keyWaiting(host))
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, err
	}
	limit := min(time.Duration(waiting.Val())*time.Second/time.Duration(l.rate), maxJitter)
	return rand.N(limit + 1), nil //nolint:gosec // no secret
}

// scriptPause sets a pause, unless a longer one is in force.
var scriptPause = redis.NewScript(`
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
return 1
`)

// pause delays all requests to a site whose response asks for it: 429 and 503,
// with or without Retry-After.
func (l *hostLimiter) pause(parent context.Context, host string, page *Page) {
	if l.redis == nil {
		return
	}
	pause := page.Pause()
	if pause == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), limiterTimeout)
	defer cancel()
	// When Redis is away the pause is not recorded; the next call of allow then
	// returns that error.
	_ = scriptPause.Run(ctx, l.redis, []string{keyPause(host)}, pause.Milliseconds()).Err()
}

func limiterUnavailable(cause error) error {
	return &Error{Notice: message.New("error/fetch_failed.database", nil), Cause: cause, Retryable: true}
}

// byOperator is the value of a pause that an operator has set. A pause that a site asks for has
// another value and never shortens that of the operator.
const byOperator = "operator"

// Pause is a time in which no page of a host is requested.
type Pause struct {
	Host       string    `json:"host"`
	Until      time.Time `json:"until"`
	ByOperator bool      `json:"byOperator"` // else the site has asked for it
}

// Pauses returns the pauses of all hosts, by host. It reads the names of all keys.
func Pauses(ctx context.Context, client redis.UniversalClient) (pauses []Pause, err error) {
	prefix, suffix, _ := strings.Cut(keyPause("*"), "*")
	err = redisx.Scan(ctx, client, keyPause("*"), func(keys []string) error {
		for _, key := range keys {
			left, err := client.PTTL(ctx, key).Result()
			if err != nil {
				return limiterUnavailable(err)
			}
			by, err := client.Get(ctx, key).Result()
			if err != nil || left <= 0 {
				continue // it has just ended
			}
			pauses = append(pauses, Pause{
				Host:  strings.TrimSuffix(strings.TrimPrefix(key, prefix), suffix),
				Until: time.Now().Add(left).UTC().Truncate(time.Second), ByOperator: by == byOperator,
			})
		}
		return nil
	})
	slices.SortFunc(pauses, func(a, b Pause) int { return cmp.Compare(a.Host, b.Host) })
	return slices.CompactFunc(pauses, func(a, b Pause) bool { return a.Host == b.Host }), err
}

// PauseHosts has no process request pages of hosts for a time, instead of any pause that is
// in force.
func PauseHosts(ctx context.Context, client redis.UniversalClient, hosts []string, pause time.Duration) error {
	for _, host := range hosts {
		if err := client.Set(ctx, keyPause(host), byOperator, pause).Err(); err != nil {
			return fmt.Errorf("fetch: pause %s: %w", host, err)
		}
	}
	return nil
}

// ResumeHosts ends the pauses of hosts and returns how many there were.
func ResumeHosts(ctx context.Context, client redis.UniversalClient, hosts []string) (ended int, err error) {
	for _, host := range hosts {
		n, err := client.Del(ctx, keyPause(host)).Result()
		if err != nil {
			return ended, fmt.Errorf("fetch: resume %s: %w", host, err)
		}
		ended += int(n)
	}
	return ended, nil
}
