package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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

// Unavailable is the code of a step that had to wait because Redis was away.
const Unavailable = "unavailable"

// JobEnd is the end of a job.
type JobEnd struct {
	Kind, Class, State string
	Code               string // of the error; "" without one
	Took               time.Duration
}

type workFamilies struct {
	jobs         *prometheus.CounterVec
	jobDuration  *prometheus.HistogramVec
	steps        *prometheus.CounterVec
	stepDuration *prometheus.HistogramVec
	fetches      *prometheus.CounterVec
	fetchTime    *prometheus.HistogramVec
	takeovers    *prometheus.CounterVec
	sweeps       *prometheus.CounterVec
	recovered    *prometheus.CounterVec
	webhooks     *prometheus.CounterVec
	webhookTime  prometheus.Observer
}

// classes and states are those of jobs.
var (
	classes = []string{"interactive", "bulk"}
	states  = []string{"succeeded", "failed", "cancelled"}
)

func (m *Metrics) addWork() {
	m.work = workFamilies{
		jobs: m.counters("jobs_total", "Jobs that ended by kind, class (interactive or bulk), state and code of the error.",
			"kind", "class", "state", "code"),
		jobDuration: m.histograms("job_duration_seconds", "Time from the request of a job to its end.", jobBuckets,
			"kind", "class"),
		steps: m.counters("steps_total", "Runs of steps by outcome (completed, failed, retried, postponed, cancelled, "+
			"returned) and code of the error.", "kind", "step", "outcome", "code"),
		stepDuration: m.histograms("step_duration_seconds", "Time of one run of a step.", stepBuckets, "kind", "step"),
		fetches: m.counters("fetches_total", "Pages and sheets of listing sites by outcome: ok, or the code of the error; "+
			"a site that is not known is other.", "site", "outcome"),
		fetchTime: m.histograms("fetch_duration_seconds", "Time to fetch and read a page or a sheet, by site.", stepBuckets,
			"site"),
		takeovers: m.counters("takeovers_total", "Steps that were given to another worker because theirs was gone.",
			"kind", "step"),
		sweeps: m.counters("sweeps_total", "Sweeps for jobs that stand still, by outcome: ok or failed.", "class", "outcome"),
		recovered: m.counters("swept_jobs_total", "Jobs that a sweep has set going again.",
			"class"),
		webhooks: m.counters("webhook_attempts_total",
			"Attempts to deliver an event: delivered, retried, given_up or gone.", "outcome"),
		webhookTime: m.histograms("webhook_attempt_duration_seconds", "Time of one attempt to deliver an event.", callBuckets).
			WithLabelValues(),
	}
	for _, outcome := range webhookOutcomes {
		m.work.webhooks.WithLabelValues(outcome)
	}
	if !m.options.Fetches {
		return
	}
	for _, site := range append(slices.Clone(m.options.Sites), Other) {
		for _, outcome := range []string{OK, "listing_blocked", "robots_forbidden"} {
			m.work.fetches.WithLabelValues(site, m.fetchOutcome(outcome))
		}
	}
}

// fetchOutcome returns the label value of how a fetch ended.
func (m *Metrics) fetchOutcome(outcome string) string {
	if outcome == OK {
		return OK
	}
	return m.code(outcome)
}

// Step counts one run of a step. It is the only place that does.
func (m *Metrics) Step(s Step) {
	if m == nil {
		return
	}
	s.Code = m.code(s.Code)
	kind, step := m.step(s.Kind, s.Step)
	outcome := Outcome(Other)
	if slices.Contains(outcomes, s.Outcome) {
		outcome = s.Outcome
	}
	m.work.steps.WithLabelValues(kind, step, string(outcome), s.Code).Inc()
	if s.Took > 0 {
		m.work.stepDuration.WithLabelValues(kind, step).Observe(seconds(s.Took))
	}
	m.fetched(s)
	m.options.Recorder.step(s)
}

// fetched counts a step that fetches a page.
func (m *Metrics) fetched(s Step) {
	outcome := s.Code
	if s.Outcome == Completed {
		outcome = OK
	}
	if !s.Fetches || s.Host == "" || outcome == "" {
		return
	}
	site := m.site(s.Host)
	m.work.fetches.WithLabelValues(site, outcome).Inc()
	m.work.fetchTime.WithLabelValues(site).Observe(seconds(s.Took))
}

// step returns a kind and step that are known.
func (m *Metrics) step(kind, step string) (knownKind, knownStep string) {
	if m.steps[kind+":"+step] {
		return kind, step
	}
	return Other, Other
}

// JobEnded counts the end of a job.
func (m *Metrics) JobEnded(e JobEnd) {
	if m == nil {
		return
	}
	kind := Other
	if slices.ContainsFunc(m.options.Steps, func(step string) bool { return strings.HasPrefix(step, e.Kind+":") }) {
		kind = e.Kind
	}
	class := m.oneOf(classes, e.Class)
	m.work.jobs.WithLabelValues(kind, class, m.oneOf(states, e.State), m.code(e.Code)).Inc()
	m.work.jobDuration.WithLabelValues(kind, class).Observe(seconds(e.Took))
}

// TookOver counts a step that was given to another worker because its own was gone.
func (m *Metrics) TookOver(kind, step string) {
	if m == nil {
		return
	}
	m.work.takeovers.WithLabelValues(m.step(kind, step)).Inc()
}

// Swept counts a sweep and the jobs that it has set going again.
func (m *Metrics) Swept(class string, recovered int, err error) {
	if m == nil {
		return
	}
	outcome := OK
	if err != nil {
		outcome = string(Failed)
	}
	class = m.oneOf(classes, class)
	m.work.sweeps.WithLabelValues(class, outcome).Inc()
	m.work.recovered.WithLabelValues(class).Add(float64(recovered))
}

const delivered = "delivered"

var webhookOutcomes = []string{delivered, "retried", "given_up", "gone"}

// WebhookAttempt counts one attempt to deliver an event to an endpoint.
func (m *Metrics) WebhookAttempt(endpoint, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	kind := outcome
	if outcome == delivered {
		kind = ""
	}
	m.options.Recorder.call(Call{To: Webhook, Name: endpoint, Kind: kind, Took: took})
	m.work.webhooks.WithLabelValues(m.oneOf(webhookOutcomes, outcome)).Inc()
	m.work.webhookTime.Observe(seconds(took))
}
