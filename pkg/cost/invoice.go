package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// invoice is the value that the listing's price makes, in USD: the price with
// freight and insurance.
type invoice struct {
	price     *decimal.Decimal // nil: the listing gives none in dollars
	withSea   bool             // the price is C&F to Dar es Salaam
	freight   *figure          // nil: in the price, or not known
	insurance *figure          // nil: there is none, or it is not known
	noFreight bool             // it is not known
	noCover   bool             // the insurance is not known
	cf, cif   moneyRange
	base      moneyRange // what is taxed: the higher of CIF and the authority's
}

// short reports that the CIF is more than is known.
func (in invoice) short() bool { return in.noFreight || in.noCover }

// invoiceOf reads the price. An asking price in yen, or of an auction, is no
// price here: freight and fees on the way to the ship are not known. The caller's
// freight is added to the price without freight, when there is one.
func (b *calculation) invoiceOf() invoice {
	own := b.implied.tax.CIFInUSD.Decimal()
	in := invoice{base: only(own)}
	listed := b.car.CFPriceUSD
	in.withSea = positive(listed) && !b.freightTyped() && !b.hardlyFreight()
	if !in.withSea {
		listed = b.car.FOBPriceUSD
	}
	if !positive(listed) {
		return in
	}
	price := listed.Decimal()
	in.price, in.cf = &price, only(price)
	if !in.withSea {
		if in.freight, in.noFreight = b.freight(); in.freight != nil {
			in.cf = in.cf.plus(in.freight.usd)
		}
	}
	in.cif = in.cf
	if in.insurance, in.noCover = b.insurance(in.cf); in.insurance != nil {
		in.cif = in.cf.plus(in.insurance.usd)
	}
	in.base = in.cif.atLeast(own)
	return in
}

// leastFreight is less than any car was shipped to Dar es Salaam for, in USD.
var leastFreight = decimal.NewFromInt(100)

// hardlyFreight reports a price with freight that is so near to the price without that it
// cannot contain it.
func (b *calculation) hardlyFreight() bool {
	fob, cf := b.car.FOBPriceUSD, b.car.CFPriceUSD
	return positive(fob) && positive(cf) && cf.Decimal().Sub(fob.Decimal()).LessThan(leastFreight)
}

// freightTyped reports whether the caller's freight stands in place of that in the
// price: it needs a price without freight.
func (b *calculation) freightTyped() bool {
	return b.costs.FreightUSD != nil && positive(b.car.FOBPriceUSD)
}

func positive(n *money.Number) bool { return n != nil && n.Decimal().IsPositive() }

// basisOfTax says which of the two values is taxed.
func (b *calculation) basisOfTax() string {
	own, in := b.implied.tax.CIFInUSD.Decimal(), b.invoice
	switch {
	case in.price == nil, !own.IsPositive():
		return vehicle.BasisUndecided
	case in.cif.low.GreaterThan(own):
		return vehicle.BasisInvoice
	case in.short(), in.cif.high.GreaterThan(own):
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
		Estimated: b.estimated(), Explanation: message.SayCoded("tax_base_short/"+b.taxedBecause(), nil),
	}
	if in.price != nil && !in.short() {
		low, amount, high := rounded(in.cif.low), rounded(in.cif.amount), rounded(in.cif.high)
		base.InvoiceCIFLow, base.InvoiceCIF, base.InvoiceCIFHigh = &low, &amount, &high
	}
	if b.isComputed() {
		base.Recomputed = b.taxed.amount.recomputed()
	}
	return base
}

// isComputed reports whether the taxes are the service's own computation: on more
// than the authority's value, or for a landing day with other rates.
func (b *calculation) isComputed() bool {
	return b.aboveAuthority() || b.hasValue() && !b.chargesOn(b.window.likely)[0].same
}

// aboveAuthority reports whether the taxes are computed on more than the
// authority's value.
func (b *calculation) aboveAuthority() bool {
	own := b.implied.tax.CIFInUSD.Decimal()
	return own.IsPositive() && b.invoice.base.amount.GreaterThan(own)
}
