package cost_test

import (
	"math/rand/v2"
	"testing"

	"ushuru/pkg/cost"
)

// Each scenario lies between the low and the high, one of a question is that of the headline
// to the cent, and the dearest question stands first.
func TestScenariosLieInsideTheRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 12))
	seen := map[string]int{}
	for range 1500 {
		q := randomQuote(r)
		got := cost.Embedded().Calculate(q.estimate, q.terms, q.now).DriveAway
		for i, s := range got.Scenarios {
			seen[s.Code]++
			total := s.TotalTZS.Decimal()
			// Each of some twenty lines is rounded to the cent by itself.
			if total.LessThan(got.LowTZS.Decimal().Sub(dec("1"))) || total.GreaterThan(got.HighTZS.Decimal().Add(dec("1"))) {
				t.Errorf("%s: %s is outside %s to %s: %+v, TRA's year %d", s.Code, s.TotalTZS, got.LowTZS, got.HighTZS, q.estimate.Car, q.estimate.Tax.YOM)
			}
			if s.Likely && s.Question != "tax_base" && s.TotalTZS.String() != got.TotalTZS.String() {
				t.Errorf("%s is the likely one, with %s, and the headline %s", s.Code, s.TotalTZS, got.TotalTZS)
			}
			if s.Text.EN == "" || s.Settle.SW == "" {
				t.Errorf("%+v", s)
			}
			if i == 0 && s.Likely && (got.Assumes == nil || got.Assumes.EN != s.Text.EN) {
				t.Errorf("the headline assumes %v, want %q", got.Assumes, s.Text.EN)
			}
		}
		if !got.Complete && len(got.Scenarios) > 0 {
			t.Errorf("scenarios of a cost that is not complete: %+v", got.Missing)
		}
	}
	for _, code := range []string{"own_year", "listed_year", "authority_value", "invoice_value", "law_of", "law_as_charged", "freight_low", "freight_high", "insurance_low", "insurance_high", "landed_before", "landed_after"} {
		if seen[code] == 0 {
			t.Errorf("%q was never seen: %v", code, seen)
		}
	}
}
