package await

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/request"
	"ushuru/pkg/fetch"
	"ushuru/tasks"
)

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error.
func (k *Work) checkPause(parent context.Context, listing string) error {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	pause, err := fetch.PauseOf(ctx, k.options.Redis, listing)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	if paused := tasks.SitePaused(pause, tasks.OfferPage, nil); paused != nil {
		return ErrorProblem(tasks.JobError(paused))
	}
	return nil
}

// maxPauses bounds the sites in memory.
const maxPauses = 256

// pauses knows which sites pause, for many callers of one process: it reads the pause
// of a site at most once a second.
type pauses struct {
	redis redis.UniversalClient

	mu    sync.Mutex
	sites map[string]pause
}

// pause is until when a site pauses, as it was read at a time.
type pause struct{ read, until time.Time }

// of returns how long the site of a listing still pauses; 0 when it does not, or when
// Redis does not answer.
func (p *pauses) of(parent context.Context, listing string) time.Duration {
	parsed, err := url.Parse(listing)
	if listing == "" || err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.sites[parsed.Host]
	if time.Since(known.read) >= hindranceInterval {
		ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
		defer cancel()
		left, err := fetch.PauseOf(ctx, p.redis, listing)
		if err != nil {
			return 0
		}
		if p.sites == nil || len(p.sites) >= maxPauses {
			p.sites = map[string]pause{}
		}
		now := time.Now()
		known = pause{now, now.Add(left)}
		p.sites[parsed.Host] = known
	}
	return max(time.Until(known.until), 0)
}
