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
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/localtime"
)

// Rules are the rates in force from a day on. Rates are fractions: 0.25 is 25 %.
type Rules struct {
	From             string              `json:"from"` // first day in force, 2006-01-02
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
}

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

// FeeBand is a flat fee for engines up to CCMax.
type FeeBand struct {
	CCMax *int            `json:"cc_max"` // inclusive; nil has no end
	TZS   decimal.Decimal `json:"tzs"`
}

// AgeBase names the amount on which the excise duty for age is charged.
type AgeBase string

// The bases known: customs value and import duty, to which the capacity
// excise was added until June 2014.
const (
	OnCIFAndDuty    AgeBase = "CIF+ID"
	OnCIFDutyExcise AgeBase = "CIF+ID+ED"
)

// Evidence is the source of a rule and its grade.
type Evidence struct {
	Grade  string `json:"grade"` // primary, observed, secondary or inferred
	Source string `json:"source"`
	Note   string `json:"note"`
}

//go:embed rules.json
var rulesJSON []byte

var sets, checked = mustLoad(rulesJSON)

// Checked returns the last day on which somebody looked for newer rules: 2026-11-23.
func Checked() string { return checked }

// On returns the rules in force on the day of date in Dar es Salaam. Days
// before the first set (1 January 2011) get the first set. The lists of the
// result are shared and must not be changed.
func On(date time.Time) Rules {
	day := date.In(localtime.Zone).Format(time.DateOnly)
	rules := sets[0]
	for _, set := range sets[1:] {
		if set.From <= day {
			rules = set
		}
	}
	return rules
}

// Changes returns the days after one day, up to another, on which rules come into
// force.
func Changes(after, until time.Time) (days []time.Time) {
	first, last := after.In(localtime.Zone).Format(time.DateOnly), until.In(localtime.Zone).Format(time.DateOnly)
	for _, set := range sets[1:] {
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
func SettledUntil(on time.Time) time.Time {
	newest := max(on.In(localtime.Zone).Format(time.DateOnly), sets[len(sets)-1].From)
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

// Before returns the rules that these replaced; false for the first set.
func (r Rules) Before() (Rules, bool) {
	for i, set := range sets[1:] {
		if set.From == r.From {
			return sets[i], true
		}
	}
	return Rules{}, false
}

// Age returns the age of a car in the sense of the rules: the calendar year in
// Dar es Salaam minus the year of manufacture, at least zero. Months do not count;
// it changes on 1 January.
func Age(on time.Time, yom int) int { return max(0, on.In(localtime.Zone).Year()-yom) }

// load reads dated changes into full sets. They are merged as JSON objects,
// so that no set shares memory with another while it is decoded.
func load(data []byte) ([]Rules, string, error) {
	var file struct {
		Checked string                       `json:"checked"`
		Sets    []map[string]json.RawMessage `json:"sets"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, "", fmt.Errorf("duty: rules: %w", err)
	}
	if len(file.Sets) == 0 {
		return nil, "", errors.New("duty: no rules")
	}
	var (
		loaded   []Rules
		before   string
		merged   = map[string]json.RawMessage{}
		evidence = map[string]Evidence{}
	)
	for _, change := range file.Sets {
		maps.Copy(merged, change)
		rules, err := decode(merged)
		if err != nil {
			return nil, "", fmt.Errorf("duty: rules after %q: %w", before, err)
		}
		if _, err := time.Parse(time.DateOnly, rules.From); err != nil || rules.From <= before {
			return nil, "", fmt.Errorf("duty: rules after %q: bad date %q", before, rules.From)
		}
		maps.Copy(evidence, rules.Evidence)
		rules.Evidence = maps.Clone(evidence)
		loaded, before = append(loaded, rules), rules.From
	}
	if _, err := time.Parse(time.DateOnly, file.Checked); err != nil {
		return nil, "", fmt.Errorf("duty: rules: checked: %w", err)
	}
	return loaded, file.Checked, nil
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

func mustLoad(data []byte) (loaded []Rules, checked string) {
	loaded, checked, err := load(data)
	if err != nil {
		panic(err) // the file is embedded: only a broken build gets here
	}
	return loaded, checked
}
