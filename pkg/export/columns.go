package export

import (
	_ "embed"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/datatable"
	"ushuru/pkg/money"
	"ushuru/pkg/table"
	"ushuru/pkg/vehicle"
)

// column is one column of the table. Its value is a string, an int, a
// decimal.Decimal, a moment, or nil where there is none.
type column struct {
	name   string  // "" of the caller's own
	width  float64 // in a spreadsheet, in characters
	value  func(l shown) any
	sum    bool // the last row of a spreadsheet has the total
	header string
}

// moment is a date, with its time or without, as the API writes it.
type moment string

// all returns the columns of a table: Ushuru's with one for each line of the cost, and then the
// caller's. The caller's keep their names; a column of Ushuru with the name of one of them gets
// the prefix ushuru_ in the header.
func (o Options) all() []column {
	list := slices.Clone(columns)
	at := slices.IndexFunc(list, func(c column) bool { return c.name == lastBeforeLines }) + 1
	list = slices.Insert(list, at, o.lineColumns()...)
	if o.Sheets {
		sheet := column{name: "sheet", width: ownWidth, value: func(l shown) any { return l.Sheet }}
		list = slices.Insert(list, 1+slices.IndexFunc(list, func(c column) bool { return c.name == "reason" }), sheet)
	}
	for i := range list {
		list[i].header = list[i].name
		same := func(own string) bool { return strings.EqualFold(strings.TrimSpace(own), list[i].name) }
		if slices.ContainsFunc(o.Columns, same) {
			list[i].header = "ushuru_" + list[i].name
		}
	}
	for i, name := range o.Columns {
		list = append(list, column{header: table.Safe(name), width: ownWidth, value: func(l shown) any { return own(l.Own, i) }})
	}
	return list
}

// lastBeforeLines is the column before those of the lines of the cost.
const lastBeforeLines = "exchangeRateOthers"

// lineColumns are the amounts of the lines in shillings, whose sum is driveAwayTZS.
func (o Options) lineColumns() (list []column) {
	amount := func(l shown, of func(CostLine) bool) any {
		sum, some := decimal.Zero, false
		for _, line := range l.lines {
			if slices.ContainsFunc(o.Lines, func(known CostLine) bool { return known.Code == line.Code && of(known) }) {
				sum, some = sum.Add(line.AmountTZS.Decimal()), true
			}
		}
		if !some {
			return nil
		}
		return sum
	}
	for _, one := range o.Lines {
		list = append(list, column{name: one.Code, width: amountWidth, sum: true, value: func(l shown) any {
			return amount(l, func(known CostLine) bool { return known.Code == one.Code })
		}})
	}
	if len(o.Lines) > 0 {
		list = append(list, column{name: "taxesToExpectTZS", width: amountWidth, sum: true, value: func(l shown) any {
			return amount(l, func(known CostLine) bool { return known.Tax })
		}})
	}
	return list
}

const ownWidth = 16

// own returns one of the caller's own cells: a number or a day where it is one.
func own(cells []string, i int) any {
	if i >= len(cells) || cells[i] == "" {
		return nil
	}
	text := cells[i]
	if plainNumber.MatchString(text) {
		if n, err := money.ParseDecimal(text); err == nil {
			if n.IsInteger() {
				return int(n.IntPart())
			}
			return n
		}
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return moment(text)
	}
	return text
}

// plainNumber is a number that a spreadsheet holds exactly; digits that begin with 0 are
// a code.
var plainNumber = regexp.MustCompile(`^-?(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$`)

// columns are named as the fields of the API are, with their unit.
var columns = func() (list []column) {
	for _, row := range datatable.Rows(columnTable) {
		width, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			panic("export: columns.csv: " + row[1]) // embedded: only a broken build gets here
		}
		value := valueAt(reflect.TypeFor[shown](), strings.Split(row[3], "."))
		if row[2] == "day" {
			text := value
			value = func(v reflect.Value) any { return dayOf(text(v)) }
		}
		list = append(list, column{
			name: row[0], width: width, sum: row[2] == "sum", value: func(l shown) any { return value(reflect.ValueOf(l)) },
		})
	}
	return list
}()

//go:embed columns.csv
var columnTable string

const amountWidth = 15

// shown is a line of the results as the columns read it. What is not known is nil.
type shown struct {
	Line

	Known        *vehicle.Car        `json:"known"` // the car, as far as it was read
	LandingValue *money.Amount       `json:"landingValue"`
	LandingTaxes *vehicle.Recomputed `json:"landingTaxes"` // as they are to be expected then
	// Whole and Part are the same cost: with the price of the car or without it, so that no sum
	// mixes both.
	Whole     *vehicle.DriveAway `json:"whole"`
	Part      *vehicle.DriveAway `json:"part"`
	Estimated []vehicle.CostLine `json:"estimated"` // lines that are ours, and nobody's figure for this car
	Margin    *decimal.Decimal   `json:"margin"`

	lines []vehicle.CostLine
}

// ReadByCSV are the members of an estimate that a table reads, by their dotted names in JSON.
var ReadByCSV = func() string {
	read := []string{
		"tax", "maxPriceUSD", "driveAway.taxBase", "driveAway.missing.code", "driveAway.lines.code",
		"driveAway.lines.amountTZS", "driveAway.lines.estimated",
	}
	for _, row := range datatable.Rows(columnTable) {
		of, member, _ := strings.Cut(row[3], ".")
		if in, is := map[string]string{"estimate": "", "known": "car.", "whole": "driveAway."}[of]; is {
			read = append(read, in+member)
		}
	}
	return strings.Join(read, ",")
}()

// ReadByXLSX are the same of a workbook.
var ReadByXLSX = ReadByCSV + ",driveAway.lines"

// shownOf returns a line as the columns read it.
func shownOf(l Line) shown {
	s := shown{Line: l, Known: l.Car}
	if l.Estimate == nil {
		return s
	}
	s.Known = &l.Estimate.Car
	if margin, ok := Margin(l.Estimate); ok {
		s.Margin = &margin
	}
	cost := l.Estimate.DriveAway
	if cost == nil {
		return s
	}
	if s.LandingValue, s.LandingTaxes = &cost.TaxBase.CIFInUSD, cost.TaxBase.Recomputed; s.LandingTaxes == nil {
		answered := l.Estimate.Tax.Computed()
		s.LandingValue, s.LandingTaxes = &l.Estimate.Tax.CIFInUSD, &answered
	}
	if s.Whole = cost; len(cost.Missing) > 0 {
		s.Whole, s.Part = nil, cost
	}
	s.lines = cost.Lines
	s.Estimated = slices.DeleteFunc(slices.Clone(cost.Lines), func(l vehicle.CostLine) bool { return !l.Estimated })
	return s
}

// valueAt returns what reads the value at a path of JSON names in values of a type: a text, an int, a
// decimal, or nil for what is not there. A list is the values of its elements.
func valueAt(of reflect.Type, path []string) func(reflect.Value) any {
	switch of.Kind() {
	case reflect.Pointer:
		next := valueAt(of.Elem(), path)
		return func(v reflect.Value) any {
			if v.IsNil() {
				return nil
			}
			return next(v.Elem())
		}
	case reflect.Slice:
		next, between := valueAt(of.Elem(), path), " "
		if len(path) == 0 {
			between = ", "
		}
		return func(v reflect.Value) any {
			names := make([]string, v.Len())
			for i := range names {
				names[i] = plainText(next(v.Index(i)))
			}
			return strings.Join(names, between)
		}
	default:
	}
	if len(path) == 0 {
		return valueOf
	}
	for _, field := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == path[0] {
			next := valueAt(field.Type, path[1:])
			return func(v reflect.Value) any { return next(v.FieldByIndex(field.Index)) }
		}
	}
	panic("export: columns.csv: no " + path[0]) // embedded: only a broken build gets here
}

// valueOf returns a value as tables hold it. 0 is what the listing does not give.
func valueOf(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Int64:
		return decimal.NewFromInt(v.Int())
	case v.CanInt() && v.Int() == 0:
		return nil
	case v.CanInt():
		return int(v.Int())
	}
	if number, is := reflect.TypeAssert[interface{ Decimal() decimal.Decimal }](v); is {
		return number.Decimal()
	}
	return v.Interface()
}

// dayOf returns a text as a date; nil for none.
func dayOf(text any) any {
	if day, is := text.(string); is {
		return moment(day)
	}
	return nil
}

// Margin returns how much the highest price for the target of the batch is above the
// price of the car, in dollars: both with freight where only such a price is known.
func Margin(e *vehicle.Estimate) (usd decimal.Decimal, ok bool) {
	if e.MaxPrice == nil {
		return usd, false
	}
	limits, price := e.MaxPrice.FOB, e.Car.FOBPriceUSD
	if price == nil {
		limits, price = e.MaxPrice.CF, e.Car.CFPriceUSD
	}
	if limits == nil || limits.Likely == nil || price == nil {
		return usd, false
	}
	return decimal.NewFromInt(*limits.Likely).Sub(price.Decimal()), true
}

// of returns the value of the column in a line, safe for any program to open.
func (c column) of(l shown) any {
	value := c.value(l)
	if text, ok := value.(string); ok {
		return table.Safe(text)
	}
	return value
}
