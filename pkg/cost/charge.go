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

// charge is how a car may be taxed on a landing day.
type charge struct {
	same  bool       // as in the authority's answer, whose figures then hold verbatim
	rules duty.Rules // of this car, with one rate for each tax
	age   ruleRate   // excise duty for age
	// announced is the first day of the rules, when they are announced and not in force.
	announced string
}

// chargeKey is what the charges of a car depend on in one calculation.
type chargeKey struct {
	day  int64 // as Unix has it
	made int   // the year of the car
}

// chargesOn returns how the car may be taxed on a landing day, the highest first.
// There are several where the sources disagree. On a day with the rules and the age
// of the authority's answer, its answer decides.
func (b *calculation) chargesOn(day time.Time) []charge {
	key := chargeKey{day.Unix(), b.yearMade()}
	found, known := b.charges[key]
	if !known {
		found = b.chargesFor(day)
		b.charges[key] = found
	}
	return slices.Clip(found)
}

func (b *calculation) chargesFor(day time.Time) []charge {
	rules, changed := b.rulesUnder(b.tables.law.On(day))
	rates, predicted := b.ageRatesOn(day)
	if !changed && !predicted {
		return []charge{{same: true, rules: rules, age: rates[0]}}
	}
	charges := make([]charge, len(rates))
	for i, rate := range rates {
		charges[i] = rate.under(rules)
	}
	return charges
}

// chargesUnknown returns how else the car may be taxed on a landing day: under rules that
// are announced, and on a day whose rules are not known under those before the newest
// ones. A new law has mostly been between the two or near them.
func (b *calculation) chargesUnknown(day time.Time) (charges []charge) {
	if !b.hasValue() {
		return nil
	}
	others := slices.Clone(b.tables.law.Announced(day))
	if before, ok := b.tables.law.On(day).Before(); ok && !b.isSettled(day) {
		others = append(others, before)
	}
	for _, other := range others {
		rules, _ := b.rulesUnder(other)
		rates := []ruleRate{{rate: b.charged()}}
		if car, known := b.ageCar(day, b.yearMade()); known && b.hasAgeSteps() {
			rates = ageRates(other, car)
		}
		for _, rate := range rates {
			c := rate.under(rules)
			if other.State == duty.Announced {
				c.announced = other.From
			}
			charges = append(charges, c)
		}
	}
	return charges
}

// rulesUnder returns the rates of the authority's answer with what differs between the
// rules of its day and others. A rate of the answer that is not the one of the law stays.
func (b *calculation) rulesUnder(after duty.Rules) (rules duty.Rules, changed bool) {
	rules = b.implied.rules
	before := b.tables.law.On(b.asked)
	if after.From == before.From || !b.hasValue() {
		return rules, false
	}
	rules.Excise, rules.HIVLevy = slices.Clone(rules.Excise), slices.Clone(rules.HIVLevy)
	rules.Registration = slices.Clone(rules.Registration)
	car := duty.Vehicle{CC: b.cc(), Fuel: b.implied.tax.FuelType}
	before, after = before.Of(car), after.Of(car)
	for _, rate := range []struct {
		of          *decimal.Decimal
		then, later decimal.Decimal
	}{
		{&rules.ImportDuty, before.ImportDuty, after.ImportDuty},
		{&rules.Excise[0].Rate, before.Excise[0].Rate, after.Excise[0].Rate},
		{&rules.ProcessingFee, before.ProcessingFee, after.ProcessingFee},
		{&rules.RailwayLevy, before.RailwayLevy, after.RailwayLevy},
		{&rules.VAT, before.VAT, after.VAT},
		{&rules.HIVLevy[0].TZS, before.HIVLevy[0].TZS, after.HIVLevy[0].TZS},
		{&rules.Registration[0].TZS, before.Registration[0].TZS, after.Registration[0].TZS},
	} {
		if rate.of.Equal(rate.then) && !rate.then.Equal(rate.later) {
			*rate.of, changed = rate.later, true
		}
	}
	return rules, changed
}

// cc returns the engine displacement: the car's, or the upper end of its band.
func (b *calculation) cc() int {
	if b.car.EngineCC > 0 {
		return b.car.EngineCC
	}
	return slices.Max(append(vehicle.BandNumbers(b.implied.tax.EngineCapacity), 0))
}

// knowsRules reports whether the rules of a landing day are known: those of the
// financial year in which the authority answered, and the newest dated ones, and no
// others are announced.
func (b *calculation) knowsRules(day time.Time) bool {
	return b.isSettled(day) && len(b.tables.law.Announced(day)) == 0
}

func (b *calculation) isSettled(day time.Time) bool {
	return !midnight(day).After(b.tables.law.SettledUntil(b.asked))
}

// ruleRate is an excise duty for age under dated rules.
type ruleRate struct {
	rate  decimal.Decimal // fraction
	rules string          // first day of the rules
	doubt string          // why it is uncertain, a key of the texts on the step; empty when it is not
}

// under returns the charge of an excise duty for age beside other rules.
func (r ruleRate) under(rules duty.Rules) charge {
	rules.AgeExcise = []duty.AgeBand{{Rate: r.rate}}
	return charge{rules: rules, age: r}
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

// ageRatesOn returns the excise duties for age that the car may be charged on a
// landing day, the highest first. When they are not predicted, the only one is that
// of the authority's answer.
func (b *calculation) ageRatesOn(day time.Time) (rates []ruleRate, predicted bool) {
	charged := []ruleRate{{rate: b.charged()}}
	then, known := b.ageCar(b.asked, b.implied.tax.YOM)
	age := duty.Age(day, b.yearMade())
	sets, fit := b.ageRules(then, day)
	if !known || !b.hasAgeSteps() || age == then.Age && b.tables.law.On(day).From <= b.tables.law.On(b.asked).From {
		return charged, false
	}
	car := then
	car.Age = age
	for _, rules := range sets {
		rates = append(rates, ageRates(rules, car)...)
	}
	if !fit {
		// The answer follows rules that are not known. An older car pays no less.
		rates = slices.DeleteFunc(rates, func(r ruleRate) bool { return age <= then.Age || r.rate.LessThan(charged[0].rate) })
	}
	if !slices.ContainsFunc(rates, func(r ruleRate) bool { return !r.rate.Equal(charged[0].rate) }) {
		return charged, false
	}
	slices.SortStableFunc(rates, func(r, s ruleRate) int { return s.rate.Cmp(r.rate) })
	return rates, true
}

// ageRules returns the rules that may hold on a landing day: those that the
// authority's answer fits, of the rules in force when it answered and those before
// them, and the rules that come into force until then. When the answer fits none,
// fit is false and the rules are those in force.
func (b *calculation) ageRules(car duty.Vehicle, day time.Time) (sets []duty.Rules, fit bool) {
	inForce, later := b.tables.law.On(b.asked), b.tables.law.On(day)
	candidates := []duty.Rules{inForce}
	if before, ok := inForce.Before(); ok {
		candidates = append(candidates, before)
	}
	charged := b.charged()
	for _, rules := range candidates {
		if slices.ContainsFunc(ageRates(rules, car), func(r ruleRate) bool { return r.rate.Equal(charged) }) {
			sets = append(sets, rules)
		}
	}
	fit = len(sets) > 0
	if later.From > inForce.From {
		sets = append([]duty.Rules{later}, sets...)
	}
	if len(sets) == 0 {
		sets = candidates[:1]
	}
	return sets, fit
}

// charged returns the excise duty for age of the authority's answer, a fraction.
func (b *calculation) charged() decimal.Decimal {
	if len(b.implied.rules.AgeExcise) == 0 {
		return decimal.Zero
	}
	return b.implied.rules.AgeExcise[0].Rate
}

// ageCar returns the vehicle that the rules on age need, on a day; false when the
// answer lacks its year or value.
func (b *calculation) ageCar(day time.Time, made int) (duty.Vehicle, bool) {
	car := duty.Vehicle{Fuel: b.implied.tax.FuelType, Age: duty.Age(day, made)}
	return car, b.implied.tax.YOM > 0 && b.hasValue()
}

func (b *calculation) hasValue() bool { return b.implied.own.IsPositive() }

// yearMade returns the car's own year, which decides its age. The authority's answer is for
// another one when its list lacks that year: then only the value is that of the other.
func (b *calculation) yearMade() int {
	if b.car.Year == 0 {
		return b.implied.tax.YOM
	}
	return b.car.Year
}

// asListed returns the calculation with the age of the authority's year, when that is not
// the car's own: an officer may go by it.
func (b *calculation) asListed() *calculation {
	if b.implied.tax.YOM <= 0 || b.yearMade() == b.implied.tax.YOM {
		return nil
	}
	listed := *b
	listed.car.Year = b.implied.tax.YOM
	return &listed
}

// noAgeSteps are the words of bodies whose excise duty for age follows other rules
// or unknown ones: no step can be predicted for them.
var noAgeSteps = []string{
	"BUS", "MINIBUS", "TRUCK", "LORRY", "TRACTOR", "TIPPER", "DUMP", "TRAILER", "MOTORCYCLE", "MOTORBIKE",
	"SCOOTER", "TRICYCLE", "BAJAJ",
}

// hasAgeSteps reports whether the steps of the excise duty for age apply to the car.
func (b *calculation) hasAgeSteps() bool {
	body := strings.ToUpper(strings.Join([]string{b.implied.tax.BodyType, b.labelBody(), b.car.BodyType}, " "))
	for _, word := range strings.FieldsFunc(body, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		if slices.Contains(noAgeSteps, word) {
			return false
		}
	}
	return true
}

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
