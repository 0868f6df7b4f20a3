package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// ruleRate is an excise duty for age under dated rules.
type ruleRate struct {
	rate  decimal.Decimal // fraction
	rules string          // first day of the rules
	doubt string          // why it is uncertain, a key of the texts on the step; empty when it is not
}

// ageRates returns the excise duties that a car of an age may be charged under
// rules: by statute, and by reported practice when that differs.
func ageRates(rules duty.Rules, car duty.Vehicle) []ruleRate {
	statute, practice := rules.AgeRates(car)
	doubt := ""
	if evidence := rules.Evidence["age_excise"]; evidence.Grade != "primary" && evidence.Grade != "observed" {
		doubt = "one_source"
	}
	rates := []ruleRate{{statute, rules.From, doubt}}
	if !practice.Equal(statute) {
		rates[0].doubt = "law"
		rates = append(rates, ruleRate{practice, rules.From, "practice"})
	}
	return rates
}

// ageStep returns the first rise of the excise duty for age on a 1 January after the
// day of the calculation, up to the last landing day; nil when there is none.
func (b *calculation) ageStep() *vehicle.AgeStep {
	if !b.hasAgeSteps() {
		return nil
	}
	for _, newYear := range newYears(b.now, b.window.to) {
		eve := newYear.AddDate(0, 0, -1)
		before, after := b.chargesOn(eve)[0], b.chargesOn(newYear)
		if after[0].age.rate.GreaterThan(before.age.rate) {
			b.stepDay = newYear
			return b.stepOn(newYear, before, after)
		}
	}
	return nil
}

// stepOn returns the step on a 1 January.
func (b *calculation) stepOn(newYear time.Time, before charge, after []charge) *vehicle.AgeStep {
	cif := b.taxedValue()
	now, next := b.implied.under(before, cif), b.implied.under(after[0], cif)
	step := &vehicle.AgeStep{
		On: dateOf(newYear), Age: duty.Age(newYear, b.yearMade()) - 1,
		PercentNow: percent(before.age.rate), PercentNext: percent(after[0].age.rate),
		NowUSD: b.allTaxes(now), NowTZS: rounded(now.grandTZS),
		NextUSD: b.allTaxes(next), NextTZS: rounded(next.grandTZS),
	}
	doubts, disputed := b.stepDoubts(newYear, after)
	step.Disputed = disputed
	step.Note = stepNote(step, b.yearMade(), doubts)
	return step
}

// stepDoubts returns what is disputed about the rates after a step, with the
// rates beside them that are not.
func (b *calculation) stepDoubts(newYear time.Time, after []charge) (doubts message.Parts, disputed bool) {
	doubts.Separator = "; "
	add := func(key string, rate ruleRate) {
		doubts.Add("age_step/"+key, values{"percent": rate.rate.Shift(2).String(), "rules": rate.rules})
	}
	for _, c := range after {
		if c.age.doubt != "" {
			add(c.age.doubt, c.age)
		}
	}
	then, _ := b.ageCar(b.asked, b.implied.tax.YOM)
	if _, fit := b.ageRules(then, newYear); !fit {
		doubts.Add("age_step/unknown_rules", nil)
	}
	if len(doubts.List()) == 0 {
		return doubts, false
	}
	for _, c := range after {
		if c.age.doubt == "" {
			add("rules", c.age)
		}
	}
	return doubts, true
}

// allTaxes are import taxes and fees in dollars.
func (b *calculation) allTaxes(t taxes) money.Amount {
	return rounded(t.usd.Add(t.fees().Div(b.implied.fx)))
}

// stepNote says what rises, and what is disputed about it.
func stepNote(step *vehicle.AgeStep, made int, doubts message.Parts) vehicle.Sentence {
	note := message.SayCoded("age_step/rise", values{
		"made": itoa(made), "age": itoa(step.Age), "next": itoa(step.Age + 1), "on": step.On,
		"now": step.PercentNow.String(), "then": step.PercentNext.String(),
	})
	if step.Disputed {
		note = note.And(message.SayWith("age_step/disputed", nil, map[string]vehicle.Text{"doubts": doubts.Text()}))
	}
	return note
}

func percent(rate decimal.Decimal) money.Number { return money.NewNumber(rate.Shift(2)) }

// disputedCharges returns the charges for the car's age on the likely landing day, by
// statute and by reported practice, when rules that the answer fits disagree about it.
func (b *calculation) disputedCharges() []charge {
	then, known := b.ageCar(b.asked, b.implied.tax.YOM)
	sets, fit := b.ageRules(then, b.window.likely)
	if !known || !fit || !b.hasAgeSteps() {
		return nil
	}
	car, rules := then, b.chargesOn(b.window.likely)[0].rules
	car.Age = duty.Age(b.window.likely, b.yearMade())
	for _, set := range sets {
		rates := ageRates(set, car)
		if len(rates) < 2 {
			continue
		}
		charges := make([]charge, len(rates))
		for i, rate := range rates {
			charges[i] = rate.under(rules)
			charges[i].same = rate.rate.Equal(b.charged())
		}
		return charges
	}
	return nil
}
