// Package export writes the outcome of a batch as a table: CSV or a spreadsheet.
// Rows are written as they come, so that memory does not grow with the batch.
package export

import (
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/batch"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Line is one listing of a batch and its outcome.
type Line struct {
	Number    int // of the row, as the caller counts
	Reference string
	URL       string
	State     batch.State
	Code      string            // why there is no estimate; "" when there is one
	Reason    string            // the same as a sentence
	Estimate  *vehicle.Estimate // nil when there is none
}

// Writer writes a table. It ends with Close, which sends the rest, or with Discard,
// which abandons the table.
type Writer interface {
	Line(l Line) error
	Close() error
	Discard()
}

// column is one column of the table. Its value is a string, an int, a
// decimal.Decimal, or nil where there is none.
type column struct {
	name  string
	width float64 // in a spreadsheet, in characters
	value func(l Line) any
}

// columns are named as the fields of the API are, with their unit.
var columns = []column{
	{"row", 6, func(l Line) any { return l.Number }},
	{"reference", 16, func(l Line) any { return l.Reference }},
	{"url", 48, func(l Line) any { return l.URL }},
	{"state", 11, func(l Line) any { return string(l.State) }},
	{"code", 16, func(l Line) any { return l.Code }},
	{"reason", 40, func(l Line) any { return l.Reason }},

	car("make", 12, func(c vehicle.Car) any { return c.Make }),
	car("model", 18, func(c vehicle.Car) any { return c.Model }),
	car("modelCode", 12, func(c vehicle.Car) any { return c.ModelCode }),
	car("version", 16, func(c vehicle.Car) any { return c.Version }),
	car("year", 6, func(c vehicle.Car) any { return count(c.Year) }),
	car("engine_cc", 10, func(c vehicle.Car) any { return count(c.EngineCC) }),
	car("fuel", 12, func(c vehicle.Car) any { return c.Fuel }),
	car("fobPriceUSD", 12, func(c vehicle.Car) any { return number(c.FOBPriceUSD) }),
	car("cfPriceUSD", 12, func(c vehicle.Car) any { return number(c.CFPriceUSD) }),

	estimate("modelBody", 36, func(e *vehicle.Estimate) any { return e.Matched.ModelBody }),
	estimate("matchType", 11, func(e *vehicle.Estimate) any { return string(e.Matched.MatchType) }),
	estimate("confidence", 11, func(e *vehicle.Estimate) any { return string(e.Matched.Confidence) }),
	estimate("adjusted", 16, func(e *vehicle.Estimate) any { return adjusted(e.Matched.Adjustments) }),
	estimate("yom", 6, func(e *vehicle.Estimate) any { return count(e.Matched.YOM) }),

	tax("cifInUSD", func(t vehicle.Tax) money.Amount { return t.CIFInUSD }),
	tax("totalImportTaxesInUSD", func(t vehicle.Tax) money.Amount { return t.TotalImportTaxesInUSD }),
	tax("totalImportTaxesInTZS", func(t vehicle.Tax) money.Amount { return t.TotalImportTaxesInTZS }),
	tax("vehicleRegistrationFeeInTZS", func(t vehicle.Tax) money.Amount { return t.VehicleRegistrationFeeInTZS }),
	tax("totalTaxesInTZS", func(t vehicle.Tax) money.Amount { return t.TotalTaxesInTZS }),

	driveAway("driveAwayUSD", func(d *vehicle.DriveAway) any { return d.TotalUSD.Decimal() }),
	driveAway("driveAwayTZS", func(d *vehicle.DriveAway) any { return d.TotalTZS.Decimal() }),
	driveAway("driveAwayLowUSD", func(d *vehicle.DriveAway) any { return d.LowUSD.Decimal() }),
	driveAway("driveAwayHighUSD", func(d *vehicle.DriveAway) any { return d.HighUSD.Decimal() }),
	driveAway("driveAwayLowTZS", func(d *vehicle.DriveAway) any { return d.LowTZS.Decimal() }),
	driveAway("driveAwayHighTZS", func(d *vehicle.DriveAway) any { return d.HighTZS.Decimal() }),
	onTheRoad("onTheRoadTZS", func(s *vehicle.Sum) int64 { return s.TZS }),
	onTheRoad("onTheRoadLowTZS", func(s *vehicle.Sum) int64 { return s.LowTZS }),
	onTheRoad("onTheRoadHighTZS", func(s *vehicle.Sum) int64 { return s.HighTZS }),
	estimate("maxPriceUSD", 12, maxPrice),
	driveAway("driveAwayMissing", func(d *vehicle.DriveAway) any { return missing(d.Missing) }),

	estimate("referenceNumber", 18, func(e *vehicle.Estimate) any { return e.Tax.ReferenceNumber }),
	estimate("asOf", 20, func(e *vehicle.Estimate) any { return e.AsOf }),
	estimate("warnings", 40, func(e *vehicle.Estimate) any { return warnings(e.Warnings) }),
}

func estimate(name string, width float64, value func(*vehicle.Estimate) any) column {
	return column{name, width, func(l Line) any {
		if l.Estimate == nil {
			return nil
		}
		return value(l.Estimate)
	}}
}

func car(name string, width float64, value func(vehicle.Car) any) column {
	return estimate(name, width, func(e *vehicle.Estimate) any { return value(e.Car) })
}

const amountWidth = 15

func tax(name string, value func(vehicle.Tax) money.Amount) column {
	return estimate(name, amountWidth, func(e *vehicle.Estimate) any { return value(e.Tax).Decimal() })
}

func driveAway(name string, value func(*vehicle.DriveAway) any) column {
	return estimate(name, amountWidth, func(e *vehicle.Estimate) any {
		if e.DriveAway == nil {
			return nil
		}
		return value(e.DriveAway)
	})
}

// onTheRoad is a column of the number that people read.
func onTheRoad(name string, value func(*vehicle.Sum) int64) column {
	return estimate(name, amountWidth, func(e *vehicle.Estimate) any {
		if e.Summary == nil || e.Summary.OnTheRoad == nil {
			return nil
		}
		return decimal.NewFromInt(value(e.Summary.OnTheRoad))
	})
}

// maxPrice returns the highest likely price without freight for the target of the
// batch.
func maxPrice(e *vehicle.Estimate) any {
	if e.MaxPrice == nil || e.MaxPrice.FOB == nil || e.MaxPrice.FOB.Likely == nil {
		return nil
	}
	return decimal.NewFromInt(*e.MaxPrice.FOB.Likely)
}

// count returns nil for 0, which means that the listing does not give the value.
func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func number(n *money.Number) any {
	if n == nil {
		return nil
	}
	return n.Decimal()
}

func adjusted(list []vehicle.Adjustment) string {
	return join(list, func(a vehicle.Adjustment) string { return a.Field })
}

func missing(list []vehicle.Missing) string {
	return join(list, func(m vehicle.Missing) string { return m.Code })
}

func warnings(list []vehicle.Warning) string {
	return join(list, func(w vehicle.Warning) string { return w.Code })
}

func join[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = name(one)
	}
	return strings.Join(names, " ")
}

// of returns the value of the column in a line, safe for any program to open.
func (c column) of(l Line) any {
	value := c.value(l)
	if text, ok := value.(string); ok {
		return escapeFormula(text)
	}
	return value
}
