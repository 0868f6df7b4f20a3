package await

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error.
func (k *Work) checkPause(ctx context.Context, listing string) error {
	host := hostOf(listing)
	paces, err := fetch.PacesOf(ctx, k.options.Redis, host)
	if err != nil {
		return err
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

// siteOf returns the site whose page an estimate fetches; "" when the caller sent the page, and for
// other kinds of jobs.
func siteOf(job *jobs.Job) string {
	var input tasks.EstimateInput
	if job.Kind != tasks.KindEstimate || json.Unmarshal(job.Input, &input) != nil || input.Page != "" {
		return ""
	}
	return hostOf(input.URL)
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
	failed time.Time // when Redis last did not answer
}

// sitePace is the pace of a site as it was read at a time.
type sitePace struct {
	fetch.Pace

	read time.Time
}

// maxSites bounds the sites in memory.
const maxSites = 256

// ask reads from Redis, for all callers that wait for the answer, also when the one that asks
// goes away. When Redis does not answer, it is not asked again for a second: else the callers
// would wait for it one after another.
func (h *holds) ask(parent context.Context, read func(context.Context) error) {
	if time.Since(h.failed) < lookInterval {
		return
	}
	if err := read(context.WithoutCancel(parent)); err != nil {
		h.failed = time.Now()
	}
}

// paces returns the paces of hosts, as far as they are known.
func (h *holds) paces(parent context.Context, hosts ...string) map[string]fetch.Pace {
	h.mu.Lock()
	defer h.mu.Unlock()
	paces, old := map[string]fetch.Pace{}, []string(nil)
	for _, host := range hosts {
		known := h.sites[host]
		age := time.Since(known.read)
		switch {
		case host == "":
		case age < lookInterval:
			known.Pause = max(known.Pause-age, 0)
			paces[host] = known.Pace
		default:
			old = append(old, host)
		}
	}
	if len(old) == 0 {
		return paces
	}
	h.ask(parent, func(ctx context.Context) error {
		found, err := fetch.PacesOf(ctx, h.redis, old...)
		now := time.Now()
		for host, pace := range found {
			if h.sites == nil || len(h.sites) >= maxSites {
				h.sites = map[string]sitePace{}
			}
			h.sites[host], paces[host] = sitePace{pace, now}, pace
		}
		return err
	})
	return paces
}

// isPaused reports whether an operator has paused a queue.
func (h *holds) isPaused(parent context.Context, queue string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.read) >= lookInterval {
		h.ask(parent, func(ctx context.Context) error {
			queues, err := tasks.PausedQueues(ctx, h.redis)
			if err == nil {
				h.queues, h.read = queues, time.Now()
			}
			return err
		})
	}
	return slices.Contains(h.queues, queue)
}

// ofPage returns what the page waits for that a step fetches; the zero value for nothing.
func (h *holds) ofPage(ctx context.Context, open openStep) waiting {
	site := siteOf(open.job)
	pace := h.paces(ctx, site)[site]
	if paused := tasks.SitePaused(pace.Pause, tasks.OfferPage, nil); paused != nil {
		return waiting{what: WaitingForSite, said: paused.Notice, paused: paused, pause: pace.Pause, isFelt: true}
	}
	if pace.Delayed && open.job.Class == jobs.Bulk && open.job.Steps[open.step].State == jobs.StepReady {
		return waiting{what: WaitingForSite, said: siteBusy(site, pace)}
	}
	return waiting{}
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
			return new(queuePaused(queue))
		}
	}
	return nil
}

// queuePaused says that an operator has paused a queue.
func queuePaused(queue string) message.Notice {
	return message.New("waiting/queue_paused", message.Values{"queue": queue})
}

// siteBusy says at which pace the pages are requested of a site for which others wait.
func siteBusy(host string, pace fetch.Pace) message.Notice {
	if pace.PerSecond == 0 {
		return message.New("waiting/site", message.Values{"site": host})
	}
	return message.New("waiting/site.pace", message.Values{"site": host, "pace": perSecond(pace)})
}

// siteRows says how many rows wait for the pages of a site, and at which pace those are requested.
func siteRows(host string, pace fetch.Pace, rows int) message.Notice {
	return message.New("waiting/site.rows", message.Values{
		"site": host, "pace": perSecond(pace), "rows": strconv.Itoa(rows),
	})
}

func perSecond(pace fetch.Pace) string {
	return strconv.FormatFloat(math.Round(100*pace.PerSecond)/100, 'f', -1, 64)
}

// Hindrances returns a word that changes when a job that fetches pages of these sites may have got
// or lost a hindrance.
func (k *Work) Hindrances(ctx context.Context, sites []string) string {
	var word strings.Builder
	word.WriteString(k.options.Outages.Now(ctx).Reason)
	for _, site := range sites {
		pace := k.holds.paces(ctx, site)[site]
		paused := tasks.SitePaused(pace.Pause, "", nil) != nil
		_, _ = fmt.Fprint(&word, " ", paused, pace.Delayed)
	}
	return word.String()
}
