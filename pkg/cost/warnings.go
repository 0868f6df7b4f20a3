package cost

import (
	"fmt"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The stable codes of the warnings of this package.
const (
	WarnAboveAuthority = "price_above_authority_value" // the taxes are reckoned on the listing's price
	WarnUndecided      = "tax_base_undecided"          // freight and insurance decide which value is taxed
	WarnNoPrice        = "price_missing"               // the totals are without the car itself
	WarnAgeStep        = "age_step"                    // dearer when it lands next year
	WarnAgeDisputed    = "age_disputed"                // the excise at this age is disputed
	WarnExchange       = "exchange_rate_odd"           // the authority's totals give no sensible rate
)

var codes = []string{WarnAboveAuthority, WarnUndecided, WarnNoPrice, WarnAgeStep, WarnAgeDisputed, WarnExchange}

func (b *bill) warnings() []vehicle.Warning {
	var warnings []vehicle.Warning
	for _, w := range []vehicle.Warning{
		{Code: WarnNoPrice, Message: b.noPrice()},
		{Code: WarnAboveAuthority, Message: b.above()},
		{Code: WarnUndecided, Message: b.undecided()},
		{Code: WarnAgeStep, Message: b.stepWarning()},
		{Code: WarnAgeDisputed, Message: b.disputed()},
		{Code: WarnExchange, Message: b.oddExchange()},
	} {
		if w.Message != "" {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

func (b *bill) noPrice() string {
	if b.invoice.price != nil {
		return ""
	}
	return fmt.Sprintf("The listing gives no price in US dollars: the drive-away totals are without the car, its freight and"+
		" insurance. If its CIF is above the authority's own value, USD %s, the taxes are higher too.", b.shown.tax.CIFInUSD)
}

func (b *bill) above() string {
	if b.basisOfTax() != vehicle.BasisInvoice || b.invoice.short {
		return ""
	}
	in, own := b.invoice, b.shown.tax.CIFInUSD
	verbatim, used := b.shown.verbatim(), b.taxed.amount
	return fmt.Sprintf("The listing's price makes a CIF of USD %s%s, above the authority's own value, USD %s. The authority is"+
		" reported to tax the higher of the two: then taxes and fees come to TZS %s, not TZS %s as its calculator has it."+
		" The drive-away cost holds the higher; it is the service's computation by %s.", rounded(in.cif.amount),
		b.ofTables(), own, rounded(used.grandTZS), rounded(verbatim.grandTZS), b.how())
}

func (b *bill) undecided() string {
	in, own := b.invoice, b.shown.tax.CIFInUSD
	if in.price != nil && in.short && own.Decimal().IsPositive() {
		return b.explanation().EN
	}
	if b.basisOfTax() != vehicle.BasisUndecided || !in.base.isRange() {
		return ""
	}
	return fmt.Sprintf("The listing's price makes a CIF of USD %s to %s, and the authority's own value, USD %s, lies between:"+
		" freight and insurance on the invoice decide which is taxed. Taxes and fees come to TZS %s to %s; the drive-away"+
		" cost holds TZS %s.", rounded(in.cif.low), rounded(in.cif.high), own, rounded(b.taxed.low.grandTZS),
		rounded(b.taxed.high.grandTZS), rounded(b.taxed.amount.grandTZS))
}

func (b *bill) stepWarning() string {
	s := b.step
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s If the car lands after 31 December %d, taxes and fees are TZS %s (USD %s) instead of TZS %s"+
		" (USD %s), at the same value.", s.Note.EN, b.now.In(duty.EAT).Year(), s.NextTZS, s.NextUSD, s.NowTZS, s.NowUSD)
}

func (b *bill) disputed() string {
	rates := b.disputedNow()
	if rates == nil {
		return ""
	}
	amount := func(rate decimal.Decimal) money.Amount {
		return rounded(b.aged(rate).grandTZS)
	}
	statute, practice := rates[0].rate, rates[1].rate
	return fmt.Sprintf("At %d years the excise by age is disputed: %s %% by statute (taxes and fees TZS %s), %s %% by reported"+
		" practice (TZS %s). The authority's answer has %s %%; what is charged on arrival may differ.",
		duty.Age(b.now, b.shown.tax.YOM), statute.Shift(2), amount(statute), practice.Shift(2), amount(practice),
		b.charged().Shift(2))
}

func (b *bill) oddExchange() string {
	if b.shown.derived {
		return ""
	}
	return fmt.Sprintf("The authority's totals in dollars and shillings give no sensible exchange rate; TZS %s for a dollar is"+
		" used for the taxes too.", b.shown.fx)
}

// ofTables says how sure the invoice's CIF is.
func (b *bill) ofTables() string {
	in := b.invoice
	if !b.estimated() {
		return ""
	}
	what := "freight and insurance"
	if in.withSea {
		what = "insurance"
	}
	return fmt.Sprintf(" (from %s to %s, as its %s by our tables)", rounded(in.cif.low), rounded(in.cif.high), what)
}
