package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/vehicle"
)

// impliedRates are the rates that an answer of the authority implies. They give
// its tax at another value or another age. The formula was fitted to one
// complete output (docs/sources.md, Taxes); when it does not reproduce the
// answer, the taxes are assumed to grow in proportion to the value.
type impliedRates struct {
	tax     vehicle.Tax
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

// showing reads the rates of an answer. The fallback is shillings for a dollar
// where its totals give no sensible rate.
func impliedRatesOf(tax vehicle.Tax, fallback decimal.Decimal) impliedRates {
	s := impliedRates{tax: tax, fx: fallback}
	usd, tzs := tax.TotalImportTaxesInUSD.Decimal(), tax.TotalImportTaxesInTZS.Decimal()
	if usd.IsPositive() {
		if fx := tzs.Div(usd).Round(2); fx.GreaterThanOrEqual(minFX) && fx.LessThanOrEqual(maxFX) {
			s.fx, s.derived = fx, true
		}
	}
	if !tax.CIFInUSD.Decimal().IsPositive() {
		return s
	}
	s.rules = s.rates()
	if s.derived {
		s.fx = s.exactFX()
	}
	s.formula = reproduces(tax, s.rules.Compute(duty.Vehicle{}, tax.CIFInUSD.Decimal(), s.fx))
	return s
}

// rates returns the answer's rates, each rounded to a tenth of a percent,
// because rounded cents give 5.00008 %.
func (s impliedRates) rates() duty.Rules {
	cif, tax := s.tax.CIFInUSD.Decimal(), s.tax
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
	computed := s.rules.Compute(duty.Vehicle{}, s.tax.CIFInUSD.Decimal(), s.fx)
	if !near(computed.TotalUSD.Decimal(), s.tax.TotalImportTaxesInUSD.Decimal(), cent) {
		return s.fx
	}
	plain := s.rules
	plain.FeesInVAT = false
	taxes := plain.Compute(duty.Vehicle{}, s.tax.CIFInUSD.Decimal(), s.fx).TotalUSD.Decimal()
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
