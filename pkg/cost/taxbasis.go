package cost

import (
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// taxedBecause returns the code of why a value is taxed.
func (b *calculation) taxedBecause() string {
	switch in := b.invoice; {
	case in.price == nil:
		return "no_price"
	case !b.hasValue():
		return "no_value"
	case in.short():
		return "not_known"
	}
	return b.basisOfTax()
}

// whyTaxed says which value is taxed and why. This is the one place that does; the
// others name no more than the basis.
func (b *calculation) whyTaxed() vehicle.Sentence {
	v := values{"source": b.car.Source.Key(), "own": b.implied.tax.CIFInUSD.String()}
	if in := b.invoice; in.price != nil {
		v["price"], v["cif"] = b.price(), rounded(in.cif.amount).String()
		v["low"], v["high"] = rounded(in.cif.low).String(), rounded(in.cif.high).String()
	}
	return message.SayCoded("tax_base/"+b.taxedBecause(), v).And(say("tax_base/reported", nil))
}
