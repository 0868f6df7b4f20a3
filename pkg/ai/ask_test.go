package ai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/redisx/redistest"
)

const secret = "sk-topsecret-abcdefgh"

// verdict is the answer to the question of these tests.
type verdict struct {
	Choice string `json:"choice"`
	Reason string `json:"reason"`
}

func question(model string) ai.Question {
	return ai.Question{
		Name: "test_choice", System: "Choose.",
		Data: []ai.Table{
			{Name: "listing", Rows: []ai.Row{{{Name: "model", Text: model}, {Name: "engine_cc", Text: "1496"}}}},
			{Name: "candidates", Rows: []ai.Row{
				{{Name: "id", Text: "c1"}, {Name: "label", Text: "PREMIO - NZT260 - SEDAN"}},
				{{Name: "id", Text: "c2"}, {Name: "label", Text: "COROLLA AXIO - NZE141 - SEDAN"}},
			}},
		},
		Schema: ai.Schema{
			{Name: "reason", Type: ai.Text, Description: "Why, in one sentence."},
			{Name: "choice", Type: ai.Text, Enum: []string{"c1", "c2", "NONE"}},
		},
	}
}

func ask(t *testing.T, c *ai.Client, model string) (verdict, ai.Usage, error) {
	t.Helper()
	return ai.Ask[verdict](t.Context(), c, question(model), nil)
}

// client makes a Client of simulators, with a clock that the test moves.
func client(t *testing.T, o ai.Options, servers ...*aitest.Server) (*ai.Client, *time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC)
	for i, server := range servers {
		o.Endpoints = append(o.Endpoints, ai.Endpoint{
			BaseURL: server.URL, Model: fmt.Sprintf("model-%d", i+1), Key: secret,
		})
	}
	o.Now = func() time.Time { return now }
	c, err := ai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &now
}

func embedded(t *testing.T) redis.UniversalClient {
	t.Helper()
	conn := redistest.Embedded(t)
	return conn.Client()
}

func kind(err error) ai.Kind {
	failure, ok := errors.AsType[*ai.Error](err)
	if !ok {
		return ""
	}
	return failure.Kind
}

func TestAskReturnsTheAnswerAndWhatItCost(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Key: secret})
	c, _ := client(t, ai.Options{}, server)
	got, usage, err := ask(t, c, "PREMIO")
	if err != nil || got.Choice != "c1" || !strings.HasPrefix(got.Reason, aitest.Mark) {
		t.Fatalf("got %+v, %v", got, err)
	}
	counts := server.Counts()
	if usage.PromptTokens != counts.PromptTokens || usage.CompletionTokens != counts.CompletionTokens || usage.PromptTokens == 0 {
		t.Errorf("usage %+v, the server counts %+v", usage, counts)
	}
	if usage.Model != aitest.Mark+"-model-1" || usage.Cached {
		t.Errorf("usage %+v", usage)
	}
}

func TestEveryFaultHasItsKind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40)
	for _, test := range []struct {
		name      string
		options   aitest.Options
		kind      ai.Kind
		retryable bool
	}{
		{"500", aitest.Options{Faults: aitest.Faults{Status: 500}}, ai.Unavailable, true},
		{"503 HTML", aitest.Options{Faults: aitest.Faults{Status: 503, HTML: true}}, ai.Unavailable, true},
		{"200 HTML", aitest.Options{Faults: aitest.Faults{HTML: true}}, ai.NotJSON, true},
		{"403 HTML", aitest.Options{Faults: aitest.Faults{Status: 403, HTML: true}}, ai.Misconfigured, false},
		{"429", aitest.Options{Faults: aitest.Faults{Status: 429, RetryAfter: 7}}, ai.RateLimited, true},
		{"no money", aitest.Options{Faults: aitest.Faults{Status: 429, Code: "insufficient_quota"}}, ai.Misconfigured, false},
		{"dropped", aitest.Options{Faults: aitest.Faults{DropConnection: true}}, ai.Unavailable, true},
		{"slow", aitest.Options{Faults: aitest.Faults{Latency: aitest.Duration(time.Minute)}}, ai.Timeout, true},
		{"no choices", aitest.Options{Faults: aitest.Faults{EmptyChoices: true}}, ai.NoChoices, true},
		{"cut", aitest.Options{Faults: aitest.Faults{CutJSON: true}}, ai.Truncated, false},
		{"refusal", aitest.Options{Faults: aitest.Faults{Refusal: true}}, ai.Refused, false},
		{"filter", aitest.Options{Faults: aitest.Faults{Filtered: true}}, ai.Filtered, false},
		{"filtered question", aitest.Options{Faults: aitest.Faults{Status: 400, Code: "content_filter"}}, ai.Filtered, false},
		{"no candidate", aitest.Options{Faults: aitest.Faults{WrongID: true}}, ai.BadAnswer, false},
		{"other schema", aitest.Options{Faults: aitest.Faults{OtherSchema: true}}, ai.BadAnswer, false},
		{"wrong key", aitest.Options{Key: "sk-" + long}, ai.Misconfigured, false},
		{"no such model", aitest.Options{Models: []string{"other"}}, ai.Misconfigured, false},
		{"context", aitest.Options{Context: 300}, ai.TooLong, false},
		{"rejected", aitest.Options{Faults: aitest.Faults{Status: 422}}, ai.Rejected, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			c, _ := client(t, ai.Options{Timeout: timeoutOf(test.name), Log: slog.New(slog.NewJSONHandler(&log, nil))},
				aitest.Start(t, test.options))
			_, _, err := ask(t, c, "PREMIO")
			failure, _ := errors.AsType[*ai.Error](err)
			if failure == nil || failure.Kind != test.kind || failure.Retryable() != test.retryable {
				t.Errorf("got %v, want kind %s, retryable %t", err, test.kind, test.retryable)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "<") {
				t.Errorf("an error that repeats an answer: %s", text)
			}
			for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), log.String()} {
				if strings.Contains(text, "topsecret") || text == "" {
					t.Errorf("an error or a log that repeats what it must not: %s", text)
				}
			}
		})
	}
}
