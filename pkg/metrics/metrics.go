// Package metrics counts what a process does, for Prometheus, and by the hour in Redis for the
// status. Every outcome is counted at one place of the code, which calls a method of Metrics.
// The method counts for Prometheus and for the status, so that both show the same numbers. The families
// are the table of families.csv.
//
// The label values are bounded: what is not in Options is "other". A series exists from its
// first count on; those that an alert looks at, in a process that can count them, from the
// start with the value 0.
package metrics

import (
	"cmp"
	_ "embed" // the table of families
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"ushuru/pkg/datatable"
)

// Options say which label values there are. The zero value counts everything as other.
type Options struct {
	Steps  []string // of jobs, as "kind:step"
	Codes  []string // of errors
	Calls  []string // to the authority
	Kinds  []string // of errors of the authority
	AI     []string // outcomes of calls of the AI, besides ok
	Caches []string // that look-ups are made in
	Sites  []string // names of the known listing sites
	// SiteOf returns the name of the site that a host belongs to; "" for an unknown one.
	// Nil knows none.
	SiteOf   func(host string) string
	Channels []string // of Redis
	// MatchedBy and Confidence are the two properties of a match.
	MatchedBy, Confidence []string

	// Fetches and Asks say that the process reads pages, and calls the authority.
	Fetches, Asks bool

	Version, Commit string // of the program

	// Recorder counts in Redis what is counted here. Nil counts nothing.
	Recorder *Recorder
}

// Metrics are the families of one process. Its methods that count may be called at the same
// time, and on a nil Metrics, which counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	options  Options
	known    map[string]map[string]bool // values by their label; of a label that is not in it all are
	labels   map[string][]string        // of a family

	counters   map[string]*prometheus.CounterVec
	gauges     map[string]*prometheus.GaugeVec
	histograms map[string]*prometheus.HistogramVec
	streams    map[routeKey]bool // the known routes
}

const namespace = "ushuru"

// Outcome is how one run of a step ended.
type Outcome string

// The outcomes of a run of a step.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"    // the job has failed
	Retried   Outcome = "retried"   // it failed and is tried again
	Postponed Outcome = "postponed" // it could not begin: a pause, a limit, an outage; it is tried again
	Cancelled Outcome = "cancelled" // the job ended meanwhile
)

var outcomes = []Outcome{Completed, Failed, Retried, Postponed, Cancelled}

//go:embed families.csv
var familiesFile string

// none is the label value of what there is not.
const none = "none"

// The results of a look-up in a cache.
const (
	Hit  = "hit"
	miss = "miss"
)

// ofAPI begins the templates of the routes of the API itself, as in the alert for its errors.
const ofAPI = "/v1/"

const delivered = "delivered"

var webhookOutcomes = []string{delivered, "retried", "given_up", Gone}

// unavailable is the code of a step that had to wait because Redis was away.
const unavailable = "unavailable"

// Gone is the kind of a call whose caller has gone away, and of an event whose endpoint has.
const Gone = "gone"

var breakerStates = []string{"closed", "half-open", "open"}

// New returns Metrics with all their families in a registry of their own.
func New(o Options) *Metrics {
	if o.SiteOf == nil {
		o.SiteOf = func(string) string { return "" }
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), options: o, known: knownLabels(o), labels: map[string][]string{},
		counters: map[string]*prometheus.CounterVec{}, gauges: map[string]*prometheus.GaugeVec{},
		histograms: map[string]*prometheus.HistogramVec{}, streams: map[routeKey]bool{},
	}
	families := promauto.With(m.registry)
	for _, row := range datatable.Rows(familiesFile) {
		kind, name, labels, help := row[0], row[1], strings.Fields(row[2]), row[4]
		m.labels[name] = labels
		switch kind {
		case "counter":
			m.counters[name] = families.NewCounterVec(
				prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
			if len(labels) == 0 {
				m.counters[name].WithLabelValues()
			}
		case "gauge":
			m.gauges[name] = families.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
		case "histogram":
			m.histograms[name] = families.NewHistogramVec(prometheus.HistogramOpts{
				Namespace: namespace, Name: name, Help: help, Buckets: numbers(row[3]),
			}, labels)
			if len(labels) == 0 {
				m.histograms[name].WithLabelValues()
			}
		}
	}
	m.gauges["build_info"].WithLabelValues(cmp.Or(o.Version, "unknown"), cmp.Or(o.Commit, "unknown"), runtime.Version()).Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.beginSeries()
	return m
}

// Shared returns the families that every process reads from Redis at each scrape, by their names.
func Shared() map[string]*prometheus.Desc {
	shared := map[string]*prometheus.Desc{}
	for _, row := range datatable.Rows(familiesFile) {
		if row[0] == "shared" {
			shared[row[1]] = prometheus.NewDesc(namespace+"_"+row[1], row[4], strings.Fields(row[2]), nil)
		}
	}
	return shared
}

// numbers parses the bounds of a histogram. It panics when they are broken, which only a broken
// build has.
func numbers(text string) (all []float64) {
	for one := range strings.FieldsSeq(text) {
		number, err := strconv.ParseFloat(one, 64)
		if err != nil {
			panic("metrics: families.csv: " + err.Error())
		}
		all = append(all, number)
	}
	return all
}

// knownLabels returns the values of the labels that callers and strangers could choose.
func knownLabels(o Options) map[string]map[string]bool {
	known := map[string]map[string]bool{}
	add := func(label string, values ...string) {
		if known[label] == nil {
			known[label] = map[string]bool{}
		}
		for _, value := range values {
			known[label][value] = true
		}
	}
	add("class", "interactive", "bulk")
	add("state", "succeeded", "failed", "cancelled")
	add("reason", "wrong", "refused", "rate", "breaker")
	add("result", Hit, miss)
	add("matched_by", none)
	add("confidence", none)
	add("outcome", OK)
	add("outcome", webhookOutcomes...)
	add("outcome", o.AI...)
	for _, outcome := range outcomes {
		add("outcome", string(outcome))
	}
	for label, values := range map[string][]string{
		"matched_by": o.MatchedBy, "confidence": o.Confidence, "outcome": o.Kinds, "cache": o.Caches,
		"channel": o.Channels, "call": o.Calls, "code": o.Codes, "kind": nil, "step": nil,
	} {
		add(label, values...)
	}
	for _, step := range o.Steps {
		kind, name, _ := strings.Cut(step, ":")
		add("kind", kind)
		add("step", name)
	}
	return known
}

// beginSeries makes the series that an alert looks at with the value 0.
func (m *Metrics) beginSeries() {
	m.setBreaker(breakerStates[0])
	for _, outcome := range webhookOutcomes {
		m.counters["webhook_attempts_total"].WithLabelValues(outcome)
	}
	if m.options.Fetches {
		for _, site := range append([]string{Other}, m.options.Sites...) {
			m.counters["fetches_total"].WithLabelValues(site, OK)
			for _, code := range []string{"listing_blocked", "robots_forbidden"} {
				m.counters["fetches_total"].WithLabelValues(site, m.bound("code", code))
			}
		}
	}
	if m.options.Asks {
		for _, call := range append([]string{Other}, m.options.Calls...) {
			for _, outcome := range append([]string{OK}, m.options.Kinds...) {
				m.counters["authority_calls_total"].WithLabelValues(call, outcome)
			}
		}
	}
}

// BeginAI makes the series of questions to a model of the AI with the value 0.
func (m *Metrics) BeginAI(questions []string, endpoint, model string) {
	if m == nil {
		return
	}
	for _, question := range questions {
		for _, outcome := range append([]string{OK}, m.options.AI...) {
			m.counters["ai_calls_total"].WithLabelValues(question, endpoint, model, outcome)
		}
		m.counters["ai_questions_total"].WithLabelValues(question, "yes")
		m.counters["ai_questions_total"].WithLabelValues(question, "no")
	}
	for _, direction := range []string{"prompt", "completion"} {
		m.counters["ai_tokens_total"].WithLabelValues(endpoint, model, direction)
	}
	m.histograms["ai_call_duration_seconds"].WithLabelValues(endpoint, model)
}

// Count adds one to a counter. A label value that is not known counts as other.
func (m *Metrics) Count(name string, values ...string) { m.add(name, 1, values...) }

// Begin makes a series of a counter with the value 0, for an alert that looks at its increase.
func (m *Metrics) Begin(name string, values ...string) { m.add(name, 0, values...) }

func (m *Metrics) add(name string, n float64, values ...string) {
	if m == nil {
		return
	}
	m.counters[name].WithLabelValues(m.bounded(name, values)...).Add(n)
}

// observe adds a duration to a histogram. Label values are bounded as those of Count.
func (m *Metrics) observe(name string, took time.Duration, values ...string) {
	m.histograms[name].WithLabelValues(m.bounded(name, values)...).Observe(max(took, 0).Seconds())
}

// bounded returns the values of the labels of a family, each of them known or Other.
func (m *Metrics) bounded(name string, values []string) []string {
	bounded := make([]string, len(values))
	for i, label := range m.labels[name] {
		bounded[i] = m.bound(label, values[i])
	}
	return bounded
}

// bound returns a value of a label if it is known, or empty, and else Other.
func (m *Metrics) bound(label, value string) string {
	if known := m.known[label]; value == "" || known == nil || known[value] {
		return value
	}
	return Other
}

// Match counts a car that was matched; with two empty words one that was not.
func (m *Metrics) Match(by, confidence string) {
	m.Count("matches_total", cmp.Or(by, none), cmp.Or(confidence, none))
}

// Lookup counts a look-up in a cache.
func (m *Metrics) Lookup(cache string, hit bool) {
	result := miss
	if hit {
		result = Hit
	}
	m.Count("cache_lookups_total", cache, result)
}

// Recorder returns what counts in Redis; nil counts nothing.
func (m *Metrics) Recorder() *Recorder {
	if m == nil {
		return nil
	}
	return m.options.Recorder
}

// Registry is where other packages register families of their own.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// GaugeFunc adds a gauge without labels whose value is asked for at each scrape; the
// function must return at once. A second one of the same name is ignored.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) {
	if m == nil {
		return
	}
	_ = m.registry.Register(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value))
}

type routeKey struct{ template, method string }

// AddRoute makes a route known; stream means that its responses last as long as the caller
// listens. Routes are added before the first request is counted.
func (m *Metrics) AddRoute(template, method string, stream bool) {
	if m == nil {
		return
	}
	m.streams[routeKey{template, method}] = stream
	if strings.HasPrefix(template, ofAPI) {
		m.counters["http_requests_total"].WithLabelValues(template, method, "2xx")
		m.counters["http_requests_total"].WithLabelValues(template, method, "5xx")
	}
}

// Request counts a request that was answered. A route or method that was not added is
// other. HEAD counts as GET.
func (m *Metrics) Request(template, method string, status int, code string, took time.Duration) {
	if m == nil {
		return
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	stream, known := m.streams[routeKey{template, method}]
	if !known {
		template, method = Other, Other
	}
	class := min(max(status/100, 2), 5) //nolint:mnd // the classes of a status
	m.counters["http_requests_total"].WithLabelValues(template, method, strconv.Itoa(class)+"xx").Inc()
	if !stream {
		m.observe("http_request_duration_seconds", took, template, method)
	}
	code = m.bound("code", code)
	if code != "" {
		m.Count("http_errors_total", code)
	}
	if strings.HasPrefix(template, ofAPI) {
		answer := Call{To: API, Name: answers, Took: took}
		if class == 5 { //nolint:mnd // an error of ours
			answer.Kind = cmp.Or(code, Other)
		}
		m.options.Recorder.call(answer)
	}
}

// Step is one run of a step of a job.
type Step struct {
	Job, Kind, Step string
	Host            string // of the page that the job is about; "" for none, and for one that the caller sent
	Fetches         bool   // the step fetches that page
	Outcome         Outcome
	Code            string        // of the error; "" without one
	Took            time.Duration // 0 when that is not known
}

// JobEnd is the end of a job.
type JobEnd struct {
	Kind, Class, State string
	Code               string // of the error; "" without one
	Took               time.Duration
}

// Step counts one run of a step. It is the only place that does.
func (m *Metrics) Step(s Step) {
	if m == nil {
		return
	}
	s.Code = m.bound("code", s.Code)
	m.Count("steps_total", s.Kind, s.Step, string(s.Outcome), s.Code)
	if s.Took > 0 {
		m.observe("step_duration_seconds", s.Took, s.Kind, s.Step)
	}
	outcome := s.Code
	if s.Outcome == Completed {
		outcome = OK
	}
	if s.Fetches && s.Host != "" && outcome != "" {
		site := cmp.Or(m.options.SiteOf(strings.ToLower(s.Host)), Other)
		m.counters["fetches_total"].WithLabelValues(site, outcome).Inc()
		m.observe("fetch_duration_seconds", s.Took, site)
	}
	m.options.Recorder.step(s)
}

// JobEnded counts the end of a job.
func (m *Metrics) JobEnded(e JobEnd) {
	if m == nil {
		return
	}
	m.Count("jobs_total", e.Kind, e.Class, e.State, e.Code)
	m.observe("job_duration_seconds", e.Took, e.Kind, e.Class)
}

// Swept counts a sweep and the jobs that it has set going again.
func (m *Metrics) Swept(class string, recovered int, err error) {
	outcome := OK
	if err != nil {
		outcome = string(Failed)
	}
	m.Count("sweeps_total", class, outcome)
	m.add("swept_jobs_total", float64(recovered), class)
}

// WebhookAttempt counts one attempt to deliver an event to an endpoint.
func (m *Metrics) WebhookAttempt(endpoint, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.options.Recorder.call(Call{To: Webhook, Name: endpoint, Kind: strings.TrimPrefix(outcome, delivered), Took: took})
	m.Count("webhook_attempts_total", outcome)
	m.observe("webhook_attempt_duration_seconds", took)
}

// Call is one call to the authority, the AI or a receiver of events.
type Call struct {
	To   string
	Name string // of the call, or of the model
	Kind string // of the error; "" without one
	Took time.Duration

	// Of the AI: the question and the host that is asked, the tokens, and whether another model had
	// failed.
	Question, Endpoint string
	Prompt, Completion int
	Failover           bool
}

// Call counts one call to the authority or the AI. It is the only place that does.
func (m *Metrics) Call(c Call) {
	if m == nil {
		return
	}
	switch c.To {
	case Authority:
		m.Count("authority_calls_total", c.Name, cmp.Or(c.Kind, OK))
		m.observe("authority_call_duration_seconds", c.Took, c.Name)
	case AI:
		m.Count("ai_calls_total", c.Question, c.Endpoint, c.Name, cmp.Or(c.Kind, OK))
		m.add("ai_tokens_total", float64(c.Prompt), c.Endpoint, c.Name, "prompt")
		m.add("ai_tokens_total", float64(c.Completion), c.Endpoint, c.Name, "completion")
		m.observe("ai_call_duration_seconds", c.Took, c.Endpoint, c.Name)
	}
	m.options.Recorder.call(c)
}

// Breaker says in which state the breaker of this process is now.
func (m *Metrics) Breaker(state string) {
	if m == nil {
		return
	}
	if state == "open" {
		m.Count("authority_breaker_opened_total")
	}
	m.setBreaker(state)
}

func (m *Metrics) setBreaker(state string) {
	for _, other := range breakerStates {
		value := 0.0
		if other == state {
			value = 1
		}
		m.gauges["authority_breaker"].WithLabelValues(other).Set(value)
	}
}
