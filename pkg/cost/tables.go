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
	"time"

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

// landingTime is how long a car takes from the day on which it is bought to the day
// on which it lands.
type landingTime struct {
	origin

	Countries countries `json:"countries"` // where the car is bought; * is every other
	FromDays  int       `json:"from_days"`
	ToDays    int       `json:"to_days"`
}

// The lines whose amounts are not in a table but in the estimate.
const (
	codePrice        = "car_price"
	codeTaxes        = "import_taxes"
	codeHIV          = "hiv_levy"
	codeRegistration = "registration"
)

// The lines of costs before the car arrives in Dar es Salaam, which are part of
// its customs value.
const (
	codeFreight   = "freight"
	codeInsurance = "insurance"
	// These two are part of the cost only.
	codeInspection = "inspection"
	codeRadiation  = "radiation_check"
)

// The other lines that the caller decides on.
const (
	codeAgent         = "clearing_agent"
	codePlates        = "plate"
	codeTBS           = "tbs_destination"
	codeThirdParty    = "third_party_insurance"
	codeComprehensive = "comprehensive_insurance"
	codePort          = "port_charges" // all of the port, as one figure of the caller
	codeStorage       = "port_storage"
	codeInland        = "inland_delivery"
	codeBank          = "bank_fee"
	codeOther         = "other_costs"
	codePID           = "port_infrastructure"
)

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

// problems are what is wrong with tables.
type problems []error

// whenf adds a problem on a condition.
func (p *problems) whenf(is bool, format string, args ...any) {
	if is {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

// of adds the problem of a part, with its name before it.
func (p *problems) of(part string, err error) { p.whenf(err != nil, "%s: %w", part, err) }

// check returns every problem of the tables.
func (t *Tables) check() error {
	p := make(problems, 0, len(t.lines))
	seen := map[string]bool{}
	for _, l := range t.lines {
		p.of(fmt.Sprintf("line %q", l.Code), l.check())
		p.whenf(seen[l.Code], "line %q is repeated", l.Code)
		seen[l.Code] = true
	}
	_, err := time.Parse(time.DateOnly, t.checked)
	p.whenf(err != nil, "checked: %q is not a date; example: 2026-11-23", t.checked)
	return errors.Join(append(p, t.volumes.check(), t.checkLandings(), t.storage.check())...)
}

// checkLandings returns every problem of the landing times.
func (t *Tables) checkLandings() error {
	var p problems
	for _, l := range t.landings {
		p.whenf(len(l.Countries) == 0, `landings: countries are required; "*" is every other`)
		p.whenf(l.FromDays < 0 || l.ToDays < l.FromDays || l.ToDays > maxLandingDays,
			"landings: %v: it must be 0 ≤ from_days ≤ to_days ≤ %d", l.Countries, maxLandingDays)
		p.of(fmt.Sprintf("landings: %v", l.Countries), l.check())
	}
	p.whenf(t.landingTime("").Source == "", `landings: the country "*" is required for all others`)
	return errors.Join(p...)
}

// maxLandingDays is longer than any voyage.
const maxLandingDays = 365

func (v volumes) check() error {
	var p problems
	p.whenf(v.Source == "" || v.Date == "", "volumes: source and date are required")
	fallback := false
	for _, b := range v.Bodies {
		isKnown := b.Low.IsPositive() || b.Typical.IsPositive() || b.High.IsPositive()
		isOrdered := !b.Typical.LessThan(b.Low) && !b.High.LessThan(b.Typical) && !b.High.GreaterThan(maxM3)
		p.whenf(isKnown && !b.Low.IsPositive() || !isOrdered,
			"volume of %v: it must be low ≤ typical ≤ high in cubic metres", b.Names)
		fallback = fallback || slices.Contains(b.Names, anyBody)
	}
	p.whenf(!fallback, `volumes: a body "*" is required for all others`)
	return errors.Join(p...)
}

// maxM3 is more than any vehicle takes on a ship, in cubic metres.
var maxM3 = decimal.NewFromInt(300)

// Factors are what the fee of a line was multiplied by on paid bills: the middle one, and
// the bounds of most.
type Factors struct {
	Low, Middle, High decimal.Decimal
	Source            string
	Date              string // of the last bill: 2026-11
}

// InForce returns the number of the fee of a line that is in force for a country on a day;
// false for none, and for a line that is no fee of the tables.
func (t *Tables) InForce(code, country string, day time.Time) (number int, ok bool) {
	l := t.table(code)
	f, _ := l.inForce(dateOf(day), country)
	if f == nil {
		return 0, false
	}
	return slices.IndexFunc(l.Fees, func(g fee) bool {
		return g.From == f.From && slices.Equal(g.Only, f.Only) && slices.Equal(g.Except, f.Except)
	}), true
}

// Override returns an operator's file in which fees are multiplied, by the code of their
// line and their number in it. The other fees of such a line stay.
func (t *Tables) Override(factors map[string]map[int]Factors) ([]byte, error) {
	lines := []line{}
	for _, l := range t.lines {
		if len(factors[l.Code]) == 0 {
			continue
		}
		l.Fees = slices.Clone(l.Fees)
		for number, by := range factors[l.Code] {
			f := &l.Fees[number]
			amount := f.Amount
			scaled := func(factor decimal.Decimal) price {
				const places = 4
				return price{amount.Value.Mul(factor).Round(places), amount.Unit}
			}
			low, high := scaled(by.Low), scaled(by.High)
			f.Amount, f.Low, f.High, f.VATInHigh = scaled(by.Middle), &low, &high, decimal.Zero
			f.Source, f.Date, f.Remark = by.Source, by.Date, ""
		}
		lines = append(lines, l)
	}
	data, err := json.MarshalIndent(map[string]any{"lines": lines}, "", "  ")
	if err != nil {
		return nil, err
	}
	_, err = Parse(data)
	return data, err
}

// Row is a fee of the tables as people read it.
type Row struct {
	Code      string `json:"code"`
	Days      string `json:"days,omitempty"`      // on which it is charged; empty is every day
	Countries string `json:"countries,omitempty"` // empty is every one
	Value     string `json:"value"`
	Standing  string `json:"standing"`
	Source    string `json:"source"`
	Date      string `json:"date"`
}

// Rows returns every fee of the tables, in their order.
func (t *Tables) Rows() (rows []Row) {
	for _, l := range t.lines {
		for _, f := range l.Fees {
			rows = append(rows, Row{
				l.Code, days(f.From, f.Until), f.countries(), f.value(), string(f.Standing), f.Source, f.Date,
			})
		}
		if s := t.storage; l.Code == codeStorage {
			value := s.PerDay.String() + "USD/m3/day(" + s.Later.String() + ")"
			rows = append(rows, Row{l.Code, "", "", value, string(s.Standing), s.Source, s.Date})
		}
	}
	return rows
}

func days(from, until string) string {
	if from == "" && until == "" {
		return ""
	}
	return from + ".." + until
}

// OtherRules returns the tax rules that are announced or stayed, with their sources.
func (t *Tables) OtherRules() (rows []Row) {
	for _, r := range t.law.Others() {
		e := r.Evidence["state"]
		rows = append(rows, Row{"tax_rules", days(r.From, ""), "", string(r.State), e.Grade, e.Source, r.From})
	}
	return rows
}
