// Package cost computes what a car costs until it is on the road in Dar es
// Salaam: the price, the taxes and everything beside them. Rates and fees
// are data (tables.json), each with its source, its date and the days it holds
// for; an operator's file stands above them.
package cost

import (
	"bytes"
	"cmp"
	_ "embed" // for tables.json
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/vehicle"
)

// DefaultRate is shillings for a dollar where a caller names no rate, as the
// API's contract says.
var DefaultRate = decimal.NewFromInt(2650)

// Tables are the rates and fees beside the taxes. They do not change once
// made, and may be used by many at a time.
type Tables struct {
	lines    []line
	volumes  volumes
	landings []landingTime
	storage  storage
	checked  string // the last day on which somebody checked them: 2026-11-23
	law      *duty.Law
}

// line is one thing to pay, with its fees over time.
type line struct {
	Code string       `json:"code"`
	Name vehicle.Text `json:"name"`
	// Part is the part of the summary that the line belongs to; empty is portAndLocal.
	Part string `json:"part,omitempty"`
	Port bool   `json:"port,omitempty"` // it is part of the caller's figure for the port
	// PaidIn is the currency in which the line must be paid; empty is not known. What is
	// paid inside Tanzania is paid in shillings (GN 198 of 2025).
	PaidIn string `json:"paid_in,omitempty"`
	Fees   []fee  `json:"fees"`
}

// fee is what is charged in a period of time. An amount of 0 says that nothing is
// charged then.
type fee struct {
	origin

	From   string    `json:"from"`             // first day, 2006-01-02; empty has no beginning
	Until  string    `json:"until"`            // last day; empty has no end
	Only   countries `json:"only,omitempty"`   // countries that it is charged for; none is every one
	Except countries `json:"except,omitempty"` // countries that it is not charged for

	Amount price           `json:"amount"`
	Low    *price          `json:"low"`   // nil is Amount
	High   *price          `json:"high"`  // nil is Amount
	Least  *price          `json:"least"` // nil has no minimum
	VAT    decimal.Decimal `json:"vat"`   // fraction that comes on top
	// VATInHigh is the fraction that comes on top of the upper bound alone, where it is
	// not certain that it is charged.
	VATInHigh decimal.Decimal `json:"vat_in_high"`
	Clamp     *clamp          `json:"clamp"`

	Remark string `json:"remark,omitempty"` // the code of a text of the table of texts, family basis
	Basis  remark `json:"basis,omitzero"`   // an operator's own words, which follow the Remark
}

// origin says where a figure comes from.
type origin struct {
	Standing vehicle.Standing `json:"standing"`
	Source   string           `json:"source"`
	Date     string           `json:"date"`
}

func (o origin) check() error {
	switch {
	case !slices.Contains([]vehicle.Standing{vehicle.Official, vehicle.Quoted, vehicle.Typical}, o.Standing):
		return errors.New("standing must be official, quoted or typical")
	case o.Source == "" || o.Date == "":
		return errors.New("source and date are required")
	}
	return nil
}

// line returns a line whose figure is of that origin.
func (o origin) line() vehicle.CostLine {
	return cited(vehicle.CostLine{Standing: o.Standing, Estimated: true, Date: o.Date}, o.Source)
}

// countries are the names of countries in capitals: one name, or a list.
type countries []string

// UnmarshalJSON decodes one name or a list of names.
func (c *countries) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*c = countries{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(c))
}

// has reports whether a country is among them.
func (c countries) has(country string) bool {
	return slices.ContainsFunc(c, func(name string) bool { return strings.EqualFold(name, country) })
}

// price is a value and what it is counted by.
type price struct {
	Value decimal.Decimal `json:"value"`
	Unit  unit            `json:"unit"`
}

// unit is what a price is counted by. A value of USD and TZS is for the car,
// the others are fractions but for that of a cubic metre.
type unit string

const (
	perCarUSD unit = "USD"
	perCarTZS unit = "TZS"
	perM3     unit = "USD/m3"
	ofCF      unit = "C&F"          // the listing's price with freight
	ofCIF     unit = "CIF"          // the value that is taxed
	ofDuty    unit = "import_duty"  // at that value
	ofTaxes   unit = "import_taxes" // likewise, all of them
)

var units = []unit{perCarUSD, perCarTZS, perM3, ofCF, ofCIF, ofDuty, ofTaxes}

// clamp are the least and the most USD of CIF for each cubic metre that a
// fraction of CIF is computed on. Whether they hold is not sure: they widen
// the range only.
type clamp struct {
	Low  decimal.Decimal `json:"low"`
	High decimal.Decimal `json:"high"`
}

// volumes are the shipping volumes of bodies, for cars whose listing gives none.
type volumes struct {
	Source string `json:"source"`
	Date   string `json:"date"`
	Bodies []body `json:"bodies"`
}

// body is the volume of a kind of body in cubic metres; zero is not known.
type body struct {
	Names   []string        `json:"names"` // * is every other
	Low     decimal.Decimal `json:"low"`
	Typical decimal.Decimal `json:"typical"`
	High    decimal.Decimal `json:"high"`
}

const anyBody = "*"

//go:embed tables.json
var tablesJSON []byte

var embedded = func() *Tables {
	file, err := decode(tablesJSON)
	tables := &Tables{
		lines: file.Lines, volumes: file.Volumes, landings: file.Landings, checked: file.Checked, law: duty.Current(),
	}
	if file.Storage != nil {
		tables.storage = *file.Storage
	}
	if err == nil {
		err = tables.check()
	}
	if err != nil {
		panic(fmt.Errorf("cost: tables.json: %w", err)) // embedded: only a broken build gets here
	}
	return tables
}()

// Embedded returns the tables that come with the program.
func Embedded() *Tables { return embedded }

// Load puts an operator's file over the embedded tables; an empty path is
// those alone. A line of the file replaces the fees of the line with its code
// (and its name, if it gives one) or is put after the others; "fees": [] does
// away with it. Bodies of the file stand before the embedded ones.
func Load(path string) (*Tables, error) {
	if path == "" {
		return embedded, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("cost: %w", err)
	}
	tables, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("cost: %s: %w", path, err)
	}
	return tables, nil
}

// Parse puts the content of an operator's file over the embedded tables.
func Parse(data []byte) (*Tables, error) {
	over, err := decode(data)
	if err != nil {
		return nil, err
	}
	tables := embedded.under(over)
	law, err := tables.law.With(over.Rules)
	if err != nil {
		return nil, err
	}
	tables.law = law
	return tables, tables.check()
}

// file is the form of tables.json and of an operator's file.
type file struct {
	About    string        `json:"about"`
	Checked  string        `json:"checked"` // the day on which somebody checked all figures
	Lines    []line        `json:"lines"`
	Volumes  volumes       `json:"volumes"`
	Landings []landingTime `json:"landings"` // of a file: in place of the embedded ones of the same country
	Storage  *storage      `json:"storage"`
	// Rules are changes of the tax rules after or beside the embedded ones, in the form of
	// pkg/duty/rules.json.
	Rules []map[string]json.RawMessage `json:"rules"`
}

// decode reads one JSON object without unknown fields: a field that is
// misspelt must not leave an old fee in force.
func decode(data []byte) (f file, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return f, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("more than one JSON object")
	}
	return f, nil
}

// under returns the tables with an operator's file over them.
func (t *Tables) under(over file) *Tables {
	lines := slices.Clone(t.lines)
	for _, own := range over.Lines {
		at := slices.IndexFunc(lines, func(l line) bool { return l.Code == own.Code })
		if at < 0 {
			lines = append(lines, own)
			continue
		}
		if own.Name == (vehicle.Text{}) {
			own.Name = lines[at].Name
		}
		own.Part, own.Port = cmp.Or(own.Part, lines[at].Part), own.Port || lines[at].Port
		own.PaidIn = cmp.Or(own.PaidIn, lines[at].PaidIn)
		lines[at] = own
	}
	v := t.volumes
	if len(over.Volumes.Bodies) > 0 {
		v = over.Volumes
		v.Bodies = append(slices.Clone(over.Volumes.Bodies), t.volumes.Bodies...)
	}
	tables := &Tables{lines: lines, volumes: v, storage: t.storage, checked: cmp.Or(over.Checked, t.checked), law: t.law}
	tables.landings = append(slices.Clone(over.Landings), t.landings...)
	if over.Storage != nil {
		tables.storage = *over.Storage
	}
	return tables
}

// of returns the volume of the first body that a name fits, whole or by its last word that
// is one: a DUMP TRUCK is a truck.
func (v volumes) of(names ...string) body {
	for _, name := range append(names, anyBody) {
		name = strings.ToUpper(strings.TrimSpace(name))
		words := strings.Fields(name)
		slices.Reverse(words)
		for _, word := range append([]string{name}, words...) {
			for _, b := range v.Bodies {
				if word != "" && slices.Contains(b.Names, word) {
					return b
				}
			}
		}
	}
	return body{} // check makes sure that there is one
}
