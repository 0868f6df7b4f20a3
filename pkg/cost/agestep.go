package cost

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// ruleRate is an excise duty for age under dated rules.
type ruleRate struct {
	rate  decimal.Decimal // fraction
	rules string          // first day of the rules
	doubt string          // why it is uncertain; empty when a statute says so and no source disagrees
}

// ageRates returns the excise duties that a car of an age may be charged under
// rules: by statute, and by reported practice when that differs.
func ageRates(rules duty.Rules, car duty.Vehicle) []ruleRate {
	statute, practice := rules.AgeRates(car)
	doubt := ""
	if evidence := rules.Evidence["age_excise"]; evidence.Grade != "primary" && evidence.Grade != "observed" {
		doubt = "the rules of " + rules.From + ", which only one source reports"
	}
	rates := []ruleRate{{statute, rules.From, doubt}}
	if !practice.Equal(statute) {
		rates[0].doubt = "law"
		rates = append(rates, ruleRate{practice, rules.From, "reported practice"})
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
	var (
		doubts []string
		rates  = make([]ruleRate, 0, len(after))
	)
	for _, c := range after {
		rates = append(rates, c.age)
		if c.age.doubt != "" {
			doubts = append(doubts, fmt.Sprintf("%s %% by %s", c.age.rate.Shift(2), c.age.doubt))
		}
	}
	then, _ := b.ageCar(b.asked, b.implied.tax.YOM)
	if _, fit := b.ageRules(then, newYear); !fit {
		doubts = append(doubts, "TRA's present charge fits no known rules")
	}
	step.Disputed = len(doubts) > 0
	step.Note = stepNote(step, b.yearMade(), doubts, rates)
	return step
}

// allTaxes are import taxes and fees in dollars.
func (b *calculation) allTaxes(t taxes) money.Amount {
	return rounded(t.usd.Add(t.fees().Div(b.implied.fx)))
}

func stepNote(step *vehicle.AgeStep, yom int, doubts []string, next []ruleRate) vehicle.Text {
	note := vehicle.Text{Draft: true}
	note.EN = fmt.Sprintf("Made in %d, the car is %d years old and turns %d on %s, when the excise duty for age rises"+
		" from %s %% to %s %%.", yom, step.Age, step.Age+1, step.On, step.PercentNow, step.PercentNext)
	note.SW = fmt.Sprintf("Gari lililotengenezwa mwaka %d lina umri wa miaka %d, na miaka %d kuanzia"+
		" %s, ambapo ushuru wa bidhaa kwa umri (uchakavu) hupanda kutoka %s %% hadi %s %%.",
		yom, step.Age, step.Age+1, step.On, step.PercentNow, step.PercentNext)
	if len(doubts) == 0 {
		return note
	}
	for _, r := range next {
		if r.doubt == "" {
			doubts = append(doubts, fmt.Sprintf("%s %% by the rules of %s", r.rate.Shift(2), r.rules))
		}
	}
	note.EN += " This is disputed: " + strings.Join(doubts, "; ") + ". The higher figure is shown."
	note.SW += " Kiwango hiki hakijathibitishwa; kiasi kikubwa zaidi kimeonyeshwa."
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
			of := rules
			of.AgeExcise = []duty.AgeBand{{Rate: rate.rate}}
			charges[i] = charge{same: rate.rate.Equal(b.charged()), rules: of, age: rate}
		}
		return charges
	}
	return nil
}
