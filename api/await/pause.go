package await

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/respond"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/tasks"
)

// CheckPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error. A page that the caller sent needs no site.
func (k *Work) CheckPause(parent context.Context, input tasks.EstimateInput) error {
	if input.Page != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	pause, err := fetch.PauseOf(ctx, k.options.Redis, listing.FetchURL(input.URL))
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
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
func (p *pauses) of(parent context.Context, canonical string) time.Duration {
	if canonical == "" {
		return 0
	}
	fetched := listing.FetchURL(canonical)
	parsed, err := url.Parse(fetched)
	if err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.sites[parsed.Host]
	if time.Since(known.read) >= hindranceInterval {
		ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
		defer cancel()
		left, err := fetch.PauseOf(ctx, p.redis, fetched)
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
