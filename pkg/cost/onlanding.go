package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// OnLanding returns the taxes of a car at the authority's own value on its likely landing
// day, in the middle of the days that the caller names or of the usual ones from now. The
// estimate needs the authority's answer and its entry only.
func (t *Tables) OnLanding(e vehicle.Estimate, landing *vehicle.LandingDays, now time.Time) vehicle.LandingTaxes {
	b := t.begin(e, vehicle.Terms{Landing: landing}, now)
	own := b.implied.tax.CIFInUSD.Decimal()
	taxes := b.likely(own)
	on := vehicle.LandingTaxes{
		Landing: dateOf(b.window.likely), TotalTaxesInTZS: rounded(taxes.grandTZS),
		TotalTaxesInUSD: b.allTaxes(taxes),
	}
	on.ExciseDueToAgePercent = AgePercent(own, taxes.duty, taxes.age)
	return on
}

// AgePercent returns the excise duty due to age as a share of the value with import duty,
// which are in one currency; nil without a value.
func AgePercent(value, importDuty, excise decimal.Decimal) *money.Number {
	const percent, tenths = 100, 1 // cents that are rounded give 15.0008 %
	base := value.Add(importDuty)
	if !base.IsPositive() {
		return nil
	}
	rate := money.NewNumber(excise.Mul(decimal.NewFromInt(percent)).DivRound(base, tenths))
	return &rate
}
