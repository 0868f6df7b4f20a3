package cost

import (
	"slices"
	"strconv"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// whyTaxesDiffer says why the taxes to expect are not those of the authority's
// answer, or that they are.
func (b *calculation) whyTaxesDiffer() vehicle.Sentence {
	v := values{"expect": itoa64(inUnits(b.taxed.amount.grandTZS, unitTZS))}
	cause := b.whyChargedOtherwise()
	key := cause
	switch {
	case !b.hasValue():
		key = "no_value"
	case b.invoice.price == nil || b.invoice.short():
		key = "unknown"
	case b.aboveAuthority() && cause != "":
		key = "price_" + cause
	case b.aboveAuthority():
		key = "price"
	case cause == "":
		key = "same"
	}
	if cause == "year" {
		v["listed"], v["made"] = itoa(b.implied.tax.YOM), itoa(b.yearMade())
	}
	return message.SayCoded("summary/taxes_"+key, v)
}

// whyChargedOtherwise returns why the rates on the likely landing day are not those of the
// authority's answer: the car's own year is another than that of the answer, the car is
// older then, or the rules are others; "" when the rates are those of the answer.
func (b *calculation) whyChargedOtherwise() string {
	c := b.chargesOn(b.window.likely)[0]
	switch {
	case c.same:
		return ""
	case c.age.rate.Equal(b.charged()):
		if b.tables.law.On(b.window.likely).From == b.tables.law.On(b.asked).From {
			return "" // of several rates that sources name, the highest is that of the answer
		}
		return "rules"
	case b.yearMade() != b.implied.tax.YOM:
		return "year"
	case duty.Age(b.window.likely, b.yearMade()) > duty.Age(b.asked, b.yearMade()):
		return "age"
	}
	return "rules"
}

// exchange returns the two exchange rates, and a sentence that states them.
func (b *calculation) exchange() vehicle.Exchange {
	rates := vehicle.ExchangeRates{Taxes: money.NewNumber(b.implied.fx), Others: money.NewNumber(b.rate)}
	key := "summary/exchange"
	if !b.implied.derived {
		key += ".odd"
	}
	return vehicle.Exchange{ExchangeRates: rates, Text: message.SayCoded(key, values{
		"taxes": rates.Taxes.String(), "others": rates.Others.String(),
	})}
}

// summaryText returns one sentence with the number.
func summaryText(s vehicle.Summary) vehicle.Sentence {
	key, sum := "summary/on_the_road", s.OnTheRoad
	switch {
	case sum == nil && s.WithoutFreight != nil:
		key, sum = "summary/without_freight", s.WithoutFreight
		lacks := func(code string) bool {
			return slices.ContainsFunc(s.Missing, func(m vehicle.MissingPart) bool { return m.Code == code })
		}
		switch {
		case !lacks(codeInsurance):
			key += ".freight"
		case !lacks(codeFreight):
			key += ".insurance"
		}
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

type values = message.Values

// say returns a text of the table of texts.
func say(key string, v values) vehicle.Text { return message.Say(key, v) }

func itoa(n int) string { return strconv.Itoa(n) }

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

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
