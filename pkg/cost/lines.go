package cost

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// carLines adds the price, freight and insurance.
func (b *calculation) carLines() {
	in := b.invoice
	if in.price == nil {
		b.missPrice()
		return
	}
	term := "FOB, in Japan or where the car is"
	if in.withSea {
		term = "C&F: with freight to Dar es Salaam"
	}
	b.add(codePrice, figure{only(*in.price), only(in.price.Mul(b.rate)), vehicle.CostLine{
		Basis: "the " + b.source() + "'s price, " + term, Standing: vehicle.Quoted,
		Source: "the " + b.source(), Date: b.day,
	}})
	b.addOrMiss(codeFreight, in.freight, in.noFreight)
	b.addOrMiss(codeInsurance, in.insurance, in.noCover)
}

// missPrice says that there is no price, nor what depends on it.
func (b *calculation) missPrice() {
	source := values{"source": b.car.Source.Key()}
	b.miss(codePrice, "no_price", source)
	for _, code := range []string{codeFreight, codeInsurance} {
		if l, ok := b.tables.table(code); ok && len(l.Fees) > 0 && (code != codeInsurance || !isOff(b.costs.Insurance)) {
			b.miss(code, "depends_on_price", source)
		}
	}
}

// taxLines adds the taxes and fees that the authority charges.
func (b *calculation) taxLines() {
	tax := b.implied.tax
	source := "TRA calculator, reference " + tax.ReferenceNumber
	all := figure{
		usd:  b.taxed.of(func(t taxes) decimal.Decimal { return t.usd }),
		tzs:  b.taxed.of(func(t taxes) decimal.Decimal { return t.tzs }),
		line: vehicle.CostLine{Standing: vehicle.Official, Source: source, Date: dateOf(b.asked)},
	}
	switch own := tax.CIFInUSD; {
	case b.isComputed():
		all.line.Standing, all.line.Estimated = vehicle.Typical, true
		all.line.Basis = fmt.Sprintf("computed by Ushuru for a landing on %s, on a CIF of USD %s, by %s",
			dateOf(b.window.likely), rounded(b.taxedValue()), b.how())
		all.line.Source += ", as the basis of the computation"
	case all.usd.isRange():
		all.line.Basis = fmt.Sprintf("TRA's figure on its own value, USD %s; it may be more on the landing day or on the"+
			" invoice's CIF", own)
	default:
		all.line.Basis = fmt.Sprintf("TRA's figure on its own value, USD %s", own)
	}
	b.add(codeTaxes, all)
	for _, fee := range []struct {
		code string
		of   func(taxes) decimal.Decimal
	}{
		{codeHIV, func(t taxes) decimal.Decimal { return t.hiv }},
		{codeRegistration, func(t taxes) decimal.Decimal { return t.registration }},
	} {
		tzs := b.taxed.of(fee.of)
		b.add(fee.code, figure{tzs.over(b.implied.fx), tzs, vehicle.CostLine{
			Basis: "TRA's figure", Standing: vehicle.Official, Source: source, Date: dateOf(b.asked),
		}})
	}
}

// taxedValue returns the value that is taxed, in USD.
func (b *calculation) taxedValue() decimal.Decimal {
	return decimal.Max(b.invoice.base.amount, b.implied.tax.CIFInUSD.Decimal())
}

// how names the method that computes the taxes at another value.
func (b *calculation) how() string {
	if b.implied.formula {
		return "the rates of its answer"
	}
	return "proportion, because its answer does not follow the known formula"
}

// basis explains how a fee is derived.
func (b *calculation) basis(f *fee) string {
	var parts []string
	parts = append(parts, f.Amount.words())
	if f.VAT.IsPositive() {
		parts[0] += fmt.Sprintf(" plus %s %% VAT", f.VAT.Shift(2))
	}
	if f.VATInHigh.IsPositive() {
		parts = append(parts, fmt.Sprintf("the highest figure contains %s %% VAT, which not all sources name",
			f.VATInHigh.Shift(2)))
	}
	if f.Amount.Unit == perM3 {
		switch {
		case b.volume.typed:
			parts = append(parts, fmt.Sprintf("%s m³ according to the request", b.volume.m3.amount))
		case b.volume.listed:
			parts = append(parts, fmt.Sprintf("%s m³ according to the %s", b.volume.m3.amount, b.source()))
		case b.volume.learned != nil:
			parts = append(parts, fmt.Sprintf("%s m³ (%s to %s), %s", b.volume.m3.amount, b.volume.m3.low, b.volume.m3.high,
				b.volume.learned.source().EN))
		default:
			parts = append(parts, fmt.Sprintf("%s m³ (%s to %s), typical of this body, from %s", b.volume.m3.amount,
				b.volume.m3.low, b.volume.m3.high, b.tables.volumes.Source))
		}
	}
	if f.Basis != "" {
		parts = append(parts, f.Basis)
	}
	return strings.Join(parts, "; ")
}

func (p price) words() string {
	percent := p.Value.Shift(2).String() + " % of "
	switch p.Unit {
	case perM3:
		return "USD " + p.Value.String() + " per cubic metre"
	case ofCF:
		return percent + "the price with freight"
	case ofCIF:
		return percent + "the taxed CIF"
	case ofDuty:
		return percent + "the import duty"
	case ofTaxes:
		return percent + "the import taxes"
	case perCarUSD, perCarTZS:
	}
	return string(p.Unit) + " " + rounded(p.Value).String() + " per car"
}

// storageBasis explains how the storage in the port is derived.
func (b *calculation) storageBasis() string {
	s := b.tables.storage
	return fmt.Sprintf("%d days in the port: USD %s per cubic metre and day after %d free days (by older sources %d),"+
		" USD %s after %d days, and USD %s for the removal to another shed; plus %s %% VAT", *b.costs.DaysInPort, s.PerDay,
		s.FreeDays, s.FreeDaysMax, s.Later, s.Days, s.Removal, s.VAT.Shift(2))
}
