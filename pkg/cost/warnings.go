package cost

import (
	"fmt"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The stable codes of the warnings of this package.
const (
	WarnAboveAuthority = "price_above_authority_value" // the taxes are computed on the listing's price
	WarnUndecided      = "tax_base_undecided"          // freight and insurance decide which value is taxed
	WarnNoPrice        = "price_missing"               // the totals exclude the car itself
	WarnAgeStep        = "age_step"                    // the taxes rise when the car lands next year
	WarnAgeDisputed    = "age_disputed"                // sources disagree about the excise duty at this age
	WarnExchange       = "exchange_rate_odd"           // the authority's totals imply no plausible rate
)

var codes = []string{WarnAboveAuthority, WarnUndecided, WarnNoPrice, WarnAgeStep, WarnAgeDisputed, WarnExchange}

func (b *calculation) warnings() []vehicle.Warning {
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

func (b *calculation) noPrice() string {
	if b.invoice.price != nil {
		return ""
	}
	return fmt.Sprintf("The %s gives no price in US dollars, so the totals exclude the car, freight and insurance. If its CIF"+
		" is above TRA's value (USD %s), the taxes are higher too.", b.source(), b.implied.tax.CIFInUSD)
}

func (b *calculation) above() string {
	if b.basisOfTax() != vehicle.BasisInvoice || b.invoice.short() {
		return ""
	}
	in, own := b.invoice, b.implied.tax.CIFInUSD
	onOwn, used := b.onOwn(), b.taxed.amount
	return fmt.Sprintf("The %s's price gives a CIF of USD %s%s, above TRA's value of USD %s. TRA reportedly taxes the higher"+
		" value: then taxes and fees are TZS %s instead of TZS %s. The drive-away cost uses the higher amount, computed by %s.",
		b.source(), rounded(in.cif.amount), b.ofTables(), own, rounded(used.grandTZS), rounded(onOwn.grandTZS), b.how())
}

// onOwn returns the taxes on the authority's own value on the likely landing day.
func (b *calculation) onOwn() taxes {
	return b.likely(b.implied.tax.CIFInUSD.Decimal())
}

func (b *calculation) undecided() string {
	in, own := b.invoice, b.implied.tax.CIFInUSD
	if in.price != nil && in.short() && own.Decimal().IsPositive() {
		return b.explanation().EN
	}
	if b.basisOfTax() != vehicle.BasisUndecided || !in.base.isRange() {
		return ""
	}
	return fmt.Sprintf("The %s's price gives a CIF of USD %s to %s, and TRA's value (USD %s) lies within that range; freight"+
		" and insurance on the invoice decide. Taxes and fees are TZS %s to %s; the drive-away cost uses TZS %s.",
		b.source(), rounded(in.cif.low), rounded(in.cif.high), own, rounded(b.taxed.low.grandTZS),
		rounded(b.taxed.high.grandTZS), rounded(b.taxed.amount.grandTZS))
}

func (b *calculation) stepWarning() string {
	s := b.step
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s If the car lands after 31 December %d, taxes and fees are TZS %s (USD %s) instead of TZS %s"+
		" (USD %s), at the same value.", s.Note.EN, b.now.In(duty.EAT).Year(), s.NextTZS, s.NextUSD, s.NowTZS, s.NowUSD)
}

func (b *calculation) disputed() string {
	charges := b.disputedCharges()
	if charges == nil {
		return ""
	}
	amount := func(c charge) money.Amount { return rounded(b.implied.under(c, b.taxedValue()).grandTZS) }
	statute, practice := charges[0], charges[1]
	return fmt.Sprintf("Sources disagree about the excise duty for age at %d years: %s %% by law (TZS %s), %s %% in practice"+
		" (TZS %s). TRA's answer uses %s %%; the charge on arrival may differ.",
		duty.Age(b.window.likely, b.yearMade()), statute.age.rate.Shift(2), amount(statute), practice.age.rate.Shift(2),
		amount(practice), b.charged().Shift(2))
}

func (b *calculation) oddExchange() string {
	if b.implied.derived {
		return ""
	}
	return fmt.Sprintf("TRA's totals imply no plausible exchange rate, so TZS %s per dollar is used for the taxes too.",
		b.implied.fx)
}

// ofTables states how certain the invoice's CIF is.
func (b *calculation) ofTables() string {
	in := b.invoice
	if !b.estimated() {
		return ""
	}
	what := "freight and insurance"
	if in.withSea {
		what = "insurance"
	}
	return fmt.Sprintf(" (%s to %s with %s from our tables)", rounded(in.cif.low), rounded(in.cif.high), what)
}
