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
		reason := "the " + b.source() + " gives no price in US dollars, FOB or C&F to Dar es Salaam"
		b.miss(codePrice, reason)
		for _, code := range []string{codeFreight, codeInsurance} {
			if f, _ := b.fee(code); f != nil {
				b.miss(code, reason+", on which this depends")
			}
		}
		return
	}
	term := "FOB, in Japan or where the car is"
	if in.withSea {
		term = "C&F: with freight to Dar es Salaam"
	}
	b.add(vehicle.CostLine{
		Code: codePrice, Basis: "the " + b.source() + "'s price, " + term, Standing: vehicle.Quoted,
		Source: "the " + b.source(), Date: b.day,
	}, only(*in.price), only(in.price.Mul(b.rate)))
	if !in.withSea {
		b.seaLine(codeFreight, facts{m3: b.volume.m3, rate: b.rate})
	}
	b.seaLine(codeInsurance, facts{cf: in.cf, rate: b.rate})
}

// seaLine is a fee that is part of the invoice's CIF.
func (b *calculation) seaLine(code string, by facts) {
	for _, l := range b.tables.lines {
		if l.Code != code {
			continue
		}
		f, gap := b.inForce(l)
		if f == nil {
			if gap {
				b.miss(code, b.whyMissing(l))
			}
			return
		}
		usd, tzs := f.charge(by)
		b.add(vehicle.CostLine{
			Code: code, Basis: b.basis(f), Standing: f.Standing, Estimated: true, Source: f.Source, Date: f.Date,
		}, usd, tzs)
	}
}

// taxLines adds the taxes and fees that the authority charges.
func (b *calculation) taxLines() {
	tax := b.implied.tax
	source := "TRA calculator, reference " + tax.ReferenceNumber
	usd := b.taxed.of(func(t taxes) decimal.Decimal { return t.usd })
	tzs := b.taxed.of(func(t taxes) decimal.Decimal { return t.tzs })
	l := vehicle.CostLine{Code: codeTaxes, Standing: vehicle.Official, Source: source, Date: b.taxDay}
	switch own := tax.CIFInUSD; {
	case b.aboveAuthority():
		l.Standing, l.Estimated = vehicle.Typical, true
		l.Basis = fmt.Sprintf("computed by Ushuru on the invoice's CIF of USD %s, by %s; on its own value (USD %s) TRA charges"+
			" USD %s", rounded(b.invoice.base.amount), b.how(), own, tax.TotalImportTaxesInUSD)
		l.Source += ", at a higher value"
	case usd.isRange():
		l.Basis = fmt.Sprintf("TRA's figure on its own value, USD %s; more when freight and insurance raise the invoice's CIF"+
			" above it", own)
	default:
		l.Basis = fmt.Sprintf("TRA's figure on its own value, USD %s", own)
	}
	b.add(l, usd, tzs)

	hiv, registration := tax.HIVRespLevy.Decimal(), tax.VehicleRegistrationFeeInTZS.Decimal()
	for _, fee := range []struct {
		code string
		tzs  decimal.Decimal
	}{{codeHIV, hiv}, {codeRegistration, registration}} {
		b.add(vehicle.CostLine{
			Code: fee.code, Basis: "TRA's figure", Standing: vehicle.Official, Source: source, Date: b.taxDay,
		}, only(fee.tzs.Div(b.implied.fx)), only(fee.tzs))
	}
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
	if f.Amount.Unit == perM3 {
		if b.volume.listed {
			parts = append(parts, fmt.Sprintf("%s m³ according to the %s", b.volume.m3.amount, b.source()))
		} else {
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
