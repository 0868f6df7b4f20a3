package ai_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
)

func TestAQuestionGoesToTheNextEndpointWhenOneFails(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]aitest.Faults{
		"down": {Status: 500}, "limited": {Status: 429}, "key": {Status: 401}, "page": {HTML: true}, "empty": {EmptyChoices: true},
		"cut": {CutJSON: true}, "refusal": {Refusal: true}, "nonsense": {WrongID: true}, "slow": {Latency: aitest.Duration(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := aitest.Start(t, aitest.Options{Faults: faults}), aitest.Start(t, aitest.Options{})
			c, _ := client(t, ai.Options{Timeout: timeoutOf(name)}, first, second)
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

// timeoutOf returns how long a test waits for an endpoint: not for long where nothing comes.
func timeoutOf(name string) time.Duration {
	if name == "slow" {
		return 2 * time.Second
	}
	return time.Minute
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
