package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// invoice is the value that the listing's price makes, in USD: the price with
// freight and insurance.
type invoice struct {
	price   *decimal.Decimal // nil: the listing gives none in dollars
	withSea bool             // the price is C&F to Dar es Salaam
	cf, cif moneyRange
	base    moneyRange // what is taxed: the higher of CIF and the authority's
	short   bool       // the tables lack freight or insurance: the CIF is more than is known
}

// invoiceOf reads the price. An asking price in yen, or of an auction, is no
// price here: freight and fees on the way to the ship are not known.
func (b *calculation) invoiceOf() invoice {
	own := b.implied.tax.CIFInUSD.Decimal()
	in := invoice{base: only(own)}
	listed := b.car.CFPriceUSD
	if in.withSea = positive(listed); !in.withSea {
		listed = b.car.FOBPriceUSD
	}
	if !positive(listed) {
		return in
	}
	price := listed.Decimal()
	in.price, in.cf = &price, only(price)
	if !in.withSea {
		freight, gap := b.fee(codeFreight)
		if freight != nil {
			usd, _ := freight.charge(facts{m3: b.volume.m3, rate: b.rate})
			in.cf = in.cf.plus(usd)
		}
		in.short = gap
	}
	in.cif = in.cf
	insurance, gap := b.fee(codeInsurance)
	if insurance != nil {
		usd, _ := insurance.charge(facts{cf: in.cf, rate: b.rate})
		in.cif = in.cf.plus(usd)
	}
	in.short = in.short || gap
	in.base = in.cif.atLeast(own)
	return in
}

func positive(n *money.Number) bool { return n != nil && n.Decimal().IsPositive() }

// fee is what is in force of a line, as inForce has it.
func (b *calculation) fee(code string) (f *fee, gap bool) {
	for _, l := range b.tables.lines {
		if l.Code == code {
			return b.inForce(l)
		}
	}
	return nil, false
}

// basisOfTax says which of the two values is taxed.
func (b *calculation) basisOfTax() string {
	own, in := b.implied.tax.CIFInUSD.Decimal(), b.invoice
	switch {
	case in.price == nil, !own.IsPositive():
		return vehicle.BasisUndecided
	case in.cif.low.GreaterThan(own):
		return vehicle.BasisInvoice
	case in.short, in.cif.high.GreaterThan(own):
		return vehicle.BasisUndecided
	default:
		return vehicle.BasisAuthority
	}
}

// estimated reports whether the invoice's CIF holds figures of our tables.
func (b *calculation) estimated() bool {
	return b.invoice.price != nil && !b.invoice.cif.amount.Equal(*b.invoice.price)
}

// taxBase says what the taxes are computed on.
func (b *calculation) taxBase() vehicle.TaxBase {
	own, in := b.implied.tax.CIFInUSD, b.invoice
	base := vehicle.TaxBase{
		Basis: b.basisOfTax(), CIFInUSD: rounded(in.base.amount), AuthorityCIF: own,
		Estimated: b.estimated(), Explanation: b.explanation(),
	}
	if in.price != nil && !in.short {
		low, amount, high := rounded(in.cif.low), rounded(in.cif.amount), rounded(in.cif.high)
		base.InvoiceCIFLow, base.InvoiceCIF, base.InvoiceCIFHigh = &low, &amount, &high
	}
	if b.aboveAuthority() {
		base.Recomputed = b.taxed.amount.recomputed()
	}
	return base
}

// aboveAuthority reports whether the taxes are computed on more than the
// authority's value.
func (b *calculation) aboveAuthority() bool {
	own := b.implied.tax.CIFInUSD.Decimal()
	return own.IsPositive() && b.invoice.base.amount.GreaterThan(own)
}
