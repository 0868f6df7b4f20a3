package cost_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// The taxes of a year on landing are those of a car with a low price that lands then.
func TestTaxesOnLandingAreThoseOfTheEstimate(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, localtime.Zone)
	e := vehicle.Estimate{Tax: answer(now, 2019, 1500, "PETROL", "4000"), AsOf: now.Format(time.RFC3339)}
	rates := map[string]bool{}
	for _, day := range []string{"2026-12-31", "2027-01-01", "2028-01-01"} {
		landing := &vehicle.LandingDays{From: day, To: day}
		got := cost.Embedded().OnLanding(e, landing, now)
		priced := e
		priced.Car.FOBPriceUSD = number("1")
		summary := cost.Embedded().Calculate(priced, vehicle.Terms{Landing: landing}, now).Summary
		own := summary.Taxes.OnAuthority
		if apart := got.TotalTaxesInTZS.Decimal().Sub(decimal.NewFromInt(own.TZS)).Abs(); got.Landing != day || apart.GreaterThan(dec("5000")) {
			t.Errorf("%s: %+v, in the summary %d", day, got, own.TZS)
		}
		rates[got.ExciseDueToAgePercent.String()] = true
	}
	if len(rates) < 2 {
		t.Errorf("another year of age changes nothing: %v", rates)
	}
	usual := cost.Embedded().OnLanding(e, nil, now)
	if usual.Landing <= "2026-12-31" || usual.TotalTaxesInTZS.Decimal().LessThanOrEqual(e.Tax.TotalTaxesInTZS.Decimal()) {
		t.Errorf("on the usual day: %+v, today %s", usual, e.Tax.TotalTaxesInTZS)
	}
}
