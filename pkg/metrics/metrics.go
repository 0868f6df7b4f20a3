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

//go:embed families.csv
var familiesFile string

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

// none is the label value of what there is not.
const none = "none"

// The results of a look-up in a cache.
const (
	Hit  = "hit"
	miss = "miss"
)

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
