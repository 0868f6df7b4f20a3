package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

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
	fx, own := b.implied.fx, b.implied.tax.CIFInUSD.Decimal()
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
