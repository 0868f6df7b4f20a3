package ai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestTheBudgetOfADayEndsAtMidnightInDarEsSalaam(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := aitest.Start(t, aitest.Options{})
		c, now := client(t, ai.Options{Redis: conn.Client(), DailyTokens: 2000}, server)
		*now = time.Date(2026, 11, 21, 20, 59, 0, 0, time.UTC) // 23:59 there
		asked := 0
		var refused *ai.BudgetError
		for refused == nil && asked < 20 {
			_, _, err := ask(t, c, "PREMIO")
			if refused, _ = errors.AsType[*ai.BudgetError](err); refused == nil {
				if err != nil {
					t.Fatal(err)
				}
				asked++
			}
		}
		if asked < 2 || refused == nil || refused.Used > refused.Limit || server.Counts().Requests != asked {
			t.Fatalf("%d questions answered, then %v; the server saw %d", asked, refused, server.Counts().Requests)
		}
		if want := time.Date(2026, 11, 21, 21, 0, 0, 0, time.UTC); !refused.Resets.Equal(want) {
			t.Errorf("resets at %v, want %v", refused.Resets, want)
		}
		counts := server.Counts()
		if got := conn.Client().Exists(t.Context(), "ai:tokens:{2026-11-21}").Val(); got == 0 {
			t.Error("the day of Dar es Salaam has no count")
		} else if used := refused.Used; used != int64(counts.PromptTokens+counts.CompletionTokens) {
			t.Errorf("%d tokens counted, the server counts %d", used, counts.PromptTokens+counts.CompletionTokens)
		}
		*now = now.Add(time.Minute)
		if _, _, err := ask(t, c, "PREMIO"); err != nil {
			t.Errorf("the next day: %v", err)
		}
	})
}

func TestManyAtOnceStayWithinTheBudget(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Latency: aitest.Duration(20 * time.Millisecond)}})
	const limit = 3000
	c, _ := client(t, ai.Options{Redis: embedded(t), DailyTokens: limit}, server)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { _, _, _ = ai.Ask[verdict](t.Context(), c, question("PREMIO"), nil) })
	}
	all.Wait()
	if counts := server.Counts(); counts.Answers == 0 || counts.PromptTokens+counts.CompletionTokens > limit {
		t.Errorf("%d answers for %d tokens", counts.Answers, counts.PromptTokens+counts.CompletionTokens)
	}
}

func TestCallsThatFailCostNothing(t *testing.T) {
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Status: 400}})
	conn := embedded(t)
	c, now := client(t, ai.Options{Redis: conn, DailyTokens: 2000}, server)
	for range 10 {
		if _, _, err := ask(t, c, "PREMIO"); kind(err) != ai.Rejected {
			t.Fatal(err)
		}
	}
	if day, err := ai.ReadBudget(t.Context(), conn, 2000, *now); err != nil || day.Used != 0 {
		t.Errorf("got %+v, %v, want no tokens", day, err)
	}
}

// A server that hangs uses up no more than what was sent to it: the day's tokens last until it
// answers again. A caller who goes away pays for the answer that may still be made.
func TestAServerThatHangsDoesNotUseUpTheDay(t *testing.T) {
	t.Parallel()
	server := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Latency: aitest.Duration(time.Minute)}})
	used := func(timeout time.Duration, spend func(c *ai.Client, tokens func() int64)) int64 {
		conn := embedded(t)
		c, _ := client(t, ai.Options{Redis: conn, DailyTokens: 100_000, Timeout: timeout}, server)
		tokens := func() int64 {
			day, err := pace.NewAccounts(conn, pace.KindTokens).Read(t.Context(), pace.Holder{Whole: "2026-11-22"})
			if err != nil {
				t.Fatal(err)
			}
			return day.Used
		}
		spend(c, tokens)
		return tokens()
	}
	hung := used(time.Second, func(c *ai.Client, _ func() int64) {
		if _, _, err := ask(t, c, "PREMIO"); kind(err) != ai.Timeout {
			t.Fatal(err)
		}
	})
	left := used(time.Minute, func(c *ai.Client, tokens func() int64) {
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan error, 1)
		go func() {
			_, _, err := ai.Ask[verdict](ctx, c, question("PREMIO"), nil)
			asked <- err
		}()
		testenv.AwaitTrue(t, "the call has begun", func() bool { return tokens() > 0 })
		cancel()
		if err := <-asked; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
	if hung == 0 || hung*2 > left {
		t.Errorf("a call that hung counts %d tokens, one whose caller has left %d; want less than half", hung, left)
	}
}

func TestWithoutRedisToCountInNothingIsAsked(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := client(t, ai.Options{Redis: conn.Client(), DailyTokens: 2000, AnswerTTL: time.Hour}, server)
	conn.Close()
	if _, _, err := ask(t, c, "PREMIO"); err == nil || server.Counts().Requests != 0 {
		t.Errorf("got %v after %d requests", err, server.Counts().Requests)
	}
}

// What one key uses up, it uses up for itself only.
func TestKeyDoesNotUseUpTheDay(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := aitest.Start(t, aitest.Options{})
		c, now := client(t, ai.Options{
			Redis: conn.Client(), DailyTokens: 1_000_000,
			KeyTokens: func(_ context.Context, owner string) (int64, error) {
				return map[string]int64{"greedy": 3000}[owner], nil
			},
		}, server)
		askAs := func(owner, model string) error {
			_, _, err := ai.Ask[verdict](pace.WithOwner(t.Context(), owner), c, question(model), nil)
			return err
		}
		var refused *ai.BudgetError
		for i := 0; refused == nil && i < 50; i++ {
			err := askAs("greedy", fmt.Sprintf("PREMIO %d", i))
			if refused, _ = errors.AsType[*ai.BudgetError](err); refused == nil && err != nil {
				t.Fatal(err)
			}
		}
		if refused == nil || refused.Key != "greedy" || refused.Limit != 3000 || refused.Used > 3000 {
			t.Fatalf("%+v", refused)
		}
		used, resets, err := ai.KeyUsage(t.Context(), conn.Client(), "greedy", *now)
		if err != nil || used != refused.Used || !resets.Equal(refused.Resets) {
			t.Errorf("%d tokens until %v, %v", used, resets, err)
		}
		for i := range 10 {
			if err := askAs("other", fmt.Sprintf("ALLION %d", i)); err != nil {
				t.Fatalf("another key: %v", err)
			}
		}
		if err := askAs("", "VITZ"); err != nil {
			t.Error(err)
		}
	})
}

func TestVisitorsLeaveTokensOfTheDayForKeys(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := aitest.Start(t, aitest.Options{})
		c, _ := client(t, ai.Options{Redis: conn.Client(), DailyTokens: 4000}, server)
		askAs := func(owner, model string) error {
			_, _, err := ai.Ask[verdict](pace.WithOwner(t.Context(), owner), c, question(model), nil)
			return err
		}
		used := int64(0)
		for i, network := range []string{"192.0.2.0", "198.51.100.0", "203.0.113.0"} {
			visitor := pace.Caller(pace.Anonymous, network)
			var refused *ai.BudgetError
			for n := 0; refused == nil && n < 50; n++ {
				err := askAs(visitor, fmt.Sprintf("PREMIO %d %d", i, n))
				if refused, _ = errors.AsType[*ai.BudgetError](err); refused == nil && err != nil {
					t.Fatal(err)
				}
			}
			// 80 percent of the day are for visitors, and half of what is left for one network.
			if refused == nil || refused.Used == 0 || refused.Used > (3200-used)/2 {
				t.Fatalf("network %d: got %+v, want some tokens and at most half of %d", i, refused, 3200-used)
			}
			used += refused.Used
		}
		if err := askAs("a key", "VITZ"); err != nil {
			t.Errorf("a key after the visitors: %v", err)
		}
	})
}

// 80 percent of a budget of one token are less than one, and none would be no limit.
func TestVisitorsHaveALimitWithinTheSmallestBudget(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := aitest.Start(t, aitest.Options{})
		c, _ := client(t, ai.Options{Redis: conn.Client(), DailyTokens: 1}, server)
		ctx := pace.WithOwner(t.Context(), pace.Caller(pace.Anonymous, "192.0.2.0"))
		_, _, err := ai.Ask[verdict](ctx, c, question("VITZ"), nil)
		if refused, is := errors.AsType[*ai.BudgetError](err); !is || server.Counts().Requests > 0 {
			t.Errorf("got %+v (%v) and %d requests, want it refused", refused, err, server.Counts().Requests)
		}
	})
}

// What a process has reserved that was killed is free again a minute after the time of its call.
func TestTokensOfAKilledProcessFallBack(t *testing.T) {
	t.Parallel()
	server := aitest.Start(t, aitest.Options{})
	conn := embedded(t)
	const limit = 3000
	c, now := client(t, ai.Options{Redis: conn, DailyTokens: limit}, server)
	tokens := pace.NewAccounts(conn, pace.KindTokens)
	day := pace.Holder{Whole: now.In(localtime.Zone).Format(time.DateOnly)}
	_, err := tokens.TakeFor(t.Context(), day, pace.Within{}, pace.Kept{Name: "killed", Size: limit, TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, c, "PREMIO"); err == nil {
		t.Error("asked, although all tokens are reserved")
	}
	testenv.Await(t, "the tokens are free", func() (any, bool) {
		_, _, err := ask(t, c, "PREMIO")
		return err, err == nil
	})
}

func TestLevelsOfABudget(t *testing.T) {
	t.Parallel()
	for used, want := range map[int64]int{0: 0, 499: 0, 500: 50, 799: 50, 800: 80, 1000: 80} {
		if got := ai.Level(used, 1000); got != want {
			t.Errorf("%d of 1000: %d, want %d", used, got, want)
		}
	}
	if ai.Level(10, 0) != 0 {
		t.Error("no limit has a level")
	}
}

// A half and four fifths of a budget are logged, each once a day and key.
func TestLevelsAreLogged(t *testing.T) {
	var logged bytes.Buffer
	server := aitest.Start(t, aitest.Options{})
	c, _ := client(t, ai.Options{
		Redis: embedded(t), Log: slog.New(slog.NewTextHandler(&logged, nil)),
		KeyTokens: func(context.Context, string) (int64, error) { return 5000, nil },
	}, server)
	for i := range 40 {
		_, _, _ = ai.Ask[verdict](pace.WithOwner(t.Context(), "key1"), c, question(fmt.Sprintf("PREMIO %d", i)), nil)
	}
	for _, want := range []string{"percent=50", "percent=80", "used up"} {
		if n := strings.Count(logged.String(), want); n != 1 {
			t.Errorf("%q is logged %d times: %s", want, n, logged.String())
		}
	}
}
