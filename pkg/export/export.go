// Package export writes the outcome of a batch as a table: CSV or a spreadsheet.
// Rows are written as they come, so that memory does not grow with the batch.
package export

import (
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/vehicle"
)

// The members of an estimate that the tables read, by their dotted names in JSON.
const (
	ReadByCSV = "input.url,car.make,car.model,car.modelCode,car.version,car.year,car.engine_cc,car.fuel,car.fobPriceUSD," +
		"car.cfPriceUSD,car.given,matched.modelBody,matched.matchType,matched.matchReason,matched.confidence," +
		"matched.adjustments.field,matched.yom,tax,asOf,validUntil,maxPriceUSD,doubts.code,warnings.code," +
		"summary.onTheRoad,summary.confidence,driveAway.landing.likely,driveAway.taxBase,driveAway.exchange," +
		"driveAway.totalUSD,driveAway.totalTZS,driveAway.lowUSD,driveAway.highUSD,driveAway.lowTZS,driveAway.highTZS," +
		"driveAway.missing.code,driveAway.lines.code,driveAway.lines.amountTZS,driveAway.lines.estimated"
	ReadByXLSX = ReadByCSV + ",driveAway.lines"
)

// Line is one listing of a batch and its outcome.
type Line struct {
	Number    int // of the row, as the caller counts
	Sheet     string
	Reference string
	URL       string
	State     batch.State
	Basis     string            // of a described car: which price of the row its price is
	Own       []string          // cells of the caller's own columns
	Code      string            // why there is no estimate; "" when there is one
	Reason    string            // the same as a sentence
	Estimate  *vehicle.Estimate // nil when there is none
	Car       *vehicle.Car      // what is known of the car without an estimate; nil for nothing
}

// name returns what names the row for people: the car, or else the address of its listing.
func (l Line) name() string {
	car := l.Car
	if l.Estimate != nil {
		car = &l.Estimate.Car
	}
	if car != nil {
		if words := strings.Fields(car.Make + " " + car.Model + " " + car.ModelCode); len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	_, address, hasScheme := strings.Cut(l.URL, "://")
	if !hasScheme {
		return l.URL
	}
	return address
}

// Options say what a table is about.
type Options struct {
	Lang    string
	Columns []string // the caller's own, whose cells stand behind the results
	Sheets  bool     // lines are of several sheets
	Lines   []CostLine
	BOM     bool   // CSV begins with a byte order mark, by which Excel knows UTF-8
	Batch   string // id
	Terms   batch.Terms
}

// CostLine is a line that a cost on the road can have.
type CostLine struct {
	Code string
	Tax  bool // it is a tax, or a fee of the authority
}

// Writer writes a table. Close sends the rest of it.
type Writer interface {
	Line(l Line) error
	Close() error
}
