package cost

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

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
	own, most := b.implied.tax.CIFInUSD.Decimal(), b.invoice.base.high
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
