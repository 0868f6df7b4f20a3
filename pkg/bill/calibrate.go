package bill

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Paid is a bill that was paid, with its car. The car of an Estimate has the taxes of the
// authority too, on which some charges depend.
type Paid struct {
	Date     string             `json:"date"` // 2026-11-23
	Car      vehicle.QuoteInput `json:"car"`
	Estimate *vehicle.Estimate  `json:"estimate"` // in place of the car
	Country  string             `json:"locatedIn"`
	Rate     *money.Number      `json:"rate"`
	Lines    []PaidLine         `json:"lines"`
}

// PaidLine is a line of a paid bill, in the form of a request.
type PaidLine struct {
	Name     string          `json:"name"`
	Amount   json.RawMessage `json:"amount"` // a number, or a string as people write it
	Currency string          `json:"currency"`
}

// ReadPaid reads bills as JSON lines, or as CSV with the columns bill, date, name and
// amount, and currency, locatedIn, m3, fobPriceUSD, cfPriceUSD and rate where they are known.
func ReadPaid(r io.Reader) ([]Paid, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] != '{' {
		return readCSV(trimmed)
	}
	var all []Paid
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for number := 1; lines.Scan(); number++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var bill Paid
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&bill); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, bill)
	}
	return all, lines.Err()
}

func readCSV(data []byte) ([]Paid, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[strings.TrimSpace(name)] = i
	}
	for _, needed := range []string{"bill", "date", "name", "amount"} {
		if _, has := columns[needed]; !has {
			return nil, fmt.Errorf("the column %s is missing", needed)
		}
	}
	var all []Paid
	at := map[string]int{}
	for i, cells := range rows[1:] {
		row := csvRow{columns: columns, cells: cells}
		id := row.cell("bill")
		if _, has := at[id]; !has {
			at[id] = len(all)
			all = append(all, row.bill())
		}
		if row.err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, row.err)
		}
		of := &all[at[id]]
		of.Lines = append(of.Lines, PaidLine{row.cell("name"), json.RawMessage(row.cell("amount")), row.cell("currency")})
	}
	return all, nil
}

// csvRow is a row of a table of bills.
type csvRow struct {
	columns map[string]int
	cells   []string
	err     error
}

func (r *csvRow) cell(name string) string {
	if c, has := r.columns[name]; has {
		return strings.TrimSpace(r.cells[c])
	}
	return ""
}

func (r *csvRow) number(name string) *money.Number {
	if r.cell(name) == "" {
		return nil
	}
	d, err := money.ParseDecimal(r.cell(name))
	if err != nil {
		r.err = fmt.Errorf("%s %q is no number", name, r.cell(name))
	}
	n := money.NewNumber(d)
	return &n
}

// bill returns the bill of a row, without lines.
func (r *csvRow) bill() Paid {
	return Paid{Date: r.cell("date"), Country: r.cell("locatedIn"), Rate: r.number("rate"), Car: vehicle.QuoteInput{
		M3: r.number("m3"), FOBPriceUSD: r.number("fobPriceUSD"), CFPriceUSD: r.number("cfPriceUSD"),
	}}
}

// Calibrated says how a fee of our tables fits paid bills.
type Calibrated struct {
	Code   string `json:"code"`
	Bills  int    `json:"bills"`
	Bias   string `json:"biasPercent"`   // of what was paid against our likely figure, in the middle
	Inside string `json:"insidePercent"` // of the bills, inside our range
	Enough bool   `json:"enough"`        // bills for a figure of their own
}

// fewBills is the number of bills from which on a fee is taken from them.
const fewBills = 5

// observed are the factors of one fee on paid bills.
type observed struct {
	code     string
	number   int
	factors  []decimal.Decimal
	inside   int
	from, to string
}

// Calibrate compares paid bills with the tables, and returns the operator's file whose
// ranges hold nine in ten of them. Nothing of it takes effect by itself.
func Calibrate(tables *cost.Tables, bills []Paid) (all []Calibrated, override []byte, err error) {
	var seen []*observed
	for i, paid := range bills {
		if seen, err = paid.compare(tables, seen); err != nil {
			return nil, nil, fmt.Errorf("bill %d: %w", i+1, err)
		}
	}
	slices.SortStableFunc(seen, func(a, b *observed) int { return strings.Compare(a.code, b.code) })
	factors := map[string]map[int]cost.Factors{}
	for _, o := range seen {
		slices.SortFunc(o.factors, decimal.Decimal.Cmp)
		n := len(o.factors)
		middle, one := o.quantile(50), decimal.NewFromInt(1)
		all = append(all, Calibrated{
			Code: o.code, Bills: n, Bias: middle.Sub(one).Shift(2).Round(1).String(), Inside: strconv.Itoa(100 * o.inside / n),
			Enough: n >= fewBills,
		})
		if n < fewBills {
			continue
		}
		if factors[o.code] == nil {
			factors[o.code] = map[int]cost.Factors{}
		}
		factors[o.code][o.number] = cost.Factors{
			Low: o.quantile(5), Middle: middle, High: o.quantile(95),
			Source: fmt.Sprintf("%d paid bills of %s to %s", n, o.from, o.to), Date: o.to[:len("2006-01")],
		}
	}
	override, err = tables.Override(factors)
	return all, override, err
}

// quantile returns the factor below or at which a percentage of them lies: of the bounds the
// outer one.
func (o *observed) quantile(percent int) decimal.Decimal {
	last := len(o.factors) - 1
	at := percent * last / 100
	if percent > 50 {
		at = (percent*last + 99) / 100
	}
	return o.factors[at]
}

var errNoAmount = errors.New("no line has an amount")

// compare adds the lines of a bill to what was observed.
func (p Paid) compare(tables *cost.Tables, seen []*observed) ([]*observed, error) {
	day, err := time.ParseInLocation(time.DateOnly, p.Date, localtime.Zone)
	if err != nil {
		return nil, fmt.Errorf("the date is %q; write it as 2026-11-23", p.Date)
	}
	estimate := p.Estimate
	if estimate == nil {
		car := p.Car.Car()
		car.LocatedIn = strings.ToUpper(p.Country)
		estimate = &vehicle.Estimate{Car: car}
	}
	check := Check{Tables: tables, Estimate: estimate, Day: day}
	if p.Rate != nil {
		check.Terms.Rate = p.Rate.Decimal()
	}
	lines := make([]Line, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = Line{l.Name, strings.Trim(string(l.Amount), `"`), l.Currency}
	}
	answer, ok := check.Judge(lines)
	if !ok {
		return nil, errNoAmount
	}
	for _, l := range answer.Lines {
		number, isFee := tables.InForce(l.Code, shippedFrom(estimate), day)
		if !l.of.likely.IsPositive() || !isFee {
			continue
		}
		i := slices.IndexFunc(seen, func(o *observed) bool { return o.code == l.Code && o.number == number })
		if i < 0 {
			i = len(seen)
			seen = append(seen, &observed{code: l.Code, number: number, from: p.Date, to: p.Date})
		}
		o := seen[i]
		o.factors = append(o.factors, l.amount.Div(l.of.likely))
		o.from, o.to = min(o.from, p.Date), max(o.to, p.Date)
		if l.of.holds(l.amount) {
			o.inside++
		}
	}
	return seen, nil
}
