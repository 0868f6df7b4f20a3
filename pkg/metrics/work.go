package metrics

import (
	"cmp"
	"strings"
	"time"
)

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

// Step is one run of a step of a job.
type Step struct {
	Job, Kind, Step string
	Host            string // of the page that the job is about; "" for none, and for one that the caller sent
	Fetches         bool   // the step fetches that page
	Outcome         Outcome
	Code            string        // of the error; "" without one
	Took            time.Duration // 0 when that is not known
}

// unavailable is the code of a step that had to wait because Redis was away.
const unavailable = "unavailable"

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

const delivered = "delivered"

var webhookOutcomes = []string{delivered, "retried", "given_up", Gone}

// WebhookAttempt counts one attempt to deliver an event to an endpoint.
func (m *Metrics) WebhookAttempt(endpoint, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.options.Recorder.call(Call{To: Webhook, Name: endpoint, Kind: strings.TrimPrefix(outcome, delivered), Took: took})
	m.Count("webhook_attempts_total", outcome)
	m.observe("webhook_attempt_duration_seconds", took)
}

// Gone is the kind of a call whose caller has gone away, and of an event whose endpoint has.
const Gone = "gone"

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

var breakerStates = []string{"closed", "half-open", "open"}

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
