// Package stat counts what an operator wants to know: how the steps of jobs end by site,
// step and code, how long they take, the calls to the authority and the AI, when a site
// was last read, and how much each API key asks.
//
// A Recorder counts in memory and writes once a second, that of a worker together with
// its heartbeat. A step costs no command of its own, and no worker far away from Redis
// waits for one. A process that is killed loses what it
// counted in the last second. While Redis is away the counts are kept; they are written
// twice only when Redis has written them and its reply is lost.
package stat

import (
	"cmp"
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

// Whom a Call asks.
const (
	Authority = "tra"
	AI        = "ai"
	Webhook   = "webhook" // a receiver of events; the name of the call is the id of the endpoint
	API       = "api"     // a caller asks: an answer of the API, and the code of its error when that is ours (5xx)
)

// Answers is the name of what is counted of the API.
const Answers = "answers"

// IsSite reports whether what is counted there is a site, or none, and not one of whom a
// Call asks.
func IsSite(name string) bool {
	return name != Authority && name != AI && name != Webhook && name != API
}

// Step is one end of a step of a job, or an attempt that is tried again.
type Step struct {
	Site    string        // host of the page; "" for none
	Type    string        // of the task: estimate:scrape
	Code    string        // OK, or the code of the error
	Retried bool          // the step goes on
	Took    time.Duration // 0 when that is not known
	Job     string        // its id, the example of the code
}

// Call is one call to the authority, to the AI or to a receiver of events.
type Call struct {
	To     string // Authority, AI or Webhook
	Name   string // of the call, or of the model
	Code   string // OK, or the kind of the error; of an attempt to deliver: retried, given_up or gone
	Took   time.Duration
	Tokens int     // of the AI
	Cost   float64 // of the AI, in US dollars

	Failover bool // of the AI: another model had failed
}

// Options of a Recorder. Redis is required.
type Options struct {
	Redis redis.UniversalClient
	// SiteOf returns the name under which a host is counted; "" for Other. Nil knows no
	// host.
	SiteOf func(host string) string
	// OnStep and OnCall, if not nil, are called with everything that is counted, a step
	// with the name of its site.
	OnStep func(Step)
	OnCall func(Call)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Recorder counts. Its methods may be called at the same time, and on a nil Recorder,
// which counts nothing.
type Recorder struct {
	options Options

	mu      sync.Mutex
	counts  map[entry]int64     // that are not written yet
	texts   map[entry]string    // likewise
	failed  map[string][]string // likewise: jobs that failed, by their list
	written map[string]int64    // by API key: the minute of its last use that was recorded

	receiversOf string          // the hour of receivers
	receivers   map[string]bool // endpoints that are counted in this hour
}

// entry is a field of a hash in Redis.
type entry struct{ key, field string }

// NewRecorder makes a Recorder.
func NewRecorder(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{
		options: o, counts: map[entry]int64{}, texts: map[entry]string{}, failed: map[string][]string{},
		written: map[string]int64{},
	}
}

// Step counts the end of a step.
func (r *Recorder) Step(s Step) {
	if r == nil {
		return
	}
	s.Site = r.siteOf(s.Site)
	now := r.options.Now()
	hour := keyHour(now)
	r.mu.Lock()
	switch {
	case s.Retried:
		r.add(hour, field(s.Site, s.Type, retried+s.Code), 1)
	case s.Code == OK:
		r.add(hour, field(s.Site, s.Type, OK), 1)
		if s.Took > 0 {
			r.add(hour, field(s.Site, s.Type, bucketOf(s.Took)), 1)
		}
		if strings.HasSuffix(s.Type, scrapeSuffix) && s.Site != NoSite {
			r.set(keyLast, s.Site, strconv.FormatInt(now.Unix(), 10))
		}
	default:
		r.add(hour, field(s.Site, s.Type, s.Code), 1)
		r.set(keyExample, ExampleName(s.Type, s.Code), s.Job)
		r.addFailed(keyFailed(s.Type, s.Code), s.Job)
	}
	r.mu.Unlock()
	if r.options.OnStep != nil {
		r.options.OnStep(s)
	}
}

// scrapeSuffix ends the types of the tasks that read the page of a site.
const scrapeSuffix = ":scrape"

// Call counts a call to the authority or the AI.
func (r *Recorder) Call(c Call) {
	if r == nil {
		return
	}
	hour := keyHour(r.options.Now())
	r.mu.Lock()
	if c.To == Webhook {
		c.Name = r.receiver(hour, c.Name)
	}
	r.add(hour, field(c.To, c.Name, cmp.Or(c.Code, OK)), 1)
	if c.Code == OK {
		r.add(hour, field(c.To, c.Name, bucketOf(c.Took)), 1)
	}
	if c.Tokens > 0 {
		r.add(hour, field(c.To, c.Name, tokens), int64(c.Tokens))
	}
	if c.Cost > 0 {
		r.add(hour, field(c.To, c.Name, microDollars), int64(c.Cost*1e6))
	}
	if c.Failover {
		r.add(hour, field(c.To, c.Name, failover), 1)
	}
	r.mu.Unlock()
	if r.options.OnCall != nil {
		r.options.OnCall(c)
	}
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
	if r.options.SiteOf == nil {
		return Other
	}
	return cmp.Or(r.options.SiteOf(host), Other)
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
func (r *Recorder) addFailed(key, job string) {
	if job != "" {
		r.failed[key] = append(r.failed[key], job)
		r.failed[key] = r.failed[key][max(0, len(r.failed[key])-MaxFailed):]
	}
}

// set sets a field. The caller holds the lock.
func (r *Recorder) set(key, field, value string) {
	e := entry{key, field}
	if _, known := r.texts[e]; known || len(r.texts) < maxFields {
		r.texts[e] = value
	}
}
