package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/vehicle"
)

// carLines adds the price, freight and insurance.
func (b *calculation) carLines() {
	in := b.invoice
	if in.price == nil {
		b.missPrice()
		return
	}
	code, whose := "price_fob", values{"price": b.price()}
	if in.withSea {
		code = "price_cf"
	}
	line := sourced(vehicle.CostLine{Standing: vehicle.Quoted, Date: b.day}, say("source/car", nil))
	if b.car.PriceSource() == vehicle.FromRequest {
		line = b.typedLine()
	}
	sum := both{only(*in.price), only(in.price.Mul(b.rate))}
	b.add(codePrice, figure{sum, line, func() *basis { return basisOf(code, whose) }})
	b.addOrMiss(codeFreight, in.freight, in.noFreight)
	b.addOrMiss(codeInsurance, in.insurance, in.noCover)
}

// price returns the key of the words that name the source of the price: the listing or the caller.
func (b *calculation) price() string {
	return "price_of_" + b.car.PriceSource().Key()
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
	reference := values{"reference": b.implied.tax.ReferenceNumber}
	official := sourced(vehicle.CostLine{Standing: vehicle.Official, Date: dateOf(b.asked)}, say("source/authority", reference))
	all := official
	if b.isComputed() {
		all = sourced(vehicle.CostLine{Standing: vehicle.Typical, Estimated: true, Date: dateOf(b.asked)},
			say("source/authority.computed", reference))
	}
	b.add(codeTaxes, figure{
		both{
			b.taxed.of(func(t taxes) decimal.Decimal { return t.usd }),
			b.taxed.of(func(t taxes) decimal.Decimal { return t.tzs }),
		},
		all, b.taxesBasis,
	})
	for _, fee := range []struct {
		code string
		of   func(taxes) decimal.Decimal
	}{
		{codeHIV, func(t taxes) decimal.Decimal { return t.hiv }},
		{codeRegistration, func(t taxes) decimal.Decimal { return t.registration }},
	} {
		tzs, why := b.taxed.of(fee.of), basisOf("authority", nil)
		if byBattery := b.byBattery(); fee.code == codeRegistration && byBattery != nil {
			tzs, why = tzs.widened(*byBattery), why.and("licence_by_battery", nil)
		}
		b.add(fee.code, figure{both{tzs.over(b.implied.fx), tzs}, official, func() *basis { return why }})
	}
}

// byBattery returns the least and the most that the registration of an electric car can be,
// whose battery the authority's answer does not name; nil for other cars.
func (b *calculation) byBattery() *moneyRange {
	bands := b.tables.law.On(b.window.likely).Registrations(duty.Vehicle{CC: b.cc(), Fuel: b.implied.tax.FuelType})
	if len(bands) < 2 {
		return nil
	}
	return &moneyRange{bands[0].TZS, b.implied.tax.VehicleRegistrationFeeInTZS.Decimal(), bands[len(bands)-1].TZS}
}

// taxedValue returns the value that is taxed, in USD.
func (b *calculation) taxedValue() decimal.Decimal {
	return decimal.Max(b.invoice.base.amount, b.implied.tax.CIFInUSD.Decimal())
}
