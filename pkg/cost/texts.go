package cost

import (
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// whyTaxesDiffer says why the taxes to expect are not those of the authority's
// answer, or that they are.
func (b *calculation) whyTaxesDiffer() vehicle.Sentence {
	c := b.chargesOn(b.window.likely)[0]
	key := "same"
	switch above := b.aboveAuthority(); {
	case c.same && above:
		key = "price"
	case c.same:
	case c.age.rate.Equal(b.charged()):
		key = "rules"
	case above:
		key = "price_and_age"
	default:
		key = "age"
	}
	return message.SayCoded("summary/taxes_"+key, values{"expect": itoa64(inUnits(b.taxed.amount.grandTZS, unitTZS))})
}

// exchange returns the two exchange rates, and a sentence that states them.
func (b *calculation) exchange() vehicle.Exchange {
	rates := vehicle.ExchangeRates{Taxes: money.NewNumber(b.implied.fx), Others: money.NewNumber(b.rate)}
	return vehicle.Exchange{ExchangeRates: rates, Text: message.SayCoded("summary/exchange", values{
		"taxes": rates.Taxes.String(), "others": rates.Others.String(),
	})}
}

// summaryText returns one sentence with the number.
func summaryText(s vehicle.Summary) vehicle.Sentence {
	key, sum := "summary/on_the_road", s.OnTheRoad
	switch {
	case sum == nil && s.PortAndTaxesOnly == nil:
		return message.SayCoded("summary/incomplete", nil)
	case sum == nil:
		key, sum = "summary/port_and_taxes", s.PortAndTaxesOnly
	case s.Landing.From == s.Landing.To:
		key = "summary/on_the_road_day"
	}
	return message.SayCoded(key, values{
		"tzs": itoa64(sum.TZS), "low": itoa64(sum.LowTZS), "high": itoa64(sum.HighTZS),
		"from": s.Landing.From, "to": s.Landing.To,
	})
}
