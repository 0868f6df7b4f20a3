package metrics

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// OK is the code of a step or call without an error.
const OK = "ok"

// Other is the site of a host that is not known, NoSite that of a step without a page.
const (
	Other  = "other"
	NoSite = "-"
)

// Whom a Call is to.
const (
	Authority = "tra"
	AI        = "ai"
	Webhook   = "webhook" // a receiver of events; the name of the call is the id of the endpoint
	API       = "api"     // a caller asks: an answer of the API, and the code of its error when that is ours (5xx)
)

// answers is the name of what is counted of the API.
const answers = "answers"

// IsSite reports whether a name of the counts is that of a site, and not that of another service
// which a Call counts.
func IsSite(name string) bool {
	return name != Authority && name != AI && name != Webhook && name != API
}

// RecorderOptions are those of a Recorder. Redis is required.
type RecorderOptions struct {
	Redis redis.UniversalClient
	// HostOf returns the name under which a host is counted; "" for Other. Nil knows no
	// host.
	HostOf func(host string) string
	Now    func() time.Time // default time.Now
}

// Recorder counts in Redis what an operator wants to know of the last days: how the steps of
// jobs end by site, step and code, how long they take, the calls to the authority, the AI and
// receivers, when a site was last read, how much each API key asks, and what visitors of the pages
// ask for.
//
// It counts in memory and writes once a second; a worker writes together with its heartbeat. A
// step costs no command of its own. A process that is killed loses what it counted in the last
// second. While Redis is away the counts are kept; they are written twice only when Redis has
// written them and its reply is lost. Its methods may be called at the same time, and on a nil
// Recorder, which counts nothing.
type Recorder struct {
	options RecorderOptions

	mu      sync.Mutex
	counts  map[entry]int64  // that are not written yet
	texts   map[entry]string // likewise
	failed  map[entry]bool   // likewise: jobs that failed, as fields of their lists
	written map[string]int64 // by API key: the minute of its last use that was recorded

	receiversOf string          // the hour of receivers
	receivers   map[string]bool // endpoints that are counted in this hour

	visitors visitors // visitors of the pages in this hour
}

// entry is a field of a hash in Redis.
type entry struct{ key, field string }

// NewRecorder makes a Recorder.
func NewRecorder(o RecorderOptions) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{
		options: o, counts: map[entry]int64{}, texts: map[entry]string{}, failed: map[entry]bool{},
		written: map[string]int64{},
	}
}

// step counts a run of a step. Runs that were cancelled, that waited for the pace of a site, or that
// found nothing to do yet are not counted.
func (r *Recorder) step(s Step) {
	if r == nil || s.Outcome == Cancelled ||
		s.Outcome == Postponed && (s.Code == "" || s.Code == hostBusy || s.Code == unavailable) {
		return
	}
	site, step := r.siteOf(s.Host), s.Kind+":"+s.Step
	now := r.options.Now()
	hour := keyHour(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch s.Outcome {
	case Cancelled:
	case Retried, Postponed:
		r.add(hour, field(site, step, retried+s.Code), 1)
	case Completed:
		r.add(hour, field(site, step, OK), 1)
		if s.Took > 0 {
			r.add(hour, field(site, step, bucketOf(s.Took)), 1)
		}
		if s.Step == scrape && site != NoSite {
			r.set(keyLast, site, strconv.FormatInt(now.Unix(), 10))
		}
	case Failed:
		r.add(hour, field(site, step, s.Code), 1)
		r.set(keyExample, ExampleName(step, s.Code), s.Job)
		r.addFailed(entry{keyFailed(step, s.Code), s.Job})
	}
}

// scrape is the step that reads the page of a site, and hostBusy the code of one that waits for
// the pace of its site.
const (
	scrape   = "scrape"
	hostBusy = "host_busy"
)

// call counts a call, unless its caller went away.
func (r *Recorder) call(c Call) {
	if r == nil || c.Kind == Gone && c.To != Webhook {
		return
	}
	hour := keyHour(r.options.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.To == Webhook {
		c.Name = r.receiver(hour, c.Name)
	}
	r.add(hour, field(c.To, c.Name, cmp.Or(c.Kind, OK)), 1)
	if c.To == AI {
		r.addInRow(c.Name, c.Kind != "")
	}
	if c.Kind == "" {
		r.add(hour, field(c.To, c.Name, bucketOf(c.Took)), 1)
	}
	if c.Prompt+c.Completion > 0 {
		r.add(hour, field(c.To, c.Name, Tokens), int64(c.Prompt+c.Completion))
	}
	if c.Failover {
		r.add(hour, field(c.To, c.Name, Failover), 1)
	}
}

// addInRow counts a call of a model among those that have failed in a row, in all processes. The
// caller holds the lock.
func (r *Recorder) addInRow(model string, failed bool) {
	e := entry{keyInRow, model}
	if !failed {
		delete(r.counts, e)
		r.set(keyInRow, model, "0")
		return
	}
	if since, answered := r.texts[e]; answered { // in the second that is not written yet
		n, _ := strconv.Atoi(since)
		r.texts[e] = strconv.Itoa(n + 1)
		return
	}
	r.add(keyInRow, model, 1)
}

// maxReceivers bounds the endpoints that a process counts in an hour, as API keys can make and
// delete them all the time; the rest are Other.
const maxReceivers = 1000

// receiver returns the name under which an endpoint is counted. The caller holds the lock.
func (r *Recorder) receiver(hour, id string) string {
	if r.receiversOf != hour {
		r.receiversOf, r.receivers = hour, map[string]bool{}
	}
	if !r.receivers[id] && len(r.receivers) >= maxReceivers {
		return Other
	}
	r.receivers[id] = true
	return id
}

// Key counts a request of an API key, by the id of the key.
func (r *Recorder) Key(id string) {
	if r == nil || id == "" {
		return
	}
	now := r.options.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(keyDay(now), id, 1)
	if minute := now.Unix() / 60; r.written[id] != minute {
		r.set(keyUsed, id, strconv.FormatInt(now.Unix(), 10))
		r.written[id] = minute
	}
}

// siteOf returns the name under which a host is counted.
func (r *Recorder) siteOf(host string) string {
	if host == "" {
		return NoSite
	}
	if r.options.HostOf == nil {
		return Other
	}
	return cmp.Or(r.options.HostOf(host), Other)
}

// maxFields bounds the memory while Redis is away. Sites, steps and codes are a few
// hundred; only the ids of API keys can be more.
const maxFields = 20_000

// add counts n of a field. The caller holds the lock.
func (r *Recorder) add(key, field string, n int64) {
	e := entry{key, field}
	if _, known := r.counts[e]; known || len(r.counts) < maxFields {
		r.counts[e] += n
	}
}

// addFailed adds a job to a list of those that failed. The caller holds the lock.
func (r *Recorder) addFailed(e entry) {
	if e.field == "" {
		return
	}
	for old := range r.failed {
		if len(r.failed) < maxFailed {
			break
		}
		delete(r.failed, old)
	}
	r.failed[e] = true
}

// set sets a field. The caller holds the lock.
func (r *Recorder) set(key, field, value string) {
	e := entry{key, field}
	if _, known := r.texts[e]; known || len(r.texts) < maxFields {
		r.texts[e] = value
	}
}

const (
	// interval is how often Run writes.
	interval = time.Second
	// writeTimeout bounds a write.
	writeTimeout = 3 * time.Second
	// kept is how long the counts of an hour or of a day are stored, and how long marks of sites and
	// codes are stored after the last one was written.
	kept = 8 * 24 * time.Hour
	// keptFailed is how long jobs that failed are listed, as long as their records are
	// stored.
	keptFailed = 24 * time.Hour
	// keptAsked is how long it is stored what visitors asked for: strangers name the sites.
	keptAsked = 25 * time.Hour
)

func keptFor(key string) time.Duration {
	if strings.HasSuffix(key, suffixAsked) {
		return keptAsked
	}
	return kept
}

// AddTo adds what was counted since the last call to a pipeline. settled must be called
// when the pipeline was executed: what Redis has not taken is then counted again.
func (r *Recorder) AddTo(ctx context.Context, pipe redis.Pipeliner) (settled func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	counts, texts, failed := r.counts, r.texts, r.failed
	r.counts, r.texts, r.failed = map[entry]int64{}, map[entry]string{}, map[entry]bool{}
	r.mu.Unlock()
	if len(counts)+len(texts)+len(failed) == 0 {
		return func() {}
	}
	sent := make(map[entry]redis.Cmder, len(counts)+len(texts)+len(failed))
	lives := map[string]bool{}
	lists := map[string]bool{}
	for e := range failed {
		sent[e] = pipe.ZAdd(ctx, e.key, redis.Z{Member: e.field})
		lists[e.key] = true
	}
	for key := range lists {
		pipe.ZRemRangeByRank(ctx, key, 0, -1-maxFailed) // the newest stay
		pipe.Expire(ctx, key, keptFailed)
	}
	for e, value := range texts {
		sent[e] = pipe.HSet(ctx, e.key, e.field, value)
		lives[e.key] = e.key != keyUsed // a key that is not used for a long time was last used then
	}
	// The counts come last: a reader of the counts who then reads the texts finds the example of each count.
	for e, n := range counts {
		sent[e] = pipe.HIncrBy(ctx, e.key, e.field, n)
		lives[e.key] = true
	}
	for key, expires := range lives {
		if expires {
			pipe.Expire(ctx, key, keptFor(key))
		}
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for e, command := range sent {
			if command.Err() == nil {
				continue
			}
			if n, isCount := counts[e]; isCount {
				r.add(e.key, e.field, n)
			} else if failed[e] {
				r.failed[e] = true
			} else if _, newer := r.texts[e]; !newer {
				r.set(e.key, e.field, texts[e])
			}
		}
	}
}

// Run writes what is counted every second until ctx ends, and then once more.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.Write(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
			r.Write(ctx)
		}
	}
}

// Write writes what was counted. What Redis does not take is kept for the next call.
func (r *Recorder) Write(ctx context.Context) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	pipe := r.options.Redis.Pipeline()
	settled := r.AddTo(ctx, pipe)
	defer settled()
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // settled looks at each command
	}
}
