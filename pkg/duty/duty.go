// Package duty contains the dated tax rules for used cars: those of imports into mainland
// Tanzania, and the formula that computes taxes from a customs value. The figures of the
// authority's own answer always override it.
package duty

import (
	"bytes"
	_ "embed" // for rules.json
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
)

// Rules are the rates in force from a day on. Rates are fractions: 0.25 is 25 %.
type Rules struct {
	From             string              `json:"from"`            // first day in force, 2006-01-02
	State            State               `json:"state,omitempty"` // empty is in force
	ImportDuty       decimal.Decimal     `json:"import_duty"`
	Excise           []ExciseBand        `json:"excise"`              // the first band that fits decides
	NoExciseFuels    []string            `json:"no_excise_fuels"`     // free of the capacity excise
	AgeExcise        []AgeBand           `json:"age_excise"`          // ascending; the last band that fits decides
	NoAgeExciseFuels []string            `json:"no_age_excise_fuels"` // free of the age excise
	AgeBase          AgeBase             `json:"age_base"`
	ProcessingFee    decimal.Decimal     `json:"processing_fee"`  // on CIF
	RailwayLevy      decimal.Decimal     `json:"railway_levy"`    // on CIF
	IndustrialLevy   decimal.Decimal     `json:"industrial_levy"` // on CIF
	VAT              decimal.Decimal     `json:"vat"`
	FeesInVAT        bool                `json:"fees_in_vat"`  // whether the two fees below are in the VAT base
	HIVLevy          []FeeBand           `json:"hiv_levy"`     // flat, per vehicle
	Registration     []FeeBand           `json:"registration"` // flat, tax and licence together
	Evidence         map[string]Evidence `json:"evidence"`     // by the JSON name of the rule

	// ElectricRegistration is what the registration of an electric car can be, by its
	// battery; empty when it goes by the engine.
	ElectricRegistration []FeeBand `json:"electric_registration,omitempty"`

	before *Rules // which these replaced
}

// State says whether rules hold from their first day on.
type State string

// The states of rules that are not in force.
const (
	Announced State = "announced" // they may hold from their first day on
	stayed    State = "stayed"    // a court or a notice has put them off: they do not hold
)

// ExciseBand is the excise of engines up to CCMax.
type ExciseBand struct {
	CCMax *int            `json:"cc_max"` // inclusive; nil has no end
	Fuel  string          `json:"fuel"`   // empty fits every fuel
	Rate  decimal.Decimal `json:"rate"`
}

// AgeBand is the excise of cars of AgeMin years and more.
type AgeBand struct {
	AgeMin   int              `json:"age_min"`
	Rate     decimal.Decimal  `json:"rate"`     // by statute
	Practice *decimal.Decimal `json:"practice"` // as reported to be charged, where that differs
}

// FeeBand is a flat fee for engines up to CCMax, or for batteries up to KWhMax.
type FeeBand struct {
	CCMax  *int            `json:"cc_max"`            // inclusive; nil has no end
	KWhMax *int            `json:"kwh_max,omitempty"` // the same
	TZS    decimal.Decimal `json:"tzs"`
}

// AgeBase names the amount on which the excise duty for age is charged.
type AgeBase string

// The bases known: customs value and import duty, to which the capacity
// excise was added until June 2014.
const (
	OnCIFAndDuty    AgeBase = "CIF+ID"
	onCIFDutyExcise AgeBase = "CIF+ID+ED"
)

// Evidence is the source of a rule and its grade.
type Evidence struct {
	Grade  string `json:"grade"` // primary, observed, secondary or inferred
	Source string `json:"source"`
	Note   string `json:"note"`
}

// Vehicle is what the rules look at.
type Vehicle struct {
	CC   int    // engine displacement in cc; 0 for an electric car
	Fuel string // in the authority's words: PETROL, DIESEL, PETROL & ELECTRIC, ELECTRIC
	Age  int    // years, see Age
}

// Breakdown is the tax on one car. Amounts are exact and are rounded, half up
// to two decimals, only when printed: so printed lines may differ from a
// printed total by a cent, as in the authority's own output.
type Breakdown struct {
	CIF            money.Amount // USD
	ImportDuty     money.Amount // USD
	Excise         money.Amount // USD, by engine capacity
	AgeExcise      money.Amount // USD, by age
	ProcessingFee  money.Amount // USD
	RailwayLevy    money.Amount // USD
	IndustrialLevy money.Amount // USD
	VAT            money.Amount // USD
	TotalUSD       money.Amount // the import taxes above
	TotalTZS       money.Amount // the same in shillings, from the unrounded USD
	HIVLevy        money.Amount // TZS
	Registration   money.Amount // TZS
	GrandTotalTZS  money.Amount // TotalTZS, HIVLevy and Registration
}

// Compute applies the formula to a customs value in USD at an exchange rate in
// TZS per USD. The formula was fitted to the one complete modern output of the
// authority that is known (2025 Q4) and reproduces it to the cent. The rate
// must be positive: zero panics, as any division by zero.
func (r Rules) Compute(v Vehicle, cif, fx decimal.Decimal) Breakdown {
	var (
		duty     = cif.Mul(r.ImportDuty)
		excise   = cif.Add(duty).Mul(r.exciseRate(v))
		age      = r.ageExciseBase(cif, duty, excise).Mul(decimal.Max(r.AgeRates(v))) // better warned than surprised
		fee      = cif.Mul(r.ProcessingFee)
		railway  = cif.Mul(r.RailwayLevy)
		industry = cif.Mul(r.IndustrialLevy)
		hiv      = feeOf(r.HIVLevy, v.CC)
		register = feeOf(r.Registration, v.CC)
		lines    = decimal.Sum(duty, excise, age, fee, railway, industry)
		vat      = cif.Add(lines).Mul(r.VAT)
		usd      = lines.Add(vat)
		tzs      = usd.Mul(fx)
	)
	if r.FeesInVAT {
		vatOnFees := hiv.Add(register).Mul(r.VAT) // TZS
		vat = vat.Add(vatOnFees.Div(fx))
		usd = lines.Add(vat)
		tzs = tzs.Add(vatOnFees) // not usd × fx: the quotient above is not exact, this is
	}
	return Breakdown{
		CIF:            money.New(cif),
		ImportDuty:     money.New(duty),
		Excise:         money.New(excise),
		AgeExcise:      money.New(age),
		ProcessingFee:  money.New(fee),
		RailwayLevy:    money.New(railway),
		IndustrialLevy: money.New(industry),
		VAT:            money.New(vat),
		TotalUSD:       money.New(usd),
		TotalTZS:       money.New(tzs),
		HIVLevy:        money.New(hiv),
		Registration:   money.New(register),
		GrandTotalTZS:  money.New(decimal.Sum(tzs, hiv, register)),
	}
}

func (r Rules) exciseRate(v Vehicle) decimal.Decimal {
	if slices.Contains(r.NoExciseFuels, v.Fuel) {
		return decimal.Zero
	}
	for _, band := range r.Excise {
		if fits(band.CCMax, v.CC) && (band.Fuel == "" || band.Fuel == v.Fuel) {
			return band.Rate
		}
	}
	return decimal.Zero
}

// AgeRates are the excise by age of a car by statute and as it is reported to
// be charged, as fractions; where nothing else is reported they are equal.
func (r Rules) AgeRates(v Vehicle) (statute, practice decimal.Decimal) {
	if slices.Contains(r.NoAgeExciseFuels, v.Fuel) {
		return decimal.Zero, decimal.Zero
	}
	var band AgeBand
	for _, b := range r.AgeExcise {
		if b.AgeMin <= v.Age {
			band = b
		}
	}
	if band.Practice == nil {
		return band.Rate, band.Rate
	}
	return band.Rate, *band.Practice
}

func (r Rules) ageExciseBase(cif, duty, excise decimal.Decimal) decimal.Decimal {
	if r.AgeBase == onCIFDutyExcise {
		return decimal.Sum(cif, duty, excise)
	}
	return cif.Add(duty)
}

func feeOf(bands []FeeBand, cc int) decimal.Decimal {
	for _, band := range bands {
		if fits(band.CCMax, cc) {
			return band.TZS
		}
	}
	return decimal.Zero
}

// Registrations returns the fees that the registration of a vehicle can cost: one by its engine,
// or for an electric vehicle, whose battery listings do not give, that of each battery.
func (r Rules) Registrations(v Vehicle) []FeeBand {
	if v.Fuel == electric && len(r.ElectricRegistration) > 0 {
		return r.ElectricRegistration
	}
	return []FeeBand{{TZS: feeOf(r.Registration, v.CC)}}
}

// electric is the authority's word for cars without an engine.
const electric = "ELECTRIC"

func fits(ccMax *int, cc int) bool { return ccMax == nil || cc <= *ccMax }

// Of returns the rules as they apply to one vehicle: of each list only what it
// pays. Its age excise is the statutory one; AgeRates has both.
func (r Rules) Of(v Vehicle) Rules {
	statute, _ := r.AgeRates(v)
	r.Excise = []ExciseBand{{Rate: r.exciseRate(v)}}
	r.AgeExcise = []AgeBand{{Rate: statute}}
	r.HIVLevy = []FeeBand{{TZS: feeOf(r.HIVLevy, v.CC)}}
	r.Registration = []FeeBand{{TZS: feeOf(r.Registration, v.CC)}}
	r.NoExciseFuels, r.NoAgeExciseFuels = nil, nil
	return r
}

// Age returns the age of a car in the sense of the rules: the calendar year in
// Dar es Salaam minus the year of manufacture, at least zero. Months do not count;
// it changes on 1 January.
func Age(on time.Time, yom int) int { return max(0, on.In(localtime.Zone).Year()-yom) }

// Before returns the rules that these replaced; false for the first set.
func (r Rules) Before() (Rules, bool) {
	if r.before == nil {
		return Rules{}, false
	}
	return *r.before, true
}

// Law is the dated rules.
type Law struct {
	inForce []Rules // ascending
	others  []Rules // announced or stayed
	changes []map[string]json.RawMessage
	checked string
}

// Current returns the rules that come with the program.
func Current() *Law { return current }

var current = mustLoad(rulesJSON)

//go:embed rules.json
var rulesJSON []byte

// On returns the current rules in force on a day, as Law.On does.
func On(date time.Time) Rules { return current.On(date) }

// On returns the rules in force on the day of date in Dar es Salaam. Days
// before the first set (1 January 2011) get the first set. The lists of the
// result are shared and must not be changed.
func (l *Law) On(date time.Time) Rules {
	day := date.In(localtime.Zone).Format(time.DateOnly)
	rules := l.inForce[0]
	for _, set := range l.inForce[1:] {
		if set.From <= day {
			rules = set
		}
	}
	return rules
}

// Announced returns the rules that are announced for a day or an earlier one.
func (l *Law) Announced(until time.Time) (list []Rules) {
	for _, set := range l.others {
		if set.State == Announced && set.From <= until.In(localtime.Zone).Format(time.DateOnly) {
			list = append(list, set)
		}
	}
	return list
}

// Others returns the rules that are not in force: announced or stayed.
func (l *Law) Others() []Rules { return l.others }

// Changes returns the days after one day, up to another, on which rules come into
// force or are announced to.
func (l *Law) Changes(after, until time.Time) (days []time.Time) {
	first := after.In(localtime.Zone).Format(time.DateOnly)
	last := until.In(localtime.Zone).Format(time.DateOnly)
	for _, set := range slices.Concat(l.inForce[1:], l.Announced(until)) {
		if set.From <= first || set.From > last {
			continue
		}
		if day, err := time.ParseInLocation(time.DateOnly, set.From, localtime.Zone); err == nil {
			days = append(days, day)
		}
	}
	return days
}

// SettledUntil returns the last day, in Dar es Salaam, of the financial year for which the
// rules are known on a day: the year of that day, or that of the newest rules. Each
// Finance Act holds from a 1 July on.
func (l *Law) SettledUntil(on time.Time) time.Time {
	newest := max(on.In(localtime.Zone).Format(time.DateOnly), l.inForce[len(l.inForce)-1].From)
	day, err := time.ParseInLocation(time.DateOnly, newest, localtime.Zone)
	if err != nil {
		day = on.In(localtime.Zone) // the days of the rules are tested
	}
	year := day.Year()
	if day.Month() >= time.July {
		year++
	}
	return time.Date(year, time.June, 30, 0, 0, 0, 0, localtime.Zone)
}

// Checked returns the last day on which the maintainers looked for newer rules: 2026-11-23.
func (l *Law) Checked() string { return l.checked }

// With returns the law with further changes, in the form of rules.json: those in force
// come after the present ones, those announced or stayed stand beside them.
func (l *Law) With(changes []map[string]json.RawMessage) (*Law, error) {
	if len(changes) == 0 {
		return l, nil
	}
	return build(slices.Concat(l.changes, changes), l.checked)
}

func mustLoad(data []byte) *Law {
	law, err := load(data)
	if err != nil {
		panic(err) // the file is embedded: only a broken build gets here
	}
	return law
}

// load reads dated changes into full sets.
func load(data []byte) (*Law, error) {
	var file struct {
		Checked string                       `json:"checked"`
		Sets    []map[string]json.RawMessage `json:"sets"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("duty: rules: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, file.Checked); err != nil {
		return nil, fmt.Errorf("duty: rules: checked: %w", err)
	}
	return build(file.Sets, file.Checked)
}

// build makes full sets of changes. They are merged as JSON objects, so that no set shares
// memory with another while it is decoded. A change that is not in force stands on what is,
// and no other stands on it.
func build(changes []map[string]json.RawMessage, checked string) (*Law, error) {
	if len(changes) == 0 {
		return nil, errors.New("duty: no rules")
	}
	l := &Law{changes: changes, checked: checked}
	merged, evidence, before := map[string]json.RawMessage{}, map[string]Evidence{}, ""
	for _, change := range changes {
		all, proof := maps.Clone(merged), maps.Clone(evidence)
		maps.Copy(all, change)
		rules, err := decode(all)
		if err != nil {
			return nil, fmt.Errorf("duty: rules after %q: %w", before, err)
		}
		maps.Copy(proof, rules.Evidence)
		rules.Evidence = proof
		if err := rules.check(before); err != nil {
			return nil, fmt.Errorf("duty: rules after %q: %w", before, err)
		}
		if last := len(l.inForce) - 1; last >= 0 {
			rules.before = new(l.inForce[last])
		}
		if rules.State != "" {
			l.others = append(l.others, rules)
			continue
		}
		merged, evidence, before = all, proof, rules.From
		l.inForce = append(l.inForce, rules)
	}
	return l, nil
}

func decode(object map[string]json.RawMessage) (rules Rules, err error) {
	data, err := json.Marshal(object)
	if err != nil {
		return Rules{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&rules)
	return rules, err
}

// check returns what is wrong with the date or the state of rules.
func (r Rules) check(before string) error {
	if _, err := time.Parse(time.DateOnly, r.From); err != nil || r.State == "" && r.From <= before {
		return fmt.Errorf("bad date %q; rules in force are in the order of their days", r.From)
	}
	switch e := r.Evidence["state"]; {
	case r.State == "":
		return nil
	case r.State != Announced && r.State != stayed:
		return fmt.Errorf("the state is %q; it must be announced, stayed, or absent for rules in force", r.State)
	case before == "":
		return errors.New("the first rules must be in force")
	case e.Grade == "" || e.Source == "":
		return fmt.Errorf("rules that are %s need evidence of the state, with grade and source", r.State)
	}
	return nil
}
