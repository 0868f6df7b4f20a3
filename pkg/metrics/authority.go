package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Gone is the kind of a call whose caller has gone away.
const Gone = "gone"

// Call is one call to the authority, the AI or a receiver of events.
type Call struct {
	To       string
	Name     string // of the call, or of the model
	Kind     string // of the error; "" without one
	Took     time.Duration
	Tokens   int  // of the AI
	Failover bool // of the AI: another model had failed
}

type authorityFamilies struct {
	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec
	throttled *prometheus.CounterVec
	breaker   *prometheus.GaugeVec
	opened    prometheus.Counter
}

// The states of a breaker, and why a call was not made.
var (
	breakerStates   = []string{"closed", "half-open", "open"}
	throttleReasons = []string{"rate", "breaker", "refused"}
)

func (m *Metrics) addAuthority() {
	m.authority = authorityFamilies{
		calls: m.counters("authority_calls_total", "Calls to TRA's calculator by outcome: ok, or the kind of the error.",
			"call", "outcome"),
		durations: m.histograms("authority_call_duration_seconds", "Time of a call to TRA's calculator.", callBuckets, "call"),
		throttled: m.counters("authority_throttled_total",
			"Calls that were not made: the rate is used up, the breaker is open, or TRA has just refused this worker.", "reason"),
		breaker: m.gauges("authority_breaker",
			"1 for the state of this process's breaker: closed, half-open or open; closed where no calls are made.", "state"),
		opened: m.counters("authority_breaker_opened_total", "How often the breaker of this process has opened.").
			WithLabelValues(),
	}
	m.setBreaker(breakerStates[0])
	if !m.options.Asks {
		return
	}
	for _, call := range append(slices.Clone(m.options.Calls), Other) {
		for _, outcome := range append([]string{OK}, m.options.Kinds...) {
			m.authority.calls.WithLabelValues(call, outcome)
		}
	}
}

// Call counts one call to the authority or the AI. It is the only place that does. Those to the
// AI have families of their own.
func (m *Metrics) Call(c Call) {
	if m == nil {
		return
	}
	if c.To == Authority {
		name, outcome := m.oneOf(m.options.Calls, c.Name), OK
		if c.Kind != "" {
			outcome = m.oneOf(append([]string{Gone}, m.options.Kinds...), c.Kind)
		}
		m.authority.calls.WithLabelValues(name, outcome).Inc()
		m.authority.durations.WithLabelValues(name).Observe(seconds(c.Took))
	}
	m.options.Recorder.call(c)
}

// Throttled counts a call to the authority that was not made.
func (m *Metrics) Throttled(reason string) {
	if m == nil {
		return
	}
	m.authority.throttled.WithLabelValues(m.oneOf(throttleReasons, reason)).Inc()
}

// Breaker says in which state the breaker of this process is now.
func (m *Metrics) Breaker(state string) {
	if m == nil {
		return
	}
	if state == "open" {
		m.authority.opened.Inc()
	}
	m.setBreaker(state)
}

func (m *Metrics) setBreaker(state string) {
	for _, other := range breakerStates {
		value := 0.0
		if other == state {
			value = 1
		}
		m.authority.breaker.WithLabelValues(other).Set(value)
	}
}
