package tra_test

import (
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
)

func TestACallThatFailsAtOnceIsMadeAgain(t *testing.T) {
	conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, c := range map[string]struct {
		faults tratest.Faults
		again  int
		calls  int
		fails  bool
	}{
		"twice":                       {tratest.Faults{Status: 503, Next: 2}, 3, 3, false},
		"more often than that":        {tratest.Faults{Status: 503, Next: 4}, 3, 4, true},
		"when nobody wants that":      {tratest.Faults{Status: 503, Next: 1}, 0, 1, true},
		"with a word on when to come": {tratest.Faults{Status: 503, RetryAfter: 1, Next: 1}, 3, 1, true},
		"with an unreadable answer":   {tratest.Faults{Status: 404, Next: 1}, 3, 1, true},
	} {
		f := newFixture(t, conn, tratest.Options{Faults: c.faults}, tra.AuthorityOptions{Again: c.again})
		if _, err := f.Makes(t.Context()); (err != nil) != c.fails || f.calls() != c.calls {
			t.Errorf("%s: %v after %d calls, want %d", name, err, f.calls(), c.calls)
		}
	}
}

func TestTenOutagesInARowOpenTheBreaker(t *testing.T) {
	conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{Status: 503, Next: 9}}, tra.AuthorityOptions{})
	for range 9 {
		_, _ = f.Makes(t.Context())
	}
	if _, err := f.Makes(t.Context()); err != nil {
		t.Errorf("after nine: %v", err)
	}
	f.server.SetFaults(tratest.Faults{Status: 503, Next: 10})
	for range 11 {
		_, err = f.Makes(t.Context())
	}
	if _, closed := err.(*tra.GateError); !closed || f.calls() != 20 { //nolint:errorlint // the gate's own error
		t.Errorf("after ten: %v, %d calls", err, f.calls())
	}
}
