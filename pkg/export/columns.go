package export

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/table"
	"ushuru/pkg/vehicle"
)

// column is one column of the table. Its value is a string, an int, a
// decimal.Decimal, a moment, or nil where there is none.
type column struct {
	name   string  // "" of the caller's own
	width  float64 // in a spreadsheet, in characters
	value  func(l Line) any
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
		sheet := column{name: "sheet", width: ownWidth, value: func(l Line) any { return l.Sheet }}
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
		list = append(list, column{header: table.Safe(name), width: ownWidth, value: func(l Line) any { return own(l, i) }})
	}
	return list
}

// lastBeforeLines is the column before those of the lines of the cost.
const lastBeforeLines = "exchangeRateOthers"

// lineColumns are the amounts of the lines in shillings, whose sum is driveAwayTZS.
func (o Options) lineColumns() (list []column) {
	amount := func(l Line, of func(CostLine) bool) any {
		if l.Estimate == nil || l.Estimate.DriveAway == nil {
			return nil
		}
		sum, some := decimal.Zero, false
		for _, line := range l.Estimate.DriveAway.Lines {
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
		list = append(list, column{name: one.Code, width: amountWidth, sum: true, value: func(l Line) any {
			return amount(l, func(known CostLine) bool { return known.Code == one.Code })
		}})
	}
	if len(o.Lines) > 0 {
		list = append(list, column{name: "taxesToExpectTZS", width: amountWidth, sum: true, value: func(l Line) any {
			return amount(l, func(known CostLine) bool { return known.Tax })
		}})
	}
	return list
}

const ownWidth = 16

// own returns one of the caller's own cells: a number or a day where it is one.
func own(l Line, i int) any {
	if i >= len(l.Own) || l.Own[i] == "" {
		return nil
	}
	text := l.Own[i]
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
var columns = []column{
	{"row", 6, func(l Line) any { return l.Number }, false, ""},
	{"reference", 16, func(l Line) any { return l.Reference }, false, ""},
	{"url", 48, func(l Line) any { return l.URL }, false, ""},
	{"state", 11, func(l Line) any { return string(l.State) }, false, ""},
	{"code", 16, func(l Line) any { return l.Code }, false, ""},
	{"reason", 40, func(l Line) any { return l.Reason }, false, ""},

	car("make", 12, func(c vehicle.Car) any { return c.Make }),
	car("model", 18, func(c vehicle.Car) any { return c.Model }),
	car("modelCode", 12, func(c vehicle.Car) any { return c.ModelCode }),
	car("version", 16, func(c vehicle.Car) any { return c.Version }),
	car("year", 6, func(c vehicle.Car) any { return count(c.Year) }),
	car("engine_cc", 10, func(c vehicle.Car) any { return count(c.EngineCC) }),
	car("fuel", 12, func(c vehicle.Car) any { return c.Fuel }),
	car("fobPriceUSD", 12, func(c vehicle.Car) any { return number(c.FOBPriceUSD) }),
	car("cfPriceUSD", 12, func(c vehicle.Car) any { return number(c.CFPriceUSD) }),
	{"priceBasis", 10, func(l Line) any { return l.Basis }, false, ""},
	car("given", 16, func(c vehicle.Car) any { return strings.Join(c.Given, ", ") }),

	estimate("modelBody", 36, func(e *vehicle.Estimate) any { return e.Matched.ModelBody }),
	estimate("matchType", 11, func(e *vehicle.Estimate) any { return string(e.Matched.MatchType) }),
	estimate("matchReason", 40, func(e *vehicle.Estimate) any { return e.Matched.MatchReason }),
	estimate("confidence", 11, func(e *vehicle.Estimate) any { return string(e.Matched.Confidence) }),
	estimate("adjusted", 16, func(e *vehicle.Estimate) any { return adjusted(e.Matched.Adjustments) }),
	estimate("yom", 6, func(e *vehicle.Estimate) any { return count(e.Matched.YOM) }),

	tax("cifInUSD", func(t vehicle.Tax) money.Amount { return t.CIFInUSD }),
	tax("importDutyInUSD", func(t vehicle.Tax) money.Amount { return t.ImportDutyInUSD }),
	tax("exiseDutyInUSD", func(t vehicle.Tax) money.Amount { return t.ExiseDutyInUSD }),
	tax("exiseDutyDueToAgeInUSD", func(t vehicle.Tax) money.Amount { return t.ExiseDutyDueToAgeInUSD }),
	tax("vatInUSD", func(t vehicle.Tax) money.Amount { return t.VATInUSD }),
	tax("customProcessingFeeInUSD", func(t vehicle.Tax) money.Amount { return t.CustomProcessingFeeInUSD }),
	tax("railwayDevLevyInUSD", func(t vehicle.Tax) money.Amount { return t.RailwayDevLevyInUSD }),
	tax("indDevLevy", func(t vehicle.Tax) money.Amount { return t.IndDevLevy }),
	tax("hivRespLevy", func(t vehicle.Tax) money.Amount { return t.HIVRespLevy }),
	tax("totalImportTaxesInUSD", func(t vehicle.Tax) money.Amount { return t.TotalImportTaxesInUSD }),
	tax("totalImportTaxesInTZS", func(t vehicle.Tax) money.Amount { return t.TotalImportTaxesInTZS }),
	tax("vehicleRegistrationFeeInTZS", func(t vehicle.Tax) money.Amount { return t.VehicleRegistrationFeeInTZS }),
	tax("totalTaxesInTZS", func(t vehicle.Tax) money.Amount { return t.TotalTaxesInTZS }),

	anyCost("landing", func(d *vehicle.DriveAway) any { return moment(d.Landing.Likely) }),
	landingTax("landingCifInUSD",
		func(b vehicle.TaxBase) money.Amount { return b.CIFInUSD }, func(t vehicle.Tax) money.Amount { return t.CIFInUSD }),
	landingTax("landingImportDutyInUSD", func(b vehicle.TaxBase) money.Amount { return b.Recomputed.ImportDutyInUSD },
		func(t vehicle.Tax) money.Amount { return t.ImportDutyInUSD }),
	landingTax("landingExciseDutyInUSD", func(b vehicle.TaxBase) money.Amount { return b.Recomputed.ExciseDutyInUSD },
		func(t vehicle.Tax) money.Amount { return t.ExiseDutyInUSD }),
	landingTax("landingExciseDutyDueToAgeInUSD",
		func(b vehicle.TaxBase) money.Amount { return b.Recomputed.ExciseDutyDueToAgeInUSD },
		func(t vehicle.Tax) money.Amount { return t.ExiseDutyDueToAgeInUSD }),
	landingTax("landingVatInUSD", func(b vehicle.TaxBase) money.Amount { return b.Recomputed.VATInUSD },
		func(t vehicle.Tax) money.Amount { return t.VATInUSD }),
	landingTax("landingCustomProcessingFeeInUSD",
		func(b vehicle.TaxBase) money.Amount { return b.Recomputed.CustomProcessingFeeInUSD },
		func(t vehicle.Tax) money.Amount { return t.CustomProcessingFeeInUSD }),
	landingTax("landingRailwayDevLevyInUSD", func(b vehicle.TaxBase) money.Amount { return b.Recomputed.RailwayDevLevyInUSD },
		func(t vehicle.Tax) money.Amount { return t.RailwayDevLevyInUSD }),
	landingTax("landingTotalImportTaxesInUSD",
		func(b vehicle.TaxBase) money.Amount { return b.Recomputed.TotalImportTaxesInUSD },
		func(t vehicle.Tax) money.Amount { return t.TotalImportTaxesInUSD }),

	rate("exchangeRateTaxes", func(r vehicle.ExchangeRates) money.Number { return r.Taxes }),
	rate("exchangeRateOthers", func(r vehicle.ExchangeRates) money.Number { return r.Others }),
	driveAway("driveAwayUSD", func(d *vehicle.DriveAway) money.Amount { return d.TotalUSD }),
	driveAway("driveAwayTZS", func(d *vehicle.DriveAway) money.Amount { return d.TotalTZS }),
	driveAway("driveAwayLowUSD", func(d *vehicle.DriveAway) money.Amount { return d.LowUSD }),
	driveAway("driveAwayHighUSD", func(d *vehicle.DriveAway) money.Amount { return d.HighUSD }),
	driveAway("driveAwayLowTZS", func(d *vehicle.DriveAway) money.Amount { return d.LowTZS }),
	driveAway("driveAwayHighTZS", func(d *vehicle.DriveAway) money.Amount { return d.HighTZS }),
	costWhere("driveAwayPartUSD", false, func(d *vehicle.DriveAway) money.Amount { return d.TotalUSD }),
	costWhere("driveAwayPartTZS", false, func(d *vehicle.DriveAway) money.Amount { return d.TotalTZS }),
	anyCost("driveAwayMissing", func(d *vehicle.DriveAway) any { return missing(d.Missing) }),
	anyCost("driveAwayEstimated", func(d *vehicle.DriveAway) any { return estimated(d.Lines) }),
	estimate("driveAwayConfidence", 11, numberConfidence),
	onTheRoad("onTheRoadTZS", func(s *vehicle.Sum) int64 { return s.TZS }),
	onTheRoad("onTheRoadLowTZS", func(s *vehicle.Sum) int64 { return s.LowTZS }),
	onTheRoad("onTheRoadHighTZS", func(s *vehicle.Sum) int64 { return s.HighTZS }),
	estimate("maxPriceUSD", 12, maxPrice),
	estimate("marginUSD", 12, marginOf),

	estimate("referenceNumber", 18, func(e *vehicle.Estimate) any { return e.Tax.ReferenceNumber }),
	estimate("asOf", 20, func(e *vehicle.Estimate) any { return moment(e.AsOf) }),
	estimate("validUntil", 20, func(e *vehicle.Estimate) any { return moment(e.ValidUntil) }),
	estimate("doubts", 40, func(e *vehicle.Estimate) any {
		return join(e.Doubts, func(d vehicle.Doubt) string { return d.Code })
	}),
	estimate("warnings", 40, func(e *vehicle.Estimate) any { return warnings(e.Warnings) }),
}

func estimate(name string, width float64, value func(*vehicle.Estimate) any) column {
	return column{name: name, width: width, value: func(l Line) any {
		if l.Estimate == nil {
			return nil
		}
		return value(l.Estimate)
	}}
}

// car is a column that shows a value of the car. It is filled as far as the car was read, also
// when the cost is not known.
func car(name string, width float64, value func(vehicle.Car) any) column {
	return column{name: name, width: width, value: func(l Line) any {
		switch {
		case l.Estimate != nil:
			return value(l.Estimate.Car)
		case l.Car != nil:
			return value(*l.Car)
		}
		return nil
	}}
}

const amountWidth = 15

func tax(name string, value func(vehicle.Tax) money.Amount) column {
	return summed(estimate(name, amountWidth, func(e *vehicle.Estimate) any { return value(e.Tax).Decimal() }))
}

// summed returns a column with a total.
func summed(c column) column {
	c.sum = true
	return c
}

// landingTax is one of the taxes on the likely landing day: as they were computed for it, or
// those of TRA's answer where nothing differs.
func landingTax(name string, computed func(vehicle.TaxBase) money.Amount, answered func(vehicle.Tax) money.Amount) column {
	return summed(estimate(name, amountWidth, func(e *vehicle.Estimate) any {
		switch {
		case e.DriveAway == nil:
			return nil
		case e.DriveAway.TaxBase.Recomputed != nil:
			return computed(e.DriveAway.TaxBase).Decimal()
		}
		return answered(e.Tax).Decimal()
	}))
}

// rate is an exchange rate of the drive-away cost.
func rate(name string, value func(vehicle.ExchangeRates) money.Number) column {
	return anyCost(name, func(d *vehicle.DriveAway) any { return value(d.Exchange).Decimal() })
}

// anyCost is a column of a cost, complete or not.
func anyCost(name string, value func(*vehicle.DriveAway) any) column {
	return estimate(name, amountWidth, func(e *vehicle.Estimate) any {
		if e.DriveAway == nil {
			return nil
		}
		return value(e.DriveAway)
	})
}

// driveAway is a column of complete costs. A cost without the price of the car stands in
// another column, so that no sum mixes both.
func driveAway(name string, value func(*vehicle.DriveAway) money.Amount) column {
	return costWhere(name, true, value)
}

func costWhere(name string, complete bool, value func(*vehicle.DriveAway) money.Amount) column {
	return summed(anyCost(name, func(d *vehicle.DriveAway) any {
		if (len(d.Missing) == 0) != complete {
			return nil
		}
		return value(d).Decimal()
	}))
}

// onTheRoad is a column of the number that people read.
func onTheRoad(name string, value func(*vehicle.Sum) int64) column {
	return summed(estimate(name, amountWidth, func(e *vehicle.Estimate) any {
		if e.Summary == nil || e.Summary.OnTheRoad == nil {
			return nil
		}
		return decimal.NewFromInt(value(e.Summary.OnTheRoad))
	}))
}

// maxPrice returns the highest likely price without freight for the target of the
// batch.
func maxPrice(e *vehicle.Estimate) any {
	if e.MaxPrice == nil || e.MaxPrice.FOB == nil || e.MaxPrice.FOB.Likely == nil {
		return nil
	}
	return decimal.NewFromInt(*e.MaxPrice.FOB.Likely)
}

// marginOf returns how much the highest price for the target is above the price of the
// car; nil when one of them is not known.
func marginOf(e *vehicle.Estimate) any {
	if margin, ok := Margin(e); ok {
		return margin
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

// estimated names the lines that are our estimates, and nobody's figure for this car.
func estimated(list []vehicle.CostLine) string {
	list = slices.DeleteFunc(slices.Clone(list), func(l vehicle.CostLine) bool { return !l.Estimated })
	return join(list, func(l vehicle.CostLine) string { return l.Code })
}

// numberConfidence returns how far the cost can be trusted.
func numberConfidence(e *vehicle.Estimate) any {
	if e.Summary == nil {
		return nil
	}
	return string(e.Summary.Confidence)
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
		return table.Safe(text)
	}
	return value
}
