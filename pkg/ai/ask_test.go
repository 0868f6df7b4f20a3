package ai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/redisx"
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
			BaseURL: server.URL, Model: fmt.Sprintf("model-%d", i+1), Key: secret, PromptPrice: 1, CompletionPrice: 4,
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
	conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
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
	if want := float64(usage.PromptTokens+4*usage.CompletionTokens) / 1e6; usage.Dollars != want {
		t.Errorf("cost %v, want %v", usage.Dollars, want)
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
			c, _ := client(t, ai.Options{Timeout: 300 * time.Millisecond, Log: slog.New(slog.NewJSONHandler(&log, nil))},
				aitest.Start(t, test.options))
			_, _, err := ask(t, c, "PREMIO")
			if kind(err) != test.kind || ai.Retryable(err) != test.retryable {
				t.Errorf("got %v (retryable %t), want kind %s", err, ai.Retryable(err), test.kind)
			}
			for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), log.String()} {
				if strings.Contains(text, "topsecret") || strings.Contains(text, "<") || text == "" {
					t.Errorf("an error or a log that repeats what it must not: %s", text)
				}
			}
		})
	}
}

func TestAQuestionGoesToTheNextEndpointWhenOneFails(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]aitest.Faults{
		"down": {Status: 500}, "limited": {Status: 429}, "key": {Status: 401}, "page": {HTML: true}, "empty": {EmptyChoices: true},
		"cut": {CutJSON: true}, "refusal": {Refusal: true}, "nonsense": {WrongID: true}, "slow": {Latency: aitest.Duration(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := aitest.Start(t, aitest.Options{Faults: faults}), aitest.Start(t, aitest.Options{})
			c, _ := client(t, ai.Options{Timeout: 300 * time.Millisecond}, first, second)
			got, usage, err := ask(t, c, "PREMIO")
			if err != nil || got.Choice != "c1" || usage.Model != aitest.Mark+"-model-2" {
				t.Fatalf("got %+v from %+v, %v", got, usage, err)
			}
			if first.Counts().Requests != 1 || second.Counts().Requests != 1 {
				t.Errorf("asked %d and %d times", first.Counts().Requests, second.Counts().Requests)
			}
		})
	}
}

func TestAnEndpointThatFailsIsLeftAloneForAsLongAsItSays(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Status: 429, RetryAfter: 30, Next: 1}})
	c, now := client(t, ai.Options{}, server)
	for range 3 {
		_, _, err := ask(t, c, "PREMIO")
		failure, _ := errors.AsType[*ai.Error](err)
		if failure == nil || failure.Kind != ai.RateLimited || failure.RetryAfter != 30*time.Second {
			t.Fatalf("got %+v", err)
		}
	}
	if n := server.Counts().Requests; n != 1 {
		t.Errorf("asked %d times in the pause that it wanted", n)
	}
	*now = now.Add(31 * time.Second)
	if _, _, err := ask(t, c, "PREMIO"); err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

func TestARestGrowsWithFailuresInARowAndEndsWithASuccess(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Status: 500, Next: 3}})
	c, now := client(t, ai.Options{}, server)
	rest := func() time.Duration {
		_, _, err := ask(t, c, "PREMIO")
		failure, _ := errors.AsType[*ai.Error](err)
		if failure == nil {
			return 0
		}
		*now = now.Add(failure.RetryAfter)
		return failure.RetryAfter
	}
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 0} {
		if got := rest(); got != want {
			t.Errorf("rest %d is %v, want %v", i+1, got, want)
		}
	}
	server.SetFaults(aitest.Faults{Status: 500})
	if got := rest(); got != time.Second {
		t.Errorf("after a success the rest is %v", got)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	target := aitest.Start(t, aitest.Options{})
	redirect := httptest.NewServer(http.RedirectHandler(target.URL+"/chat/completions", http.StatusTemporaryRedirect))
	defer redirect.Close()
	c, _ := client(t, ai.Options{Endpoints: []ai.Endpoint{{BaseURL: redirect.URL, Model: "m", Key: secret}}})
	if _, _, err := ask(t, c, "PREMIO"); kind(err) != ai.Misconfigured {
		t.Errorf("got %v", err)
	}
	if target.Counts().Requests != 0 {
		t.Error("the key went to another server")
	}
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"`))
		for range 300 {
			if _, err := w.Write(bytes.Repeat([]byte("a"), 1<<16)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	c, _ := client(t, ai.Options{Endpoints: []ai.Endpoint{{BaseURL: endless.URL, Model: "m"}}})
	if _, _, err := ask(t, c, "PREMIO"); kind(err) != ai.NotJSON {
		t.Errorf("got %v", err)
	}
}

func TestACallerWhoGoesAwayIsNoFaultOfTheEndpoint(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Latency: aitest.Duration(time.Minute)}})
	c, _ := client(t, ai.Options{}, server)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := ai.Ask[verdict](ctx, c, question("PREMIO"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	server.SetFaults(aitest.Faults{})
	if _, _, err := ask(t, c, "PREMIO"); err != nil {
		t.Errorf("the endpoint is left alone: %v", err)
	}
}

func TestTheCallersOwnCheckCounts(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	c, _ := client(t, ai.Options{Redis: embedded(t), AnswerTTL: time.Hour}, server)
	no := func(*verdict) error { return errors.New("not that one") }
	if _, _, err := ai.Ask(t.Context(), c, question("PREMIO"), no); kind(err) != ai.BadAnswer || !strings.Contains(err.Error(), "not that one") {
		t.Errorf("got %v", err)
	}
	if _, usage, err := ask(t, c, "PREMIO"); err != nil || usage.Cached {
		t.Errorf("what was not valid is kept: %+v, %v", usage, err)
	}
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := aitest.Start(t, aitest.Options{})
		c, _ := client(t, ai.Options{Redis: conn.Client(), AnswerTTL: time.Hour}, server)
		first, _, err := ask(t, c, "PREMIO")
		if err != nil {
			t.Fatal(err)
		}
		second, usage, err := ask(t, c, "PREMIO")
		if err != nil || second != first || !usage.Cached {
			t.Errorf("got %+v, %+v, %v", second, usage, err)
		}
		if _, _, err := ask(t, c, "PREMIO  \u200b"); err != nil || server.Counts().Requests != 1 {
			t.Errorf("what is equal after cleaning is another question: %d requests, %v", server.Counts().Requests, err)
		}
		other := question("PREMIO") // the same candidates in another order
		slices.Reverse(other.Data[1].Rows)
		if _, usage, err := ai.Ask[verdict](t.Context(), c, other, nil); err != nil || usage.Cached {
			t.Errorf("another order is answered from the first: %+v, %v", usage, err)
		}
	})
}

func TestAKeptAnswerThatIsNoneIsAskedAgain(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	conn := embedded(t)
	c, _ := client(t, ai.Options{Redis: conn, AnswerTTL: time.Hour}, server)
	if _, _, err := ask(t, c, "PREMIO"); err != nil {
		t.Fatal(err)
	}
	for _, key := range conn.Keys(t.Context(), "ai:answer:*").Val() {
		conn.Set(t.Context(), key, `{"answer":{"choice":"c7","reason":"x"}}`, 0)
	}
	if got, usage, err := ask(t, c, "PREMIO"); err != nil || got.Choice != "c1" || usage.Cached {
		t.Errorf("got %+v, %+v, %v", got, usage, err)
	}
}
