package metrics_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx/redistest"
)

func options() metrics.Options {
	return metrics.Options{
		Steps: []string{"estimate:scrape", "estimate:match"}, Codes: []string{"internal", "listing_gone"},
		Calls: []string{"getYom"}, Kinds: []string{"unavailable"}, Caches: []string{"estimate"}, Sites: []string{"SBT"},
		SiteOf: func(host string) string {
			if host == "sbtjapan.com" {
				return "SBT"
			}
			return ""
		},
		MatchedBy: []string{"code"}, Confidence: []string{"high"},
	}
}

// gathered returns the value of every series, and the count of a histogram, by name and
// label values.
func gathered(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "ushuru_") {
			continue
		}
		for _, series := range family.GetMetric() {
			var labels []string
			for _, label := range series.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			value := series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
			found[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return found
}

func TestOutcomesAreCounted(t *testing.T) {
	o := options()
	client := redistest.Embedded(t).Client()
	o.Recorder = metrics.NewRecorder(metrics.RecorderOptions{Redis: client, HostOf: func(host string) string {
		return map[string]string{"sbtjapan.com": host}[host]
	}})
	m := metrics.New(o)
	m.AddRoute("/v1/estimate", "POST", false)
	before := gathered(t, m)
	m.Request("/console", "GET", 500, "", time.Second) // no answer of the API
	m.Request("/v1/estimate", "POST", 404, "not_found", time.Second)
	m.Step(metrics.Step{Job: "j1", Kind: "estimate", Step: "scrape", Host: "sbtjapan.com", Fetches: true, Outcome: metrics.Completed, Took: time.Second})
	m.Step(metrics.Step{
		Job: "j2", Kind: "estimate", Step: "scrape", Host: "unknown.example", Fetches: true, Outcome: metrics.Failed, Code: "listing_gone",
	})
	m.Step(metrics.Step{Kind: "estimate", Step: "scrape", Host: "sbtjapan.com", Fetches: true, Outcome: metrics.Postponed})
	m.Call(metrics.Call{To: metrics.Authority, Name: "getYom", Kind: "unavailable"})
	m.Call(metrics.Call{To: "ai", Name: "model", Prompt: 1, Completion: 2})
	m.JobEnded(metrics.JobEnd{Kind: "estimate", Class: "bulk", State: "succeeded"})
	m.Request("/v1/estimate", "POST", 504, "internal", time.Second)
	m.Swept("bulk", 2, errors.New("away"))
	m.Breaker("open")
	m.Lookup("estimate", true)
	m.Match("code", "high")
	m.Match("", "")
	m.Count("takeovers_total", "estimate", "match")
	m.Count("authority_throttled_total", "rate")
	m.WebhookAttempt("wh1", "gone", time.Second)
	m.Count("operator_logins_failed_total", "wrong")
	after := gathered(t, m)
	for series, want := range map[string]float64{
		"ushuru_steps_total{code=,kind=estimate,outcome=completed,step=scrape}":          1,
		"ushuru_steps_total{code=listing_gone,kind=estimate,outcome=failed,step=scrape}": 1,
		"ushuru_steps_total{code=,kind=estimate,outcome=postponed,step=scrape}":          1,
		"ushuru_step_duration_seconds{kind=estimate,step=scrape}":                        1,
		"ushuru_fetches_total{outcome=ok,site=SBT}":                                      1,
		"ushuru_fetches_total{outcome=listing_gone,site=other}":                          1,
		"ushuru_authority_calls_total{call=getYom,outcome=unavailable}":                  1,
		"ushuru_jobs_total{class=bulk,code=,kind=estimate,state=succeeded}":              1,
		"ushuru_http_requests_total{class=5xx,method=POST,route=/v1/estimate}":           1,
		"ushuru_http_errors_total{code=internal}":                                        1,
		"ushuru_sweeps_total{class=bulk,outcome=failed}":                                 1,
		"ushuru_swept_jobs_total{class=bulk}":                                            2,
		"ushuru_authority_breaker{state=open}":                                           1,
		"ushuru_authority_breaker{state=closed}":                                         -1,
		"ushuru_authority_breaker_opened_total{}":                                        1,
		"ushuru_cache_lookups_total{cache=estimate,result=hit}":                          1,
		"ushuru_matches_total{confidence=high,matched_by=code}":                          1,
		"ushuru_matches_total{confidence=none,matched_by=none}":                          1,
		"ushuru_takeovers_total{kind=estimate,step=match}":                               1,
		"ushuru_authority_throttled_total{reason=rate}":                                  1,
		"ushuru_webhook_attempts_total{outcome=gone}":                                    1,
		"ushuru_operator_logins_failed_total{reason=wrong}":                              1,
	} {
		if got := after[series] - before[series]; got != want {
			t.Errorf("%s rose by %v, want %v", series, got, want)
		}
	}
	m.Recorder().Write(t.Context())
	hours, err := metrics.Hours(t.Context(), client, time.Now(), 2)
	if err != nil {
		t.Fatal(err)
	}
	want := map[metrics.What]int64{
		{"sbtjapan.com", "estimate:scrape", "ok"}: 1, {"other", "estimate:scrape", "listing_gone"}: 1,
		{"tra", "getYom", "unavailable"}: 1, {"ai", "model", "ok"}: 1, {"webhook", "wh1", "gone"}: 1,
		{"api", "answers", "ok"}: 1, {"api", "answers", "internal"}: 1,
	}
	if got := metrics.Sum(hours).Ended; !maps.Equal(got, want) {
		t.Errorf("in Redis: got %v, want %v", got, want)
	}
}

// What callers and strangers choose makes no series.
func TestSeriesAreBounded(t *testing.T) {
	m := metrics.New(options())
	m.AddRoute("/v1/estimate", "POST", false)
	use := func(i int) {
		value := fmt.Sprintf("x%d\"\n", i)
		m.Step(metrics.Step{Kind: value, Step: value, Host: value, Fetches: true, Outcome: metrics.Failed, Code: value})
		m.Step(metrics.Step{Kind: "estimate", Step: "scrape", Host: value, Fetches: true, Outcome: metrics.Retried, Code: value})
		m.Call(metrics.Call{To: metrics.Authority, Name: value, Kind: value})
		m.Step(metrics.Step{Kind: "estimate", Step: "scrape", Outcome: metrics.Outcome(value)})
		m.JobEnded(metrics.JobEnd{Kind: value, Class: value, State: value, Code: value})
		m.Request(value, value, 400+i, value, time.Second)
		m.Request("/v1/estimate", value, -i, value, time.Second)
		m.Swept(value, 1, nil)
		m.Count("takeovers_total", value, value)
		m.Count("authority_throttled_total", value)
		m.Lookup(value, true)
		m.Match(value, value)
		m.WebhookAttempt(value, value, time.Second)
		m.Count("operator_logins_failed_total", value)
		m.Breaker(value)
	}
	use(0)
	use(100) // another class of status
	first := len(gathered(t, m))
	for i := range 500 {
		use(i)
	}
	if then := len(gathered(t, m)); then != first {
		t.Errorf("%d series, and %d after 500 unknown values", first, then)
	}
}

func TestNilCountsNothing(*testing.T) {
	var m *metrics.Metrics
	m.Step(metrics.Step{})
	m.Call(metrics.Call{})
	m.JobEnded(metrics.JobEnd{})
	m.Request("", "", 0, "", 0)
	m.AddRoute("", "", false)
	m.GaugeFunc("", "", nil)
	m.Match("", "")
	m.Lookup("", false)
}

// A listing of a batch costs what this says: three steps, a job, a fetch, five calls and
// look-ups.
func BenchmarkListing(b *testing.B) {
	m := metrics.New(options())
	b.ReportAllocs()
	for b.Loop() {
		m.Step(metrics.Step{Kind: "estimate", Step: "scrape", Host: "sbtjapan.com", Fetches: true, Outcome: metrics.Completed, Took: time.Second})
		m.Step(metrics.Step{Kind: "estimate", Step: "match", Outcome: metrics.Completed, Took: time.Second})
		m.Step(metrics.Step{Kind: "estimate", Step: "calculate", Outcome: metrics.Completed, Took: time.Second})
		m.JobEnded(metrics.JobEnd{Kind: "estimate", Class: "bulk", State: "succeeded", Took: time.Second})
		for range 5 {
			m.Call(metrics.Call{To: metrics.Authority, Name: "getYom", Took: time.Second})
			m.Lookup("estimate", true)
		}
		m.Match("code", "high")
	}
}

func TestCountLeavesTheCallersValues(t *testing.T) {
	t.Parallel()
	values := []string{"unheard of", "hit"}
	metrics.New(options()).Count("cache_lookups_total", values...)
	if values[0] != "unheard of" {
		t.Errorf("Count changed the caller's values: got %q, want %q", values[0], "unheard of")
	}
}
