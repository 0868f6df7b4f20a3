package export

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/shopspring/decimal"
)

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
