// Package facts has what is known of cars apart from the authority: what a fuel word or an
// emission prefix says, and the engine, fuel, years and make of chassis codes.
package facts

import (
	"bufio"
	_ "embed" // fuels.csv
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/tra/catalogue"
)

// Fact is what is known of a label's car. The authority's catalogue has only
// texts; its years and fuels come one list at a time.
type Fact struct {
	CC       int  // engine size; 0: not known, or electric
	Fuel     Fuel // "": not known
	From, To int  // years of production; both 0: not known, To 0 alone: still made
}

// Facts are the facts of labels, by make and text. They go before what this
// package knows of chassis codes by itself.
type Facts map[Key]Fact

// Key is a label of a make, both as the authority spells them.
type Key struct{ Make, Label string }

//go:embed facts.csv
var factTable string

// codeFacts are the embedded facts by make, model and code, and by make and
// code where all models agree.
type codeFacts struct {
	byModel map[[3]string]Fact
	byCode  map[[2]string]Fact
}

// knownCodes reads the embedded table when it is first needed.
var knownCodes = sync.OnceValue(func() codeFacts {
	known := codeFacts{map[[3]string]Fact{}, map[[2]string]Fact{}}
	for _, row := range datatable.Rows(factTable) {
		mk, fact := chassis.NameKey(chassis.AuthorityMake(row[0])), readFact(row[3], row[4], row[5], row[6])
		known.byModel[[3]string{mk, chassis.NameKey(row[1]), row[2]}] = fact
		key := [2]string{mk, row[2]}
		if other, seen := known.byCode[key]; seen {
			fact = common(fact, other)
		}
		known.byCode[key] = fact
	}
	return known
})

// readFact reads the cells of a table; what it cannot read is not known.
func readFact(cc, fuel, from, to string) Fact {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	return Fact{number(cc), FuelOf(fuel), number(from), number(to)}
}

// common returns the values on which two facts agree, and the years of both.
func common(a, b Fact) Fact {
	if a.CC != b.CC {
		a.CC = 0
	}
	if a.Fuel != b.Fuel {
		a.Fuel = ""
	}
	switch {
	case !a.IsDated() || !b.IsDated():
		a.From, a.To = 0, 0
	default:
		a.From = min(a.From, b.From)
		if a.To = max(a.To, b.To); b.To == 0 {
			a.To = 0
		}
	}
	return a
}

// Of finds the facts of a label: the facts given for the label, else those of its code and model,
// else those of its code alone. Codes whose facts disagree give none.
func (f Facts) Of(label catalogue.Label) Fact {
	fact, given := f[Key{label.Make.Name, label.Text}]
	if given {
		return fact
	}
	mk, model := chassis.NameKey(label.Make.Name), chassis.NameKey(label.Model)
	for i, code := range label.Codes {
		one, ok := knownCodes().byModel[[3]string{mk, model, code}]
		if !ok {
			one = knownCodes().byCode[[2]string{mk, code}]
		}
		if i == 0 {
			fact = one
		} else {
			fact = common(fact, one)
		}
	}
	return fact
}

// Of returns what is known of the car of a label apart from the authority.
func Of(label catalogue.Label) Fact { return Facts(nil).Of(label) }

// IsCode reports whether a code is known to be one of the make's, listed by the
// authority or not.
func IsCode(mk catalogue.Make, code string) bool {
	_, ok := knownCodes().byCode[[2]string{chassis.NameKey(mk.Name), code}]
	return ok
}

// Years returns the years of production for a message.
func (f Fact) Years() string {
	switch {
	case f.To == 0:
		return fmt.Sprintf("from %d", f.From)
	case f.From == 0:
		return fmt.Sprintf("until %d", f.To)
	}
	return fmt.Sprintf("%d to %d", f.From, f.To)
}

// IsDated reports whether a year of production is known.
func (f Fact) IsDated() bool { return f.From != 0 || f.To != 0 }

// YearsOff is how many years a year lies outside those of production.
func (f Fact) YearsOff(year int) int {
	switch {
	case f.From != 0 && year < f.From:
		return f.From - year
	case f.To != 0 && year > f.To:
		return year - f.To
	}
	return 0
}

// CodeYears returns when cars of a code were built, of whatever make: 0 and 0
// when that is not known, 0 for the second alone when they still are.
func CodeYears(code chassis.Code) (from, to int) {
	var all *Fact
	for key, fact := range knownCodes().byCode {
		if key[1] != code.Code {
			continue
		}
		if all != nil {
			fact = common(fact, *all)
		}
		all = &fact
	}
	if all == nil || all.From == 0 {
		return 0, 0
	}
	return all.From, all.To
}

// madeBy are the makes of embedded codes and models, by NameKey: "" where two makes share
// one.
type madeBy struct {
	codes, models map[string]string
	makes         map[string]bool
}

var makers = sync.OnceValue(func() madeBy {
	made := madeBy{map[string]string{}, map[string]string{}, map[string]bool{}}
	add := func(to map[string]string, name, mk string) {
		if other, seen := to[name]; seen && other != mk {
			mk = ""
		}
		to[name] = mk
	}
	for key := range knownCodes().byModel {
		add(made.models, key[1], key[0])
		add(made.codes, key[2], key[0])
		made.makes[key[0]] = true
	}
	return made
})

// MakeOf returns the make that alone has a chassis code, or a model by this name; "" when
// none is known or several are.
func MakeOf(code, model string) string {
	if mk := makers().codes[code]; mk != "" {
		return mk
	}
	return makers().models[chassis.NameKey(model)]
}

// IsMake reports whether a word is the name of a make whose codes are known.
func IsMake(word string) bool { return makers().makes[chassis.NameKey(chassis.AuthorityMake(word))] }

// Fuel is what drives a car, whatever the words.
type Fuel string

// The fuels.
const (
	Petrol       Fuel = "petrol"
	Diesel       Fuel = "diesel"
	Hybrid       Fuel = "petrol hybrid"
	DieselHybrid Fuel = "diesel hybrid"
	Electric     Fuel = "electric"
	FuelCell     Fuel = "hydrogen"
	Gas          Fuel = "gas"
)

//go:embed fuels.csv
var fuelTable string

// fuelWord is a rule of fuels.csv.
type fuelWord struct {
	class Fuel
	whole bool
	texts []string
}

// fuelWords are tried in order.
var fuelWords = func() (words []fuelWord) {
	for _, row := range datatable.Rows(fuelTable) {
		words = append(words, fuelWord{Fuel(row[0]), row[1] == "whole", strings.Fields(row[2])})
	}
	return words
}()

// plainFuels are the words that nearly every listing and label has; they need
// no rules.
var plainFuels = map[string]Fuel{
	"": "", "PETROL": Petrol, "GASOLINE": Petrol, "DIESEL": Diesel, "HYBRID": Hybrid, "ELECTRIC": Electric,
	"PETROL & ELECTRIC": Hybrid,
}

// FuelOf folds a fuel word; "" for one that says nothing.
func FuelOf(word string) Fuel {
	if class, plain := plainFuels[word]; plain {
		return class
	}
	key := chassis.NameKey(word)
	for _, rule := range fuelWords {
		fits := !rule.whole || key == rule.texts[0]
		for _, text := range rule.texts {
			fits = fits && strings.Contains(key, text)
		}
		if fits {
			return rule.class
		}
	}
	return ""
}

// FuelOfPrefix returns what an emission prefix says; "" for one that says nothing.
func FuelOfPrefix(code chassis.Code) Fuel { return classOfPower[code.Power()] }

var classOfPower = map[chassis.Power]Fuel{
	chassis.Petrol: Petrol, chassis.Diesel: Diesel, chassis.Hybrid: Hybrid, chassis.DieselHybrid: DieselHybrid,
	chassis.Electric: Electric, chassis.FuelCell: FuelCell,
}

// LoadCSV reads a catalogue from comma-separated text with a header
// row, and what it says of the labels' cars. The columns make and label are
// needed; cc, fuel, year_from and year_to give facts where the header has
// them; others are ignored, and so are lines that begin with #. The makes are
// numbered from 1 in their order: such numbers mean nothing to the authority.
func LoadCSV(in io.Reader) (*catalogue.Catalogue, Facts, error) {
	buffered := bufio.NewReader(in)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("match: catalogue: header: %w", err)
	}
	table := catalogueTable{header: header, index: map[string]int{}, facts: Facts{}}
	if !slices.Contains(header, "make") || !slices.Contains(header, "label") {
		return nil, nil, errors.New("match: catalogue: the header needs the columns make and label")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return catalogue.New(table.makes), table.facts, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("match: catalogue: %w", err)
		}
		if !table.add(row) {
			line, _ := r.FieldPos(0)
			return nil, nil, fmt.Errorf("match: catalogue: line %d has no make or no label", line)
		}
	}
}

// catalogueTable is a catalogue that is being read.
type catalogueTable struct {
	header []string
	makes  []catalogue.MakeLabels
	index  map[string]int // of a make in makes
	facts  Facts
}

// add takes a row; it reports false for one without make or label.
func (t *catalogueTable) add(row []string) bool {
	cell := func(name string) string {
		if i := slices.Index(t.header, name); i >= 0 && i < len(row) {
			return row[i]
		}
		return ""
	}
	mk, label := cell("make"), cell("label")
	if mk == "" || label == "" {
		return false
	}
	i, known := t.index[mk]
	if !known {
		i = len(t.makes)
		t.index[mk] = i
		t.makes = append(t.makes, catalogue.MakeLabels{Make: catalogue.Make{ID: i + 1, Name: mk}})
	}
	t.makes[i].Labels = append(t.makes[i].Labels, label)
	fact := readFact(cell("cc"), cell("fuel"), cell("year_from"), cell("year_to"))
	if key := (Key{mk, label}); fact != (Fact{}) {
		if other, twice := t.facts[key]; twice {
			fact = common(fact, other)
		}
		t.facts[key] = fact
	}
	return true
}
