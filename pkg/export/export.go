// Package export writes the outcome of a batch as a table: CSV or a spreadsheet.
// Rows are written as they come, so that memory does not grow with the batch.
package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

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

// Writer writes a table. Close sends the rest of it.
type Writer interface {
	Line(l Line) error
	Close() error
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

// csvTable is a table of RFC 4180: UTF-8, CRLF, a header.
// Amounts have a decimal point and no thousands separators.
type csvTable struct {
	out     *csv.Writer
	columns []column
	cells   []string
}

// NewCSV returns a Writer of CSV and writes the header.
func NewCSV(w io.Writer, o Options) (Writer, error) {
	if o.BOM {
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return nil, err
		}
	}
	columns := o.all()
	t := &csvTable{csv.NewWriter(w), columns, make([]string, len(columns))}
	t.out.UseCRLF = true
	for i, c := range columns {
		t.cells[i] = c.header
	}
	return t, t.out.Write(t.cells)
}

// Line writes a row.
func (t *csvTable) Line(l Line) error {
	shown := shownOf(l)
	for i, c := range t.columns {
		t.cells[i] = plainText(c.of(shown))
	}
	if err := t.out.Write(t.cells); err != nil {
		return err
	}
	t.out.Flush()
	return t.out.Error()
}

// Close ends the table.
func (t *csvTable) Close() error {
	t.out.Flush()
	return t.out.Error()
}

func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case moment:
		return string(v)
	case int:
		return strconv.Itoa(v)
	case decimal.Decimal:
		return v.String()
	}
	return ""
}
