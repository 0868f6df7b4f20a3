// Package metrics counts what a process does, for Prometheus, and by the hour in Redis for the
// status. Every outcome is counted at one place of the code, which calls a method of Metrics;
// that counts it for both, so that what the console shows is what Prometheus sees.
//
// The label values are bounded: what is not in Options is "other". A series exists from its
// first count on; those that an alert looks at, in a process that can count them, from the
// start with the value 0.
package metrics

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Options say which label values there are. The zero value counts everything as other.
type Options struct {
	Steps  []string // of jobs, as "kind:step"
	Codes  []string // of errors
	Calls  []string // to the authority
	Kinds  []string // of errors of the authority
	Caches []string // see Lookup
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
	codes    map[string]bool
	steps    map[string]bool

	http      httpFamilies
	work      workFamilies
	authority authorityFamilies
	pages     pageFamilies
	lookups   *prometheus.CounterVec
	matches   *prometheus.CounterVec
	refused   *prometheus.CounterVec
}

// New returns Metrics with all their families in a registry of their own.
func New(o Options) *Metrics {
	if o.SiteOf == nil {
		o.SiteOf = func(string) string { return "" }
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), options: o, codes: setOf(o.Codes), steps: setOf(o.Steps),
	}
	m.addHTTP()
	m.addWork()
	m.addAuthority()
	m.addPages()
	m.lookups = m.counters("cache_lookups_total", "Look-ups of cached results, of lists and taxes of TRA, by whether "+
		"there was a valid one: hit or miss.", "cache", "result")
	m.matches = m.counters("matches_total", "Cars that were matched with an entry of TRA's list, by what decided and how "+
		"sure that is; none for cars that were not matched.", "matched_by", "confidence")
	m.refused = m.counters("redis_messages_refused_total", "Messages on a channel of Redis that could not be taken: too long, "+
		"not of the form that the channel has, or unknown.", "channel")
	m.addProcess()
	return m
}

// none is the label value of what there is not.
const none = "none"

// Recorder returns what counts in Redis; nil counts nothing.
func (m *Metrics) Recorder() *Recorder {
	if m == nil {
		return nil
	}
	return m.options.Recorder
}

// Registry is where other packages register families of their own.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// addProcess adds the figures of the process itself.
func (m *Metrics) addProcess() {
	build := m.gauges("build_info", "1, with the version of the program.", "version", "commit", "go_version")
	build.WithLabelValues(cmp.Or(m.options.Version, "unknown"), cmp.Or(m.options.Commit, "unknown"), runtime.Version()).Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// Lookup counts a look-up in a cache.
func (m *Metrics) Lookup(cache string, hit bool) {
	if m == nil {
		return
	}
	result := "miss"
	if hit {
		result = "hit"
	}
	m.lookups.WithLabelValues(m.oneOf(m.options.Caches, cache), result).Inc()
}

// Refused counts a message on a channel of Redis that could not be taken.
func (m *Metrics) Refused(channel string) {
	if m == nil {
		return
	}
	m.refused.WithLabelValues(m.oneOf(m.options.Channels, channel)).Inc()
}

// Match counts a car that was matched; with two empty words one that was not.
func (m *Metrics) Match(by, confidence string) {
	if m == nil {
		return
	}
	if by == "" {
		m.matches.WithLabelValues(none, none).Inc()
		return
	}
	m.matches.WithLabelValues(m.oneOf(m.options.MatchedBy, by), m.oneOf(m.options.Confidence, confidence)).Inc()
}

// oneOf returns a value that is known, else Other.
func (*Metrics) oneOf(known []string, value string) string {
	if slices.Contains(known, value) {
		return value
	}
	return Other
}

// code returns the code of an error as a label value: "" for no error, and a code that
// is not known is Other.
func (m *Metrics) code(code string) string {
	if code == "" || m.codes[code] {
		return code
	}
	return Other
}

// site returns the label value of a host.
func (m *Metrics) site(host string) string {
	return cmp.Or(m.options.SiteOf(strings.ToLower(host)), Other)
}

func setOf(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

const namespace = "ushuru"

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	family := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(family)
	return family
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	family := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(family)
	return family
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	family := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: name, Help: help, Buckets: buckets,
	}, labels)
	m.registry.MustRegister(family)
	return family
}

// GaugeFunc adds a gauge without labels whose value is asked for at each scrape; the
// function must return at once. A second one of the same name is ignored.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) {
	if m == nil {
		return
	}
	_ = m.registry.Register(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value))
}

// The bounds of the histograms in seconds. Those of steps include the ones that the
// console shows.
var (
	requestBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
	stepBuckets    = []float64{0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 120}
	jobBuckets     = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43200}
	callBuckets    = []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 60}
)

func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
