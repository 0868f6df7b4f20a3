package tra_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

func TestACallThatFailsAtOnceIsMadeAgain(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	for name, c := range map[string]struct {
		faults tratest.Faults
		again  int
		calls  int
		fails  bool
	}{
		"twice":                       {tratest.Faults{Status: 503, Next: 2}, 3, 3, false},
		"more often than that":        {tratest.Faults{Status: 503, Next: 4}, 3, 4, true},
		"without retries":             {tratest.Faults{Status: 503, Next: 1}, 0, 1, true},
		"with a word on when to come": {tratest.Faults{Status: 503, RetryAfter: 1, Next: 1}, 3, 1, true},
		"with an unreadable answer":   {tratest.Faults{Status: 404, Next: 1}, 3, 1, true},
	} {
		f := newFixture(t, conn, tratest.Options{Faults: c.faults}, tra.AuthorityOptions{Retries: c.again})
		if _, err := f.Makes(t.Context()); (err != nil) != c.fails || f.calls() != c.calls {
			t.Errorf("%s: %v after %d calls, want %d", name, err, f.calls(), c.calls)
		}
	}
}

func TestTenOutagesInARowOpenTheBreaker(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{Status: 503, Next: 9}}, tra.AuthorityOptions{})
	for range 9 {
		_, _ = f.Makes(t.Context())
	}
	if _, err := f.Makes(t.Context()); err != nil {
		t.Errorf("after nine: %v", err)
	}
	f.server.SetFaults(tratest.Faults{Status: 503, Next: 10})
	var err error
	for range 11 {
		_, err = f.Makes(t.Context())
	}
	if _, closed := err.(*tra.ThrottleError); !closed || f.calls() != 20 { //nolint:errorlint // the gate's own error
		t.Errorf("after ten: %v, %d calls", err, f.calls())
	}
}

// An answer of the authority is worth the wait for Redis: who loses it must ask
// again.
func TestAnAnswerIsKeptThoughRedisIsAwayWhenItComes(t *testing.T) {
	t.Parallel()
	proxy := redistest.Proxy(t, redistest.Start(t).Addr)
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	simulator, err := tratest.New(tratest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-answer
		simulator.ServeHTTP(w, r)
	}))
	defer server.Close()
	client := newClient(t, tra.Options{BaseURL: server.URL + tratest.Path})
	authority := tra.NewAuthority(client, tra.NewStore(redistest.Open(t, proxy.URL).Client(), tra.StoreOptions{}), tra.AuthorityOptions{})
	toyota := catalogue.Make{ID: simulator.MakeID("TOYOTA"), Name: "TOYOTA"}
	type outcome struct {
		tra.Calculation
		error
	}
	got := make(chan outcome, 1)
	go func() {
		made, err := authority.Details(t.Context(), toyota, fielderOf(0))
		got <- outcome{made, err}
	}()
	<-asked
	proxy.Disable()
	close(answer)
	// go-redis alone tries for a second or so.
	time.AfterFunc(time.Second, proxy.Enable)
	first := <-got
	if first.error != nil {
		t.Fatal(first.error)
	}
	again, err := authority.Details(t.Context(), toyota, fielderOf(0))
	if err != nil || again.Tax.ReferenceNumber != first.Tax.ReferenceNumber || len(asked) != 0 {
		t.Errorf("%v; asked again: %s after %s", err, again.Tax.ReferenceNumber, first.Tax.ReferenceNumber)
	}
}

// tiny says that a total of TZS 2.00 cannot be right.
func tiny(tax vehicle.Tax, _ time.Time) string {
	if tax.TotalTaxesInTZS.String() == "2.00" {
		return "the total is TZS 2.00"
	}
	return ""
}

func TestImplausibleFiguresAreRequestedAgain(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		var answers int
		options := tra.AuthorityOptions{Retries: 3}
		options.OnAnswer = func(_ context.Context, _ tra.Request, _ vehicle.Tax) { answers++ }
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{TinyTotals: true, Next: 2}}, options)
		got, err := f.Details(t.Context(), f.toyota, fielderOf(0))
		if err != nil || len(got.Warnings) != 0 || f.calls() != 3 || answers != 1 {
			t.Errorf("two of three are implausible: %+v, %v, %d calls, %d answers", got, err, f.calls(), answers)
		}
	})
}

func TestImplausibleFiguresThatStayAreAnErrorAndAreNotKept(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		var answers int
		options := tra.AuthorityOptions{Retries: 3}
		options.OnAnswer = func(_ context.Context, _ tra.Request, _ vehicle.Tax) { answers++ }
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{TinyTotals: true}}, options)
		got, err := f.Details(t.Context(), f.toyota, fielderOf(0))
		if !tra.IsImplausible(err) || f.calls() != 3 || answers != 0 {
			t.Fatalf("%+v, %v, %d calls, %d answers", got, err, f.calls(), answers)
		}
		if kept := find(t, conn, "tra:answer:"); kept != "" {
			t.Errorf("kept: %s", kept)
		}
		f.server.SetFaults(tratest.Faults{})
		if got, err = f.Details(t.Context(), f.toyota, fielderOf(0)); err != nil || tiny(got.Tax, got.At) != "" || answers != 1 {
			t.Errorf("after a good answer: %+v, %v", got, err)
		}
	})
}

// A year of the far future would make every answer stale for ever.
func TestAStrangeYearIsNoPeriod(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	f := newFixture(t, conn, tratest.Options{Year: 2099}, tra.AuthorityOptions{})
	if _, err := f.Details(t.Context(), f.toyota, fielderOf(0)); err != nil {
		t.Fatal(err)
	}
	if period := find(t, conn, "tra:period"); period != "" {
		t.Errorf("period %s", period)
	}
}
