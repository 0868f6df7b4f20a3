package cost

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The questions that scenarios answer.
const (
	questionYear    = "year"
	questionTaxBase = "tax_base"
	questionLaw     = "law"
	questionFreight = "freight"
	questionLanding = "landing"
)

// worthSaying is the difference in shillings from which on a question makes scenarios.
var worthSaying = unitTZS

// scenarios returns the cost by each answer to each open question, with the others as the
// headline has them. The question that may cost most stands first. There are none where the
// cost is not complete.
func (b *calculation) scenarios() []vehicle.Scenario {
	if len(b.missing) > 0 || !b.hasValue() {
		return nil
	}
	type open struct {
		worth decimal.Decimal
		of    []vehicle.Scenario
	}
	var questions []open
	for _, of := range [][]vehicle.Scenario{b.byYear(), b.byTaxBase(), b.byLaw(), b.byFreight(), b.byLanding()} {
		if worth := worthOf(of); worth.GreaterThanOrEqual(worthSaying) {
			settle := message.Say("settle/"+of[0].Question, values{"worth": rounded(worth).String()})
			for i := range of {
				of[i].Settle = settle
			}
			questions = append(questions, open{worth, of})
		}
	}
	slices.SortStableFunc(questions, func(p, q open) int { return q.worth.Cmp(p.worth) })
	var all []vehicle.Scenario
	for _, q := range questions {
		all = append(all, q.of...)
	}
	return all
}

// worthOf returns by how much the totals of scenarios differ.
func worthOf(of []vehicle.Scenario) decimal.Decimal {
	if len(of) == 0 {
		return decimal.Zero
	}
	byTotal := func(s, t vehicle.Scenario) int { return s.TotalTZS.Decimal().Cmp(t.TotalTZS.Decimal()) }
	return slices.MaxFunc(of, byTotal).TotalTZS.Decimal().Sub(slices.MinFunc(of, byTotal).TotalTZS.Decimal())
}

// scenario returns the cost with another invoice or other taxes.
func (b *calculation) scenario(question, code string, v values, in invoice, t taxes) vehicle.Scenario {
	c := *b
	c.silent, c.lines, c.missing = true, nil, nil
	c.invoice, c.taxed = in, taxRange{t, t, t}
	c.window.from, c.window.to = c.window.likely, c.window.likely
	c.facts = c.factsOf().likely()
	c.bill()
	return c.asScenario(question, code, v)
}

// headline returns the likely scenario, whose cost is that of the headline.
func (b *calculation) headline(question, code string, v values) vehicle.Scenario {
	s := b.asScenario(question, code, v)
	s.Likely = true
	return s
}

// asScenario returns the sums of the lines.
func (b *calculation) asScenario(question, code string, v values) vehicle.Scenario {
	sum := b.exact()
	return vehicle.Scenario{
		Question: question, Code: code, Text: message.SayCoded("scenario/"+code, v),
		TotalUSD: money.New(sum.usd.amount), TotalTZS: money.New(sum.tzs.amount),
	}
}

// byYear: the age is that of the car's own year, or of the authority's.
func (b *calculation) byYear() []vehicle.Scenario {
	listed := b.asListed()
	if listed == nil || !b.hasAgeSteps() {
		return nil
	}
	own := b.headline(questionYear, "own_year", values{"made": itoa(b.yearMade())})
	v := values{"listed": itoa(b.implied.tax.YOM)}
	return []vehicle.Scenario{own, b.scenario(questionYear, "listed_year", v, b.invoice, listed.likely(b.taxedValue()))}
}

// byTaxBase: the authority's value is taxed, or the invoice.
func (b *calculation) byTaxBase() []vehicle.Scenario {
	if b.basisOfTax() != vehicle.BasisUndecided || b.invoice.price == nil {
		return nil
	}
	own, most := b.implied.own, b.invoice.base.high
	with := func(code string, value decimal.Decimal) vehicle.Scenario {
		in := b.invoice
		in.base = only(value)
		return b.scenario(questionTaxBase, code, values{"value": rounded(value).String()}, in, b.likely(value))
	}
	all := []vehicle.Scenario{with("authority_value", own), with("invoice_value", most)}
	all[0].Likely = !b.aboveAuthority()
	return all
}

// byLaw: sources disagree about the excise duty for age, or the rules are not known.
func (b *calculation) byLaw() []vehicle.Scenario {
	charges := append(b.chargesOn(b.window.likely), b.chargesUnknown(b.window.likely)...)
	all := make([]vehicle.Scenario, 0, len(charges))
	for i, c := range charges {
		v := values{"percent": c.age.rate.Shift(2).String()}
		code := "law_as_charged"
		switch {
		case c.announced != "":
			code, v = "law_announced", values{"rules": c.announced}
		case c.age.rules != "":
			code, v["rules"] = "law_of", c.age.rules
		}
		if i == 0 {
			all = append(all, b.headline(questionLaw, code, v))
			continue
		}
		all = append(all, b.scenario(questionLaw, code, v, b.invoice, b.implied.under(c, b.taxedValue())))
	}
	return all
}

// byFreight: the freight and insurance of our tables are low, or high.
func (b *calculation) byFreight() []vehicle.Scenario {
	in := b.invoice
	if in.freight == nil || !in.cif.isRange() {
		return nil
	}
	at := func(code string, of func(moneyRange) decimal.Decimal) vehicle.Scenario {
		sea := in
		fixed := func(f *figure) *figure {
			if f == nil {
				return nil
			}
			one := *f
			one.usd, one.tzs = only(of(f.usd)), only(of(f.tzs))
			return &one
		}
		sea.freight, sea.insurance = fixed(in.freight), fixed(in.insurance)
		sea.cf, sea.cif, sea.base = only(of(in.cf)), only(of(in.cif)), only(of(in.base))
		v := values{"freight": rounded(of(in.freight.usd)).String()}
		if !in.freight.usd.isRange() && in.insurance != nil { // the freight is known, and the insurance alone is open
			code = strings.Replace(code, "freight", "insurance", 1)
			v = values{"insurance": rounded(of(in.insurance.usd)).String()}
		}
		return b.scenario(questionFreight, code, v, sea, b.likely(sea.base.amount))
	}
	return []vehicle.Scenario{
		at("freight_low", func(r moneyRange) decimal.Decimal { return r.low }),
		at("freight_high", func(r moneyRange) decimal.Decimal { return r.high }),
	}
}

// byLanding: the car lands before the taxes rise on a 1 January, or after.
func (b *calculation) byLanding() []vehicle.Scenario {
	if b.step == nil || !b.window.from.Before(b.stepDay) || b.window.to.Before(b.stepDay) {
		return nil
	}
	landed := func(code string, day time.Time) vehicle.Scenario {
		taxes := b.implied.under(b.chargesOn(day)[0], b.taxedValue())
		return b.scenario(questionLanding, code, values{"on": b.step.On}, b.invoice, taxes)
	}
	all := []vehicle.Scenario{landed("landed_before", b.stepDay.AddDate(0, 0, -1)), landed("landed_after", b.stepDay)}
	all[0].Likely = b.window.likely.Before(b.stepDay)
	all[1].Likely = !all[0].Likely
	return all
}

// assumes returns what the headline assumes about the question that may cost most; nil when
// nothing is open.
func assumes(scenarios []vehicle.Scenario) *vehicle.Sentence {
	for _, s := range scenarios {
		if s.Likely {
			return &s.Text
		}
	}
	return nil
}

// sums computes a copy of a calculation with another price or other landing days: its lines have
// amounts and no words.
func sums(b calculation) *calculation {
	b.silent, b.lines, b.missing = true, nil, nil
	b.figures()
	b.bill()
	return &b
}

// onDays returns the sums of the car when it lands on other days.
func (b *calculation) onDays(from, to time.Time) *calculation {
	other := *b
	other.window = windowBetween(from, to)
	return sums(other)
}

// atPrice returns the sums of the car at another price, FOB or C&F.
func (b *calculation) atPrice(price int64, withSea bool) *calculation {
	other, usd := *b, money.NewNumber(decimal.NewFromInt(price))
	if other.car.FOBPriceUSD, other.car.CFPriceUSD = &usd, nil; withSea {
		other.car.FOBPriceUSD, other.car.CFPriceUSD = nil, &usd
	}
	return sums(other)
}

// maxPrice returns the highest prices of the car, FOB and C&F, at which its cost on the road is
// within a target in shillings.
func (b *calculation) maxPrice(target decimal.Decimal) *vehicle.MaxPrice {
	search := func(withSea bool) *vehicle.PriceLimits {
		total := func(price int64) (spread moneyRange, ok bool) {
			c := b.atPrice(price, withSea)
			return c.asRead(c.exact().tzs), len(c.missing) == 0
		}
		return limits(total, target, target.Div(b.rate).IntPart()+1) // a price that is certainly above it
	}
	return &vehicle.MaxPrice{TargetTZS: target.IntPart(), FOB: search(false), CF: search(true)}
}

// asRead returns a total as the answer at the price says it, where rounding makes it more:
// no answer at the highest price may name more than the target.
func (b *calculation) asRead(exact moneyRange) moneyRange {
	said := b.onTheRoad()
	if said == nil {
		return exact
	}
	more := func(exact decimal.Decimal, said int64) decimal.Decimal {
		return decimal.Max(exact, decimal.NewFromInt(said))
	}
	return moneyRange{more(exact.low, said.LowTZS), more(exact.amount, said.TZS), more(exact.high, said.HighTZS)}
}

// limits searches the prices at which the highest, the likely and the lowest total
// just meet the target. It returns nil when something to pay is not known, and a nil
// price where even a car for one dollar costs more. A car for above costs more in any
// case.
func limits(total func(int64) (moneyRange, bool), target decimal.Decimal, above int64) *vehicle.PriceLimits {
	least, ok := total(1)
	if !ok {
		return nil
	}
	most, _ := total(above)
	known := map[int64]moneyRange{1: least, above: most}
	search := func(of func(moneyRange) decimal.Decimal) *int64 {
		sum := func(price int64) decimal.Decimal {
			if _, has := known[price]; !has {
				known[price], _ = total(price)
			}
			return of(known[price])
		}
		if sum(1).GreaterThan(target) {
			return nil
		}
		fits, tooHigh := int64(1), above
		for step := 0; fits+1 < tooHigh; step++ {
			price := (fits + tooHigh) / 2
			if step%3 < 2 { // totals are lines with a few bends
				price = between(fits, tooHigh, sum(fits), sum(tooHigh), target)
			}
			if sum(price).GreaterThan(target) {
				tooHigh = price
			} else {
				fits = price
			}
		}
		return &fits
	}
	return &vehicle.PriceLimits{
		Low:    search(func(s moneyRange) decimal.Decimal { return s.high }),
		Likely: search(func(s moneyRange) decimal.Decimal { return s.amount }),
		High:   search(func(s moneyRange) decimal.Decimal { return s.low }),
	}
}

// between returns the price between two prices at which a line through their totals
// meets the target.
func between(low, high int64, atLow, atHigh, target decimal.Decimal) int64 {
	price := low + target.Sub(atLow).Mul(decimal.NewFromInt(high-low)).DivRound(atHigh.Sub(atLow), 0).IntPart()
	return min(max(price, low+1), high-1)
}

// monthsAhead is for how many months of landing the cost is computed.
const monthsAhead = 12

// byMonth returns the cost on the road of a car that lands in this month, and in each of
// the next ones.
func (b *calculation) byMonth() *vehicle.ByMonth {
	today := midnight(b.now)
	first := today.AddDate(0, 0, 1-today.Day())
	months := make([]vehicle.MonthCost, monthsAhead)
	newYear, newRules := false, ""
	for i := range months {
		from, to := first.AddDate(0, i, 0), first.AddDate(0, i+1, -1)
		if from.Before(today) {
			from = today
		}
		older, later := !b.knowsAge(to), !b.knowsRules(to)
		months[i] = vehicle.MonthCost{
			Month: from.Format(monthOnly), OnTheRoad: b.onDays(from, to).onTheRoad(),
			Assumed: older || later,
		}
		if newYear = newYear || older; later && newRules == "" {
			newRules = dateOf(from)
		}
	}
	return &vehicle.ByMonth{Months: months, Text: monthsText(newYear, newRules)}
}

// monthOnly is the form of a month: 2027-01.
const monthOnly = "2006-01"

// knowsAge reports whether the excise duty for age on a landing day is known: the car is
// as old as in the authority's answer, or the answer follows known rules on age.
func (b *calculation) knowsAge(day time.Time) bool {
	then, known := b.ageCar(b.asked, b.implied.tax.YOM)
	if known && duty.Age(day, b.yearMade()) == then.Age {
		return true
	}
	_, fit := b.ageRules(then, day)
	return known && fit && b.hasAgeSteps()
}

// monthsText says what is assumed about the months.
func monthsText(newYear bool, newRules string) vehicle.Sentence {
	text := message.SayCoded("by_month/value", nil)
	if newYear {
		text = text.And(say("by_month/age", nil))
	}
	if newRules != "" {
		text = text.And(say("by_month/rules", values{"from": newRules}))
	}
	return text
}
