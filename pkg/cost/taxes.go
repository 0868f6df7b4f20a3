package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
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

// impliedRates are the rates that an answer of the authority implies. They give
// its tax at another value or another age. The formula was fitted to one
// complete output (docs/sources.md, Taxes); when it does not reproduce the
// answer, the taxes are assumed to grow in proportion to the value.
type impliedRates struct {
	tax     vehicle.Tax
	own     decimal.Decimal // the value in it, CIF in USD
	rules   duty.Rules      // the answer's own rates, not those of a table
	fx      decimal.Decimal // shillings per dollar
	derived bool            // fx is the quotient of the answer's totals
	formula bool            // the rates reproduce the answer
}

var (
	cent     = decimal.New(1, -2)
	fiveCent = decimal.New(5, -2)
	// The dollar was 1,300 (2011) to 2,700 shillings in every known output. A
	// quotient outside the bounds means that the totals are not consistent.
	minFX = decimal.NewFromInt(500)
	maxFX = decimal.NewFromInt(10_000)
)

// impliedRatesOf reads the rates of an answer. The fallback is shillings for a dollar
// where its totals give no sensible rate.
func impliedRatesOf(tax vehicle.Tax, fallback decimal.Decimal) impliedRates {
	s := impliedRates{tax: tax, own: tax.CIFInUSD.Decimal(), fx: fallback}
	usd, tzs := tax.TotalImportTaxesInUSD.Decimal(), tax.TotalImportTaxesInTZS.Decimal()
	if usd.IsPositive() {
		if fx := tzs.Div(usd).Round(2); fx.GreaterThanOrEqual(minFX) && fx.LessThanOrEqual(maxFX) {
			s.fx, s.derived = fx, true
		}
	}
	if !s.own.IsPositive() {
		return s
	}
	s.rules = s.rates()
	if s.derived {
		s.fx = s.exactFX()
	}
	s.formula = reproduces(tax, s.rules.Compute(duty.Vehicle{}, s.own, s.fx))
	return s
}

// rates returns the answer's rates, each rounded to a tenth of a percent,
// because rounded cents give 5.00008 %.
func (s impliedRates) rates() duty.Rules {
	cif, tax := s.own, s.tax
	dutied := cif.Add(tax.ImportDutyInUSD.Decimal())
	base := decimal.Sum(dutied, tax.ExiseDutyInUSD.Decimal(), tax.ExiseDutyDueToAgeInUSD.Decimal(),
		tax.CustomProcessingFeeInUSD.Decimal(), tax.RailwayDevLevyInUSD.Decimal(), s.fees().Div(s.fx))
	return duty.Rules{
		ImportDuty:    snap(tax.ImportDutyInUSD.Decimal().Div(cif)),
		Excise:        []duty.ExciseBand{{Rate: snap(tax.ExiseDutyInUSD.Decimal().Div(dutied))}},
		AgeExcise:     []duty.AgeBand{{Rate: snap(tax.ExiseDutyDueToAgeInUSD.Decimal().Div(dutied))}},
		AgeBase:       duty.OnCIFAndDuty,
		ProcessingFee: snap(tax.CustomProcessingFeeInUSD.Decimal().Div(cif)),
		RailwayLevy:   snap(tax.RailwayDevLevyInUSD.Decimal().Div(cif)),
		VAT:           snap(tax.VATInUSD.Decimal().Div(base)),
		FeesInVAT:     true,
		HIVLevy:       []duty.FeeBand{{TZS: tax.HIVRespLevy.Decimal()}},
		Registration:  []duty.FeeBand{{TZS: tax.VehicleRegistrationFeeInTZS.Decimal()}},
	}
}

func snap(rate decimal.Decimal) decimal.Decimal { return rate.Round(3) }

// fees returns the flat fees in shillings, which are part of the base of the VAT.
func (s impliedRates) fees() decimal.Decimal {
	return s.tax.HIVRespLevy.Decimal().Add(s.tax.VehicleRegistrationFeeInTZS.Decimal())
}

// exactFX solves the formula for the exchange rate. The quotient of the
// printed totals is off by what the dollar total was rounded by, so the exact
// one is taken only where the dollars are printed with cents that fit.
func (s impliedRates) exactFX() decimal.Decimal {
	computed := s.rules.Compute(duty.Vehicle{}, s.own, s.fx)
	if !near(computed.TotalUSD.Decimal(), s.tax.TotalImportTaxesInUSD.Decimal(), cent) {
		return s.fx
	}
	plain := s.rules
	plain.FeesInVAT = false
	taxes := plain.Compute(duty.Vehicle{}, s.own, s.fx).TotalUSD.Decimal()
	exact := s.tax.TotalImportTaxesInTZS.Decimal().Sub(s.rules.VAT.Mul(s.fees())).Div(taxes).Round(2)
	if !near(exact, s.fx, decimal.NewFromInt(1)) {
		return s.fx
	}
	return exact
}

// reproduces reports whether the formula gives every printed line. Outputs of
// 2015 print the dollar total without cents.
func reproduces(tax vehicle.Tax, b duty.Breakdown) bool {
	total, printed := b.TotalUSD.Decimal(), tax.TotalImportTaxesInUSD.Decimal()
	return near(b.ImportDuty.Decimal(), tax.ImportDutyInUSD.Decimal(), cent) &&
		near(b.Excise.Decimal(), tax.ExiseDutyInUSD.Decimal(), cent) &&
		near(b.AgeExcise.Decimal(), tax.ExiseDutyDueToAgeInUSD.Decimal(), cent) &&
		near(b.ProcessingFee.Decimal(), tax.CustomProcessingFeeInUSD.Decimal(), cent) &&
		near(b.RailwayLevy.Decimal(), tax.RailwayDevLevyInUSD.Decimal(), cent) &&
		near(b.VAT.Decimal(), tax.VATInUSD.Decimal(), cent) &&
		(near(total, printed, fiveCent) || total.Round(0).Equal(printed))
}

func near(a, b, within decimal.Decimal) bool { return a.Sub(b).Abs().LessThanOrEqual(within) }

// under returns the taxes at a customs value as they are charged on a landing day.
func (s impliedRates) under(c charge, cif decimal.Decimal) taxes {
	switch {
	case c.same || !s.own.IsPositive():
		return s.on(cif)
	case s.formula:
		return s.computed(decimal.Max(cif, s.own), c.rules)
	}
	return s.on(cif).aged(decimal.Max(cif, s.own), c.age.rate, s)
}

// on returns the taxes at a customs value in USD: the authority's figures,
// verbatim, at its own value and below, which it never goes below.
func (s impliedRates) on(cif decimal.Decimal) taxes {
	switch {
	case !s.own.IsPositive() || cif.LessThanOrEqual(s.own):
		return s.verbatim()
	case !s.formula:
		return s.verbatim().times(cif.Div(s.own))
	}
	return s.computed(cif, s.rules)
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

// times multiplies every tax by a factor. The flat fees stay.
func (t taxes) times(factor decimal.Decimal) taxes {
	for _, amount := range []*decimal.Decimal{&t.duty, &t.excise, &t.age, &t.vat, &t.fee, &t.railway, &t.usd, &t.tzs} {
		*amount = amount.Mul(factor)
	}
	t.grandTZS = t.tzs.Add(t.fees())
	return t
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

// TaxPart is one of the taxes in shillings, from the least to the most that it may be: on
// the authority's own value or the invoice's, on every landing day.
type TaxPart struct {
	Code      string
	Low, High decimal.Decimal
}

// TaxParts returns the taxes of an estimate's car one by one, with the sum of the import
// taxes (import_taxes) and that with levy and registration (taxes_total). There are none
// without a value of the authority.
func (t *Tables) TaxParts(e vehicle.Estimate, terms vehicle.Terms, now time.Time) []TaxPart {
	b := t.begin(e, terms, now)
	if !b.hasValue() {
		return nil
	}
	fx, own := b.implied.fx, b.implied.own
	all := []taxes{b.implied.verbatim()}
	for _, day := range b.taxDays() {
		for _, c := range append(b.chargesOn(day), b.chargesUnknown(day)...) {
			for _, cif := range []decimal.Decimal{own, b.invoice.base.low, b.invoice.base.high} {
				all = append(all, b.implied.under(c, cif))
			}
		}
	}
	usd := func(of func(taxes) decimal.Decimal) func(taxes) decimal.Decimal {
		return func(t taxes) decimal.Decimal { return of(t).Mul(fx) }
	}
	var parts []TaxPart
	for _, part := range []struct {
		code string
		of   func(taxes) decimal.Decimal
	}{
		{"import_duty", usd(func(t taxes) decimal.Decimal { return t.duty })},
		{"excise_duty", usd(func(t taxes) decimal.Decimal { return t.excise })},
		{"excise_due_to_age", usd(func(t taxes) decimal.Decimal { return t.age })},
		{"vat", usd(func(t taxes) decimal.Decimal { return t.vat })},
		{"processing_fee", usd(func(t taxes) decimal.Decimal { return t.fee })},
		{"railway_levy", usd(func(t taxes) decimal.Decimal { return t.railway })},
		{codeTaxes, func(t taxes) decimal.Decimal { return t.tzs }},
		{codeHIV, func(t taxes) decimal.Decimal { return t.hiv }},
		{codeRegistration, func(t taxes) decimal.Decimal { return t.registration }},
		{"taxes_total", func(t taxes) decimal.Decimal { return t.grandTZS }},
	} {
		p := TaxPart{part.code, part.of(all[0]), part.of(all[0])}
		for _, t := range all[1:] {
			p.Low, p.High = decimal.Min(p.Low, part.of(t)), decimal.Max(p.High, part.of(t))
		}
		if byBattery := b.byBattery(); byBattery != nil && (part.code == codeRegistration || part.code == "taxes_total") {
			fee := b.implied.tax.VehicleRegistrationFeeInTZS.Decimal()
			p.Low = decimal.Min(p.Low, p.Low.Add(byBattery.low.Sub(fee)))
			p.High = decimal.Max(p.High, p.High.Add(byBattery.high.Sub(fee)))
		}
		parts = append(parts, p)
	}
	return parts
}
