package cost

import (
	"fmt"
	"slices"
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

// ageRules returns the rules that the authority's answer fits: those in force on
// a day, those before them, or both. When it fits neither, ageRules returns those
// in force and fits is false.
func (b *calculation) ageRules(on time.Time, car duty.Vehicle) (fitting []duty.Rules, fits bool) {
	inForce := duty.On(on)
	candidates := []duty.Rules{inForce}
	if before, ok := inForce.Before(); ok {
		candidates = append(candidates, before)
	}
	charged := b.charged()
	for _, rules := range candidates {
		if slices.ContainsFunc(ageRates(rules, car), func(r ruleRate) bool { return r.rate.Equal(charged) }) {
			fitting = append(fitting, rules)
		}
	}
	if len(fitting) == 0 {
		return candidates[:1], false
	}
	return fitting, true
}

// charged returns the excise duty for age of the authority's answer, a fraction.
func (b *calculation) charged() decimal.Decimal {
	if len(b.implied.rules.AgeExcise) == 0 {
		return decimal.Zero
	}
	return b.implied.rules.AgeExcise[0].Rate
}

// ageCar returns the vehicle that the rules on age need; false when the answer
// lacks its year or value.
func (b *calculation) ageCar() (duty.Vehicle, bool) {
	tax := b.implied.tax
	car := duty.Vehicle{Fuel: tax.FuelType, Age: duty.Age(b.now, tax.YOM)}
	return car, tax.YOM > 0 && tax.CIFInUSD.Decimal().IsPositive()
}

// ageStep returns the rise of the excise duty in the next calendar year; nil
// when there is none.
func (b *calculation) ageStep() *vehicle.AgeStep {
	car, known := b.ageCar()
	if !known {
		return nil
	}
	newYear := time.Date(b.now.In(duty.EAT).Year()+1, time.January, 1, 0, 0, 0, 0, duty.EAT)
	rules, fits := b.ageRules(newYear, car)
	older := car
	older.Age++
	var next []ruleRate
	for _, r := range rules {
		next = append(next, ageRates(r, older)...)
	}
	highest := slices.MaxFunc(next, func(x, y ruleRate) int { return x.rate.Cmp(y.rate) })
	charged := b.charged()
	if !highest.rate.GreaterThan(charged) {
		return nil
	}
	now := b.taxed.amount
	after := b.aged(highest.rate)
	step := &vehicle.AgeStep{
		On: newYear.Format(time.DateOnly), Age: car.Age,
		PercentNow: percent(charged), PercentNext: percent(highest.rate),
		NowUSD: b.allTaxes(now), NowTZS: rounded(now.grandTZS),
		NextUSD: b.allTaxes(after), NextTZS: rounded(after.grandTZS),
	}
	var doubts []string
	for _, r := range next {
		if r.doubt != "" {
			doubts = append(doubts, fmt.Sprintf("%s %% by %s", r.rate.Shift(2), r.doubt))
		}
	}
	if !fits {
		doubts = append(doubts, "TRA's present charge fits no known rules")
	}
	step.Disputed = len(doubts) > 0
	step.Note = stepNote(step, b.implied.tax.YOM, doubts, next)
	return step
}

// allTaxes are import taxes and fees in dollars.
func (b *calculation) allTaxes(t taxes) money.Amount {
	return rounded(t.usd.Add(b.implied.fees().Div(b.implied.fx)))
}

func stepNote(step *vehicle.AgeStep, yom int, doubts []string, next []ruleRate) vehicle.Text {
	note := vehicle.Text{Draft: true}
	note.EN = fmt.Sprintf("By TRA's year (%d) the car is %d years old and turns %d on %s, when the excise duty for age rises"+
		" from %s %% to %s %%.", yom, step.Age, step.Age+1, step.On, step.PercentNow, step.PercentNext)
	note.SW = fmt.Sprintf("Kuhesabu kutoka %d, mwaka ulio kwenye orodha ya TRA, gari lina umri wa miaka %d, na miaka %d kuanzia"+
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

// disputedNow returns the excise duties that the car may be charged at its age
// today, when the rules that the answer fits disagree about it.
func (b *calculation) disputedNow() []ruleRate {
	car, known := b.ageCar()
	if !known {
		return nil
	}
	rules, fits := b.ageRules(b.now, car)
	for _, r := range rules {
		if rates := ageRates(r, car); fits && len(rates) > 1 {
			return rates
		}
	}
	return nil
}
