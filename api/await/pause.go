package await

import (
	"context"
	"maps"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/request"
	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error.
func (k *Work) checkPause(parent context.Context, listing string) error {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	host := hostOf(listing)
	paces, err := fetch.PacesOf(ctx, k.options.Redis, host)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	if paused := tasks.SitePaused(paces[host].Pause, tasks.OfferPage, nil); paused != nil {
		return ErrorProblem(tasks.JobError(paused))
	}
	return nil
}

// hostOf returns the host of a listing; "" when there is none.
func hostOf(listing string) string {
	parsed, err := url.Parse(listing)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// holds knows what holds work up, for many callers of one process: which sites pause or are
// busy, and which queues an operator has paused. It reads each at most once a second, and what
// Redis does not answer holds nothing up.
type holds struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	sites  map[string]sitePace
	queues []string
	read   time.Time // the queues
}

// sitePace is the pace of a site as it was read at a time.
type sitePace struct {
	fetch.Pace

	read time.Time
}

// maxSites bounds the sites in memory.
const maxSites = 256

// paces returns the paces of hosts.
func (h *holds) paces(parent context.Context, hosts ...string) map[string]fetch.Pace {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	old := slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		return host == "" || now.Sub(h.sites[host].read) < hindranceInterval
	})
	if len(old) > 0 {
		ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
		defer cancel()
		found, err := fetch.PacesOf(ctx, h.redis, old...)
		if err != nil {
			return nil
		}
		if len(h.sites)+len(found) > maxSites {
			h.sites = nil
		}
		if h.sites == nil {
			h.sites = map[string]sitePace{}
		}
		for host, pace := range found {
			h.sites[host] = sitePace{pace, now}
		}
	}
	paces := map[string]fetch.Pace{}
	for _, host := range hosts {
		known := h.sites[host]
		known.Pause = max(known.Pause-now.Sub(known.read), 0)
		paces[host] = known.Pace
	}
	return paces
}

// isPaused reports whether an operator has paused a queue.
func (h *holds) isPaused(parent context.Context, queue string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.read) >= hindranceInterval {
		ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
		defer cancel()
		if queues, err := tasks.PausedQueues(ctx, h.redis); err == nil {
			h.queues, h.read = queues, now
		}
	}
	return slices.Contains(h.queues, queue)
}

// SlowSite is the site that decides when the rows of a batch have ended; the zero value is none.
type SlowSite struct {
	Seconds int            // until then
	Said    message.Notice // its pace, or until when it pauses
}

// SlowestSite returns of sites that pause or are busy the one whose rows end last, by the number
// of rows that wait for each.
func (k *Work) SlowestSite(ctx context.Context, rows map[string]int) (slowest SlowSite) {
	for host, pace := range k.holds.paces(ctx, slices.Collect(maps.Keys(rows))...) {
		paused := tasks.SitePaused(pace.Pause, "rows", nil)
		if rows[host] == 0 || paused == nil && (!pace.Delayed || pace.PerSecond == 0) {
			continue
		}
		left := pace.Pause
		if pace.PerSecond > 0 {
			left += time.Duration(float64(rows[host]) / pace.PerSecond * float64(time.Second))
		}
		if seconds := int(math.Ceil(left.Seconds())); seconds > slowest.Seconds {
			slowest = SlowSite{seconds, siteRows(host, pace, rows[host])}
			if paused != nil {
				slowest.Said = paused.Notice
			}
		}
	}
	return slowest
}

// PausedForRows says that an operator has paused the queue of the rows of batches; nil when
// none has.
func (k *Work) PausedForRows(ctx context.Context) *message.Notice {
	for _, role := range tasks.Roles {
		if queue := tasks.QueueOf(role) + tasks.BulkSuffix; role != tasks.RoleAI && k.holds.isPaused(ctx, queue) {
			held := queuePaused(queue)
			return &held.said
		}
	}
	return nil
}
