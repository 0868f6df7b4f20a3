package tra_test

import (
	"context"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

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
