package ai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/metrics"
)

func TestOptionsThatCannotBe(t *testing.T) {
	good := ai.Endpoint{BaseURL: "https://ai.example/v1", Model: "m"}
	for name, o := range map[string]ai.Options{
		"no endpoint":             {},
		"budget without Redis":    {Endpoints: []ai.Endpoint{good}, DailyTokens: 1},
		"negative":                {Endpoints: []ai.Endpoint{good}, Timeout: -1},
		"no model":                {Endpoints: []ai.Endpoint{{BaseURL: "https://ai.example/v1"}}},
		"no URL":                  {Endpoints: []ai.Endpoint{{BaseURL: "ai.example", Model: "m"}}},
		"other scheme":            {Endpoints: []ai.Endpoint{{BaseURL: "ftp://ai.example", Model: "m"}}},
		"password":                {Endpoints: []ai.Endpoint{{BaseURL: "https://a:hush@ai.example/v1", Model: "m"}}},
		"key in the query":        {Endpoints: []ai.Endpoint{{BaseURL: "https://ai.example/v1?key=hush", Model: "m"}}},
		"URL that cannot be read": {Endpoints: []ai.Endpoint{{BaseURL: "https://hush\x7f", Model: "m"}}},
	} {
		if _, err := ai.New(o); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKeyShowsNowhere(t *testing.T) {
	endpoint := ai.Endpoint{BaseURL: "https://ai.example/v1", Model: "m", Key: secret}
	encoded, _ := json.Marshal(endpoint)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "endpoint", endpoint, "key", endpoint.Key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "endpoint", endpoint)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %q", endpoint, endpoint, endpoint, endpoint.Key, endpoint.Key), string(encoded), log.String()} {
		if strings.Contains(text, "topsecret") {
			t.Error(text)
		}
	}
}

func TestMetricsCountCallsFailuresTokensAndCost(t *testing.T) {
	counts := metrics.New(metrics.Options{AI: ai.Outcomes()})
	server := aitest.Start(t, aitest.Options{})
	c, _ := client(t, ai.Options{Metrics: counts, Redis: embedded(t), AnswerTTL: time.Hour}, server)
	for range 2 {
		if _, _, err := ask(t, c, "PREMIO"); err != nil {
			t.Fatal(err)
		}
	}
	server.SetFaults(aitest.Faults{Status: 500})
	if _, _, err := ask(t, c, "ALLION"); err == nil {
		t.Fatal("no error")
	}
	where := fmt.Sprintf("endpoint=%s model=model-1", strings.TrimPrefix(server.Root, "http://"))
	served := server.Counts()
	got := gather(t, counts.Registry())
	for metric, want := range map[string]float64{
		"ushuru_ai_calls_total " + where + " outcome=ok question=test_choice":          1,
		"ushuru_ai_calls_total " + where + " outcome=unavailable question=test_choice": 1,
		"ushuru_ai_tokens_total direction=completion " + where:                         float64(served.CompletionTokens),
		"ushuru_ai_tokens_total direction=prompt " + where:                             float64(served.PromptTokens),
		"ushuru_ai_questions_total cached=no question=test_choice":                     2,
		"ushuru_ai_questions_total cached=yes question=test_choice":                    1,
		"ushuru_ai_call_duration_seconds " + where:                                     2,
	} {
		if value, there := got[metric]; !there || value != want {
			t.Errorf("%s is %v (%t), want %v", metric, value, there, want)
		}
	}
}

// gather returns counters, and the counts of histograms, by name and labels.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := []string{family.GetName()}
			for _, label := range metric.GetLabel() { // sorted by name
				name = append(name, label.GetName()+"="+label.GetValue())
			}
			values[strings.Join(name, " ")] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}
