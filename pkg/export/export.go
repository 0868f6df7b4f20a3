// Package export writes the outcome of a batch as a table: CSV or a spreadsheet.
// Rows are written as they come, so that memory does not grow with the batch.
package export

import (
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/vehicle"
)

// Line is one listing of a batch and its outcome.
type Line struct {
	Number    int               `json:"row"` // as the caller counts
	Sheet     string            `json:"sheet"`
	Reference string            `json:"reference"`
	URL       string            `json:"url"`
	State     batch.State       `json:"state"`
	Basis     string            `json:"priceBasis"` // of a described car: which price of the row its price is
	Own       []string          `json:"-"`          // cells of the caller's own columns
	Code      string            `json:"code"`       // why there is no estimate; "" when there is one
	Reason    string            `json:"reason"`     // the same as a sentence
	Estimate  *vehicle.Estimate `json:"estimate"`   // nil when there is none
	Car       *vehicle.Car      `json:"car"`        // what is known of the car without an estimate; nil for nothing
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
