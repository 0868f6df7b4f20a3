package ai

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count the questions and their cost.
type metrics struct {
	calls    *prometheus.CounterVec   // by question, endpoint, model and outcome: ok, a Kind, or budget
	tokens   *prometheus.CounterVec   // by endpoint, model and direction
	answers  *prometheus.CounterVec   // by question and cached
	duration *prometheus.HistogramVec // by endpoint and model
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	where := []string{"endpoint", "model"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Namespace: "ushuru", Subsystem: "ai", Name: name, Help: help}
		return prometheus.NewCounterVec(opts, labels)
	}
	m := &metrics{
		calls: counter("calls_total", "Calls by outcome: ok, the kind of failure, or budget.",
			"question", "endpoint", "model", "outcome"),
		tokens:  counter("tokens_total", "Tokens by direction: prompt or completion.", "endpoint", "model", "direction"),
		answers: counter("questions_total", "Questions, and whether the answer was there from before.", "question", "cached"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "ushuru", Subsystem: "ai", Name: "call_duration_seconds", Help: "Time of a call.",
			Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40},
		}, where),
	}
	if registry == nil {
		return m, nil
	}
	var err error
	for _, collector := range []prometheus.Collector{m.calls, m.tokens, m.answers, m.duration} {
		err = errors.Join(err, registry.Register(collector))
	}
	return m, err
}

// init makes the series of an endpoint with the value 0.
func (m *metrics) init(questions []string, host, model string) {
	for _, question := range questions {
		for _, outcome := range append([]Kind{"ok", "budget"}, Kinds...) {
			m.calls.WithLabelValues(question, host, model, string(outcome))
		}
		m.answers.WithLabelValues(question, "yes")
		m.answers.WithLabelValues(question, "no")
	}
	for _, direction := range []string{"prompt", "completion"} {
		m.tokens.WithLabelValues(host, model, direction)
	}
	m.duration.WithLabelValues(host, model)
}

func (m *metrics) asked(question string, e *endpoint, usage Usage, failure *Error, took time.Duration) {
	outcome := "ok"
	if failure != nil {
		outcome = string(failure.Kind)
	}
	m.calls.WithLabelValues(question, e.host, e.Model, outcome).Inc()
	m.tokens.WithLabelValues(e.host, e.Model, "prompt").Add(float64(usage.PromptTokens))
	m.tokens.WithLabelValues(e.host, e.Model, "completion").Add(float64(usage.CompletionTokens))
	m.duration.WithLabelValues(e.host, e.Model).Observe(took.Seconds())
}

func (m *metrics) kept(question string, cached bool) {
	word := "no"
	if cached {
		word = "yes"
	}
	m.answers.WithLabelValues(question, word).Inc()
}
