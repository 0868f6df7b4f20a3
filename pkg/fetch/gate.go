package fetch

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

const (
	// A person's request may run ahead of the rate by this many; bulk may not,
	// so that there is always room for a person.
	burst = 3

	gatePatience = 2 * time.Second // for what Redis is asked

	// Pauses after an answer that turns us away without saying for how long.
	// BE FORWARD was seen to answer 429 for about three minutes.
	pauseTooMany     = time.Minute
	pauseUnavailable = 5 * time.Second
	// The longest pause that is kept, whatever the site asks for.
	mostPause = time.Hour

	crowdWindow = 10 * time.Second
	mostSpread  = 5 * time.Minute
)

// gate stands before every site and keeps all processes that share a Redis to
// its pace: no more than so many pages a second, and none while the site wants
// to be left alone. A gate without Redis is always open.
type gate struct {
	redis   redis.UniversalClient
	limiter *redis_rate.Limiter
	rate    int // pages a second of one site; 0: no limit
}

func newGate(client redis.UniversalClient, rate int) *gate {
	if client == nil {
		return &gate{}
	}
	return &gate{client, redis_rate.NewLimiter(client), rate}
}

func keyHold(host string) string  { return "fetch:hold:{" + host + "}" }
func keyPace(host string) string  { return "fetch:{" + host + "}" }
func keyCrowd(host string) string { return "fetch:crowd:{" + host + "}" }

// pass returns nil when a site may be asked now, and takes the place in its
// line; else a host_busy error that says when to come again.
func (g *gate) pass(parent context.Context, host string, bulk bool) error {
	if g.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, gatePatience)
	defer cancel()
	left, err := g.redis.PTTL(ctx, keyHold(host)).Result()
	switch {
	case err != nil:
		return gateAway(err)
	case left > 0:
		return busy("The site asked to be left alone for a while.", left)
	case g.rate <= 0:
		return nil
	}
	limit := redis_rate.Limit{Rate: g.rate, Period: time.Second, Burst: burst}
	if bulk {
		limit.Burst = 1
	}
	result, err := g.limiter.Allow(ctx, keyPace(host), limit)
	switch {
	case err != nil:
		return gateAway(err)
	case result.Allowed > 0:
		return nil
	}
	wait := max(result.RetryAfter, time.Millisecond)
	if bulk {
		spread, err := g.spread(ctx, host)
		if err != nil {
			return gateAway(err)
		}
		wait += spread
	}
	return busy("The site is being asked as often as is polite.", wait)
}

// spread is for how long one of a crowd should stay away: the more were turned
// away lately, the longer, at random. A thousand that all came again in a
// second would keep Redis busy and gain nothing.
func (g *gate) spread(ctx context.Context, host string) (time.Duration, error) {
	pipe := g.redis.Pipeline()
	pipe.SetNX(ctx, keyCrowd(host), 0, crowdWindow)
	crowd := pipe.Incr(ctx, keyCrowd(host))
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, err
	}
	most := min(time.Duration(crowd.Val())*time.Second/time.Duration(g.rate), mostSpread)
	return rand.N(most + 1), nil //nolint:gosec // no secret
}

// scriptHold keeps a pause, unless a longer one is in force.
var scriptHold = redis.NewScript(`
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
return 1
`)

// hold closes the gate of a site when its answer asks for a pause: 429 and 503
// with Retry-After, or without.
func (g *gate) hold(parent context.Context, host string, page *Page) {
	if g.redis == nil {
		return
	}
	pause := page.RetryAfter()
	switch {
	case page.Status != http.StatusTooManyRequests && page.Status != http.StatusServiceUnavailable:
		return
	case pause == 0 && page.Status == http.StatusTooManyRequests:
		pause = pauseTooMany
	case pause == 0:
		pause = pauseUnavailable
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), gatePatience)
	defer cancel()
	// Without Redis there is nobody to tell, and the next pass will say so.
	_ = scriptHold.Run(ctx, g.redis, []string{keyHold(host)}, min(pause, mostPause).Milliseconds()).Err()
}

func busy(message string, wait time.Duration) error {
	return &Error{Code: HostBusy, Message: message, Retryable: true, Wait: wait}
}

func gateAway(cause error) error {
	return &Error{
		Code: FetchFailed, Message: "Our own records cannot be read at the moment. Please try again later.",
		Cause: cause, Retryable: true,
	}
}
