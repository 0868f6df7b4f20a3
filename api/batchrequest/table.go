package batchrequest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/lot"
	"ushuru/pkg/message"
	"ushuru/pkg/table"
	"ushuru/pkg/vehicle"
)

// Table says how a table was understood.
type Table struct {
	Format    string       `json:"format"` // csv or xlsx
	Charset   string       `json:"charset,omitempty"`
	Separator string       `json:"separator,omitempty"`
	Sheet     string       `json:"sheet,omitempty"`
	HeaderRow int          `json:"headerRow"`
	Columns   []lot.Column `json:"columns"`
	Repeated  []string     `json:"repeatedColumns,omitempty"` // they mean what others before them mean
	Unknown   []string     `json:"unknownColumns,omitempty"`
	EmptyRows int          `json:"emptyRows"` // which were left out

	OtherSheets []string `json:"otherSheets,omitempty"` // with a header too, which were not read

	SkippedCount int          `json:"skippedCount,omitempty"` // rows with text that are no cars
	Skipped      []SkippedRow `json:"skippedRows,omitempty"`  // the first of them
}

// readTable reads the rows of a table. Commas are the columns with a comma before their cents,
// which only all rows show: then the table is read again.
func (req *Request) readTable(data []byte, charset string, mapping lot.Mapping, commas []int) error {
	r, err := table.Open(data, table.Options{
		Charset: charset, MaxRows: batch.MaxRows,
		IsColumn: func(name string) bool { return mapping.Has(name) || lot.IsColumn(name) },
		IsUnit:   lot.IsUnit,
	})
	if err != nil {
		return tableProblem(err)
	}
	columns := lot.NewColumns(lot.Header{Names: r.Header, Above: r.Above, Merged: r.Merged, Title: r.Sheet}, mapping)
	columns.UseCommas(commas)
	var skipped []SkippedRow
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return tableProblem(err)
		}
		if reason := columns.Skip(row.Cells); reason != "" && !row.Extra {
			skipped = append(skipped, SkippedRow{row.Number, clip(firstOf(row.Cells)), reason})
			columns.Note(row.Cells)
			continue
		}
		req.Rows = append(req.Rows, rowOfTable(row, columns))
	}
	if more := columns.Commas(); commas == nil && more != nil {
		req.Rows = nil
		return req.readTable(data, charset, mapping, more)
	}
	req.Columns, req.columns = columns.Own(), columns
	if columns.AreResults() {
		r.OtherSheets = nil // notes and a picture
	}
	req.Table = &Table{
		Format: r.Format, Charset: r.Charset, Separator: r.Separator, Sheet: r.Sheet, HeaderRow: r.HeaderRow,
		Columns: columns.All(), Repeated: columns.Duplicate, Unknown: columns.Unknown, EmptyRows: r.Empty,
		OtherSheets: r.OtherSheets, SkippedCount: len(skipped), Skipped: skipped[:min(len(skipped), maxSkipped)],
	}
	return nil
}

// maxSkipped is how many rows that were left out are named.
const maxSkipped = 100

// SkippedRow is a row that is no car: a total, a note, or the names of the columns again.
type SkippedRow struct {
	Row    int    `json:"row"`
	Text   string `json:"text"` // its first cell
	Reason string `json:"reason"`
}

func firstOf(cells []string) string { return cmp.Or(cells...) }

// rowOfTable reads a row. A cell that cannot be read rejects the row of a described car;
// of a row with a URL the listing says it.
func rowOfTable(from table.Row, columns *lot.Columns) Row {
	row := Row{number: from.Number}
	read := columns.Read(columns.Linked(from.Cells, from.Links))
	row.setLot(read)
	row.Known = terms.KnownOfCells(read.Known)
	row.Own = limitOwn(columns.OwnCells(from.Cells))
	switch {
	case from.Extra:
		row.problem = errRowCells
	case row.URL == "" && len(read.Problems) > 0:
		row.problem = cellProblem(read.Problems[0])
	}
	return row
}

// likelyJPYPerUSD shows prices in yen in dollars while the caller has not given a rate.
const likelyJPYPerUSD = 150

// Questions returns what must be asked about the units of prices before the batch can be
// accepted.
func (req *Request) Questions() []lot.Question {
	if req.columns == nil {
		return nil
	}
	rate := decimal.NewFromInt(likelyJPYPerUSD)
	if given := req.Options.JPYPerUSD; given != nil {
		rate = given.Decimal()
	}
	return req.columns.Questions(rate)
}

// unitProblem refuses a batch with a question: it says how to answer.
func unitProblem(q lot.Question) *problem.Problem {
	as, other := q.Readings[0], q.Readings[1]
	return problem.New(http.StatusBadRequest, "unit_unclear", message.Values{
		"column": clip(q.Column), "value": clip(q.Values[0]),
		"unit": as.Unit, "usd": as.FirstUSD[0].String(), "answer": clip(as.Answer),
		"otherUnit": other.Unit, "otherUSD": other.FirstUSD[0].String(), "otherAnswer": clip(other.Answer),
	}).Of("column")
}

func cellProblem(p lot.Problem) *problem.Problem {
	variant := "cell"
	if p.Currency {
		variant = "currency"
	}
	return problem.New(http.StatusBadRequest, "field_invalid."+variant,
		message.Values{"column": clip(p.Column), "value": clip(p.Value), "field": p.Field})
}

// tableProblem returns the problem of a table that is refused.
func tableProblem(err error) error {
	if line, ok := errors.AsType[*table.LineError](err); ok {
		code := "table_line_invalid"
		if line.Long {
			code += ".long"
		}
		const maxLineKB = maxRow >> 10
		return problem.New(http.StatusBadRequest, code,
			message.Values{"line": strconv.Itoa(line.Line), "max": strconv.Itoa(maxLineKB)}).WithCause(err)
	}
	for _, known := range []struct{ err, problem error }{
		{table.ErrHeader, errCSVHeaderMissing},
		{table.ErrTooManyRows, errTooManyRows},
		{table.ErrTooLarge, errTableTooLarge},
		{table.ErrOldExcel, errTableOldExcel},
		{table.ErrCharset, errCharset},
		{table.ErrNotTable, errTableUnreadable},
	} {
		if errors.Is(err, known.err) {
			return fmt.Errorf("%w: %w", known.problem, err)
		}
	}
	return err
}

// Warnings name the columns and fields that were not understood.
func (req *Request) Warnings() (warnings []vehicle.Warning) {
	warn := func(key string, names []string) {
		if len(names) > 0 {
			warnings = append(warnings, message.New("warning/"+key, message.Values{"columns": clipNames(names)}))
		}
	}
	if req.Table == nil {
		warn("columns_unknown.fields", req.Columns)
		return warnings
	}
	var skipped []string
	for _, row := range req.Table.Skipped {
		skipped = append(skipped, strconv.Itoa(row.Row)+" ("+row.Text+")")
	}
	if skipped != nil {
		warnings = append(warnings, message.New("warning/rows_skipped", message.Values{
			"count": strconv.Itoa(req.Table.SkippedCount), "rows": clipNames(skipped),
		}))
	}
	warn("sheets_not_read", req.Table.OtherSheets)
	warn("columns_repeated", req.Table.Repeated)
	warn("columns_unknown", req.Table.Unknown)
	return warnings
}

// clipNames lists names of columns.
func clipNames(names []string) string {
	const maxNamed = 40
	more := ""
	if len(names) > maxNamed {
		names, more = names[:maxNamed], ", …"
	}
	clipped := make([]string, len(names))
	for i, name := range names {
		clipped[i] = clip(name)
	}
	return strings.Join(clipped, ", ") + more
}
