package ai_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

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
