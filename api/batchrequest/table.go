package batchrequest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
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

// maxOwnColumns is how many own columns the sheets of a workbook may have together.
const maxOwnColumns = 300

// maxSkipped is how many rows that were left out are named.
const maxSkipped = 100

// Table says how a table was understood.
type Table struct {
	table.Form

	Columns   []lot.Column `json:"columns"`
	Repeated  []string     `json:"repeatedColumns,omitempty"` // they mean what others before them mean
	Unknown   []string     `json:"unknownColumns,omitempty"`
	EmptyRows int          `json:"emptyRows"` // which were left out

	// Further are the other sheets with cars; OtherSheets names those with a header that does
	// not say which cars their rows are, and that were not read.
	Further     []*Table `json:"furtherSheets,omitempty"`
	OtherSheets []string `json:"otherSheets,omitempty"`

	SkippedCount int          `json:"skippedCount,omitempty"` // rows with text that are no cars
	Skipped      []SkippedRow `json:"skippedRows,omitempty"`  // the first of them

	reader  *table.Reader // until its rows are read
	columns *lot.Columns
	unread  []string // columns of which the listing's own fact is used in some rows
}

// SkippedRow is a row that is no car: a total, a note, or the names of the columns again.
type SkippedRow struct {
	Row    int    `json:"row"`
	Text   string `json:"text"` // its first cell
	Reason string `json:"reason"`
}

// sheets returns the table and its further sheets.
func (t *Table) sheets() []*Table { return append([]*Table{t}, t.Further...) }

// readTable reads the rows of a table, of a workbook those of every sheet with cars. Only all rows
// show in which columns a comma stands before the cents: then the table is read again.
func (req *Request) readTable(data []byte, charset string, mapping lot.Mapping) error {
	for commas := map[string][]int(nil); ; {
		req.Rows, req.Table, req.Columns, req.columns = nil, nil, nil, nil
		if err := req.readSheets(data, charset, mapping, commas); err != nil {
			return err
		}
		found := map[string][]int{}
		for _, columns := range req.columns {
			if more := columns.Commas(); more != nil {
				found[columns.Sheet()] = more
			}
		}
		if commas != nil || len(found) == 0 {
			return nil
		}
		commas = found
	}
}

// readSheets reads the rows of all sheets. Commas are the columns with a comma before their cents,
// by sheet.
func (req *Request) readSheets(data []byte, charset string, mapping lot.Mapping, commas map[string][]int) error {
	file, err := table.Open(data, charset)
	if err != nil {
		return tableProblem(err)
	}
	options := table.Options{MaxRows: batch.MaxRows, IsColumn: mapping.IsColumn, IsUnit: lot.IsUnit}
	var others, empty []*Table
	for {
		r, err := file.Next(options)
		if errors.Is(err, io.EOF) {
			return req.readOthers(others, empty)
		}
		if err != nil {
			return tableProblem(err)
		}
		s := &Table{Form: r.Form, reader: r, columns: lot.NewColumns(
			lot.Header{Names: r.Header, Above: r.Above, Merged: r.Merged, Title: r.Sheet}, mapping,
		)}
		s.columns.UseCommas(commas[r.Sheet])
		if !s.columns.DescribeCars() {
			others = append(others, s)
			continue
		}
		read, err := req.readSheet(s)
		switch {
		case err != nil:
			return err
		case !read:
			empty = append(empty, s)
		}
		if s.columns.AreResults() { // the other sheets are lines, notes and a picture
			return req.readOthers(others, empty)
		}
	}
}

// readOthers names the sheets that were not read; where none was, the rows of the first one will
// say what they lack.
func (req *Request) readOthers(others, empty []*Table) error {
	if req.Table == nil {
		first := slices.Concat(others, empty)[0]
		if read, err := req.readSheet(first); err != nil {
			return err
		} else if !read {
			req.addSheet(first)
		}
		others = slices.DeleteFunc(others, func(s *Table) bool { return s == first })
	}
	for _, s := range others {
		if s.columns.Known() > 1 { // else it is a word in a note
			req.Table.OtherSheets = append(req.Table.OtherSheets, s.Sheet)
		}
	}
	return nil
}

// readSheet reads the rows of a sheet behind those of the sheets before it, and reports whether
// there are any.
func (req *Request) readSheet(s *Table) (read bool, err error) {
	var own []int
	for {
		row, err := s.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, tableProblem(err)
		}
		if reason := s.columns.Skip(row.Cells); reason != "" && !row.Extra {
			if s.SkippedCount++; s.SkippedCount <= maxSkipped {
				s.Skipped = append(s.Skipped, SkippedRow{row.Number, clip(cmp.Or(row.Cells...)), reason})
			}
			s.columns.Note(row.Cells)
			continue
		}
		if !read {
			own, read = req.takeOwn(s.columns.Own()), true
		}
		if len(req.Columns) > maxOwnColumns {
			return false, errTableTooLarge
		}
		req.Rows = append(req.Rows, rowOfTable(row, s, own))
	}
	if read {
		req.addSheet(s)
	}
	return read, nil
}

// addSheet adds how a sheet was understood to that of the sheets before it.
func (req *Request) addSheet(s *Table) {
	s.Columns, s.Repeated, s.Unknown, s.EmptyRows = s.columns.All(), s.columns.Duplicate, s.columns.Unknown, s.reader.Empty
	s.reader = nil // it holds the whole file
	req.columns = append(req.columns, s.columns)
	if req.Table == nil {
		req.Table = s
		return
	}
	req.Table.Further = append(req.Table.Further, s)
}

// takeOwn adds the names of the own columns of a sheet to those of the sheets before it, which
// share the ones with equal names, and returns where each is.
func (req *Request) takeOwn(names []string) (at []int) {
	for _, name := range names {
		i := 0
		for i < len(req.Columns) && (req.Columns[i] != name || slices.Contains(at, i)) { // a sheet may have a name twice
			i++
		}
		if i == len(req.Columns) {
			req.Columns = append(req.Columns, name)
		}
		at = append(at, i)
	}
	return at
}

// rowOfTable reads a row. A cell that cannot be read rejects the row of a described car;
// of a row with a URL the listing says it, and a warning names the column.
func rowOfTable(from table.Row, s *Table, own []int) Row {
	row, columns := Row{number: from.Number, sheet: s.Sheet}, s.columns
	read := columns.Read(columns.Linked(from.Cells, from.Links))
	row.setLot(read)
	row.Known = terms.KnownOfCells(read.Known)
	var cells []string
	for i, cell := range columns.OwnCells(from.Cells) {
		if cell != "" {
			cells = setCell(cells, own[i], cell)
		}
	}
	row.Own = limitOwn(cells)
	switch {
	case from.Extra:
		row.problem = errRowCells
	case row.URL == "" && len(read.Problems) > 0:
		row.problem = cellProblem(read.Problems[0])
	default:
		for _, p := range read.Problems {
			if !slices.Contains(s.unread, p.Column) {
				s.unread = append(s.unread, p.Column)
			}
		}
	}
	return row
}

// likelyJPYPerUSD shows prices in yen in dollars while the caller has not given a rate.
const likelyJPYPerUSD = 150

// Questions returns what must be asked about the units of prices before the batch can be
// accepted.
func (req *Request) Questions() (questions []lot.Question) {
	rate := decimal.NewFromInt(likelyJPYPerUSD)
	if given := req.Options.JPYPerUSD; given != nil {
		rate = given.Decimal()
	}
	for _, columns := range req.columns {
		questions = append(questions, columns.Questions(rate, len(req.columns) > 1)...)
	}
	return questions
}

// unitProblem refuses a batch with a question: it says how to answer.
func unitProblem(q lot.Question) *problem.Problem {
	as, other := q.Readings[0], q.Readings[1]
	return problem.New(http.StatusBadRequest, "unit_unclear", message.Values{
		"column": clip(q.Column), "value": clip(q.Values[0]),
		"unit": as.Unit, "usd": as.FirstUSD[0], "answer": clip(as.Answer),
		"otherUnit": other.Unit, "otherUSD": other.FirstUSD[0], "otherAnswer": clip(other.Answer),
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
	count, several := 0, len(req.Table.Further) > 0
	var skipped, repeated, unknown, unread []string
	for _, t := range req.Table.sheets() {
		add := func(to *[]string, names ...string) {
			for _, name := range names {
				if several {
					name = t.Sheet + ": " + name
				}
				*to = append(*to, name)
			}
		}
		count += t.SkippedCount
		for _, row := range t.Skipped {
			add(&skipped, strconv.Itoa(row.Row)+" ("+row.Text+")")
		}
		add(&repeated, t.Repeated...)
		add(&unknown, t.Unknown...)
		add(&unread, t.unread...)
	}
	if skipped != nil {
		warnings = append(warnings, message.New("warning/rows_skipped", message.Values{
			"count": strconv.Itoa(count), "rows": clipNames(skipped),
		}))
	}
	warn("sheets_not_read", req.Table.OtherSheets)
	warn("columns_repeated", repeated)
	warn("columns_unknown", unknown)
	warn("columns_unread", unread)
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

const (
	// maxOwn is how much of the caller's own columns comes back, of one row in bytes.
	maxOwn = 2 << 10
	// maxOwnFields is how many names the caller's own fields of JSON may have in a batch.
	maxOwnFields = 100
)

// setCell puts a text into one of some cells, and empty ones before it as far as they are missing.
func setCell(cells []string, at int, text string) []string {
	for len(cells) <= at {
		cells = append(cells, "")
	}
	cells[at] = text
	return cells
}

// limitOwn clips the caller's own cells.
func limitOwn(cells []string) []string {
	left := maxOwn
	for i, cell := range cells {
		if len(cell) > left {
			cells[i] = strings.ToValidUTF8(cell[:left], "")
		}
		left -= len(cells[i])
	}
	if !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" }) {
		return nil
	}
	return cells
}
