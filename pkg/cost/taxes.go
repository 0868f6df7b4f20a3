package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// taxes are the amounts at one value. They are exact unless they are the
// authority's own.
type taxes struct {
	duty, excise, age, vat, fee, railway decimal.Decimal // USD
	usd, tzs                             decimal.Decimal // the import taxes
	hiv, registration                    decimal.Decimal // TZS
	grandTZS                             decimal.Decimal // with the two
}

// fees returns the flat fees in shillings.
func (t taxes) fees() decimal.Decimal { return t.hiv.Add(t.registration) }

// on returns the taxes at a customs value in USD: the authority's figures,
// verbatim, at its own value and below, which it never goes below.
func (s impliedRates) on(cif decimal.Decimal) taxes {
	own := s.tax.CIFInUSD.Decimal()
	switch {
	case !own.IsPositive() || cif.LessThanOrEqual(own):
		return s.verbatim()
	case !s.formula:
		return s.verbatim().times(cif.Div(own))
	}
	return s.computed(cif, s.rules)
}

// computed returns the taxes by the formula.
func (s impliedRates) computed(cif decimal.Decimal, rules duty.Rules) taxes {
	b := rules.Compute(duty.Vehicle{}, cif, s.fx)
	return taxes{
		duty: b.ImportDuty.Decimal(), excise: b.Excise.Decimal(), age: b.AgeExcise.Decimal(), vat: b.VAT.Decimal(),
		fee: b.ProcessingFee.Decimal(), railway: b.RailwayLevy.Decimal(),
		usd: b.TotalUSD.Decimal(), tzs: b.TotalTZS.Decimal(), grandTZS: b.GrandTotalTZS.Decimal(),
		hiv: b.HIVLevy.Decimal(), registration: b.Registration.Decimal(),
	}
}

// under returns the taxes at a customs value as they are charged on a landing day.
func (s impliedRates) under(c charge, cif decimal.Decimal) taxes {
	own := s.tax.CIFInUSD.Decimal()
	switch {
	case c.same || !own.IsPositive():
		return s.on(cif)
	case s.formula:
		return s.computed(decimal.Max(cif, own), c.rules)
	}
	return s.on(cif).aged(decimal.Max(cif, own), c.age.rate, s)
}

// verbatim returns the answer's figures. When its two totals are inconsistent,
// the shillings are converted from its dollars, if it has any.
func (s impliedRates) verbatim() taxes {
	tax := s.tax
	t := taxes{
		duty: tax.ImportDutyInUSD.Decimal(), excise: tax.ExiseDutyInUSD.Decimal(), age: tax.ExiseDutyDueToAgeInUSD.Decimal(),
		vat: tax.VATInUSD.Decimal(), fee: tax.CustomProcessingFeeInUSD.Decimal(), railway: tax.RailwayDevLevyInUSD.Decimal(),
		usd: tax.TotalImportTaxesInUSD.Decimal(), tzs: tax.TotalImportTaxesInTZS.Decimal(),
		grandTZS: tax.TotalTaxesInTZS.Decimal(),
		hiv:      tax.HIVRespLevy.Decimal(), registration: tax.VehicleRegistrationFeeInTZS.Decimal(),
	}
	switch {
	case s.derived:
		return t
	case t.usd.IsPositive():
		t.tzs = t.usd.Mul(s.fx)
	default:
		t.usd = t.tzs.Div(s.fx)
	}
	t.grandTZS = t.tzs.Add(s.fees())
	return t
}

// times multiplies every tax by a factor. The flat fees stay.
func (t taxes) times(factor decimal.Decimal) taxes {
	for _, amount := range []*decimal.Decimal{&t.duty, &t.excise, &t.age, &t.vat, &t.fee, &t.railway, &t.usd, &t.tzs} {
		*amount = amount.Mul(factor)
	}
	t.grandTZS = t.tzs.Add(t.fees())
	return t
}

// taxRange are the taxes at the value that is taxed, on the likely landing day, and
// the least and the most of its range, over all landing days.
type taxRange struct{ low, amount, high taxes }

// likely returns the taxes at a customs value on the likely landing day.
func (b *calculation) likely(cif decimal.Decimal) taxes {
	return b.implied.under(b.chargesOn(b.window.likely)[0], cif)
}

// over returns the taxes over a range of values and the landing days.
func (b *calculation) over(cif moneyRange) taxRange {
	s, amount := b.implied, b.likely(cif.amount)
	all := taxRange{amount, amount, amount}
	for _, day := range b.taxDays() {
		charges := append(b.chargesOn(day), b.chargesUnknown(day)...)
		if listed := b.asListed(); listed != nil {
			charges = append(append(charges, listed.chargesOn(day)...), listed.chargesUnknown(day)...)
		}
		for _, c := range charges {
			if low := s.under(c, cif.low); low.grandTZS.LessThan(all.low.grandTZS) {
				all.low = low
			}
			if high := s.under(c, cif.high); high.grandTZS.GreaterThan(all.high.grandTZS) {
				all.high = high
			}
		}
	}
	return all
}

// of returns one of the taxes.
func (t taxRange) of(one func(taxes) decimal.Decimal) moneyRange {
	return moneyRange{one(t.low), one(t.amount), one(t.high)}.ordered()
}

// aged returns the taxes at a value with another excise duty for age, a fraction of
// the value and the import duty; VAT is charged on that too.
func (t taxes) aged(cif, rate decimal.Decimal, s impliedRates) taxes {
	more := cif.Add(t.duty).Mul(rate).Sub(t.age)
	withVAT := more.Mul(decimal.NewFromInt(1).Add(s.rules.VAT))
	t.age, t.vat = t.age.Add(more), t.vat.Add(withVAT.Sub(more))
	t.usd, t.tzs = t.usd.Add(withVAT), t.tzs.Add(withVAT.Mul(s.fx))
	t.grandTZS = t.grandTZS.Add(withVAT.Mul(s.fx))
	return t
}

// recomputed returns the taxes in the form of the answer.
func (t taxes) recomputed() *vehicle.Recomputed {
	return &vehicle.Recomputed{
		ImportDutyInUSD: rounded(t.duty), ExciseDutyInUSD: rounded(t.excise), ExciseDutyDueToAgeInUSD: rounded(t.age),
		VATInUSD: rounded(t.vat), CustomProcessingFeeInUSD: rounded(t.fee), RailwayDevLevyInUSD: rounded(t.railway),
		TotalImportTaxesInUSD: rounded(t.usd), TotalImportTaxesInTZS: rounded(t.tzs), TotalTaxesInTZS: rounded(t.grandTZS),
	}
}

// rounded returns an amount rounded half up to the cent.
func rounded(value decimal.Decimal) money.Amount { return money.New(cents(value)) }

func cents(value decimal.Decimal) decimal.Decimal {
	const places = 2
	if value.Exponent() >= -places {
		return value // as Round would return it, after some multiplications
	}
	return value.Round(places)
}
