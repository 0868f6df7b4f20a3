// Package table reads the tables that people send: CSV with any separator and in the
// encodings that spreadsheets write, and XLSX. Rows come one by one, so that no more
// than the file itself is in memory, and every bound holds for a hostile file too.
package table

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of a table.
const (
	maxLine    = 64 << 10 // bytes of a row of CSV
	maxColumns = 200
	// maxPreamble is how many rows may stand before the header: a title, a date.
	maxPreamble = 20
)

// Errors of a table that is refused as a whole.
var (
	// ErrHeader means that no row at the beginning names a known column.
	ErrHeader = errors.New("table: no row names the columns")
	// ErrTooManyRows means that there are more rows than Options.MaxRows.
	ErrTooManyRows = errors.New("table: too many rows")
	// ErrTooLarge means that the workbook unpacks to more than a list of cars can be.
	ErrTooLarge = errors.New("table: the workbook is too large")
	// ErrCharset means that the text is not in the encoding that the sender names.
	ErrCharset = errors.New("table: not in the encoding that is named")
	// ErrNotTable means that the bytes are neither text nor a workbook.
	ErrNotTable = errors.New("table: not a table")
	// ErrOldExcel means a workbook of Excel before 2007, or one with a password.
	ErrOldExcel = errors.New("table: an old or encrypted workbook")
)

// LineError refuses a table because of one line, which is not rows for certain.
type LineError struct {
	Line int
	Long bool // the line is too long; else a quotation mark in it is not closed, or stands in a text
}

func (e *LineError) Error() string {
	if e.Long {
		return fmt.Sprintf("table: line %d is too long", e.Line)
	}
	return fmt.Sprintf("table: stray quotation mark in line %d", e.Line)
}

// Options say how the tables of a file are read.
type Options struct {
	// MaxRows is the maximum number of rows below the headers of all sheets that are not empty.
	MaxRows int
	// IsColumn reports whether a cell of the header is the name of a known column. The
	// header is the row that has most of them.
	IsColumn func(name string) bool
	// IsUnit reports whether a cell below a name of a column says only its unit.
	IsUnit func(text string) bool
}

// Row is one row below the header. Cells are without spaces around them, and as many
// as the header has.
type Row struct {
	Number int // its line in the file, or its number in the sheet
	Cells  []string
	// Links are the addresses to which cells of a workbook lead, by column; nil for none.
	Links map[int]string
	// Extra means that the row has more cells than the header: which belongs to
	// which column is not certain.
	Extra bool
}

// Form is how a table is written.
type Form struct {
	Format    string `json:"format"`              // csv or xlsx
	Charset   string `json:"charset,omitempty"`   // of CSV, as it was read: utf-8, utf-16le, shift_jis, windows-1252 …
	Separator string `json:"separator,omitempty"` // of CSV; "" of a table with one column
	Sheet     string `json:"sheet,omitempty"`     // of XLSX: the name of the sheet
	HeaderRow int    `json:"headerRow"`
}

// File is a file with tables: a text with one, or a workbook with one on each sheet.
type File struct {
	sources []source // that are not open yet
	read    int      // rows of all tables so far
	found   bool     // a table with a header
}

// source is a table before its header is known.
type source interface {
	// open prepares the rows for a reader, and says how they are written.
	open(r *Reader) error
	// next gives the rows as they are, the header and what stands before it too. The end is io.EOF.
	next() (Row, error)
}

// Open recognises the format of a file. Charset is the encoding that the sender names; "" means
// that it must be recognised.
func Open(data []byte, charset string) (*File, error) {
	switch string(data[:min(len(data), 4)]) {
	case "PK\x03\x04":
		return openWorkbook(data)
	case "\xd0\xcf\x11\xe0":
		return nil, ErrOldExcel
	}
	return openText(data, charset)
}

// Next opens the next table that has a header, once the one before was read to its end, and reads
// the header; io.EOF when there is none, and ErrHeader when there was none at all.
func (f *File) Next(o Options) (*Reader, error) {
	for len(f.sources) > 0 {
		r := &Reader{file: f, options: o, source: f.sources[0]}
		f.sources = f.sources[1:]
		err := r.source.open(r)
		if err == nil {
			err = r.findHeader()
		}
		if errors.Is(err, ErrHeader) {
			continue
		}
		f.found = true
		return r, err
	}
	if !f.found {
		return nil, ErrHeader
	}
	return nil, io.EOF
}

// Reader reads a table row by row.
type Reader struct {
	Form

	Header []string
	// Above are the rows above the header, the nearest first. Merged means that cells that
	// are merged over several columns are known, and repeated in each.
	Above  [][]string
	Merged bool

	// Empty is the number of rows below the header, so far, without any text.
	Empty int

	file    *File
	options Options
	source  source
	ahead   []Row // read while the header was looked for
}

// Next returns the next row that is not empty; io.EOF after the last.
func (r *Reader) Next() (Row, error) {
	for {
		row, err := r.read()
		switch {
		case err != nil:
			return Row{}, err
		case isEmpty(row.Cells):
			r.Empty++
			continue
		case r.file.read == r.options.MaxRows:
			return Row{}, ErrTooManyRows
		}
		r.file.read++
		row.fit(len(r.Header))
		return row, nil
	}
}

func (r *Reader) read() (Row, error) {
	if len(r.ahead) > 0 {
		row := r.ahead[0]
		r.ahead = r.ahead[1:]
		return row, nil
	}
	return r.source.next()
}

// findHeader reads the beginning of a table up to its header, the row with most names
// of columns.
func (r *Reader) findHeader() error {
	best, at := 0, -1
	var begin []Row
	for len(begin) < maxPreamble {
		row, err := r.source.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if isEmpty(row.Cells) {
			if at >= 0 {
				begin = append(begin, row) // it is counted later
			}
			continue
		}
		if known := r.options.names(row.Cells); known > best {
			best, at = known, len(begin)
		}
		begin = append(begin, row)
	}
	if at < 0 {
		return ErrHeader
	}
	header := begin[at]
	begin, above := begin[at+1:], begin[:at]
	if len(begin) > 0 && r.options.isSecond(header.Cells, begin[0].Cells) {
		above, header = append(above, header), r.options.both(header, begin[0])
		begin = begin[1:]
	} else if at > 0 {
		r.options.fillFrom(above[at-1].Cells, header.Cells)
	}
	for len(header.Cells) > 0 && header.Cells[len(header.Cells)-1] == "" {
		header.Cells = header.Cells[:len(header.Cells)-1]
	}
	if len(header.Cells) > maxColumns {
		return ErrHeader
	}
	r.Header, r.HeaderRow, r.ahead = header.Cells, header.Number, begin
	for _, row := range slices.Backward(above) {
		r.Above = append(r.Above, row.Cells)
	}
	return nil
}

// isSecond reports whether the row below a header is a second row of it: it says only units,
// or names columns below the names of groups or below nothing.
func (o Options) isSecond(header, below []string) bool {
	units, names := 0, 0
	for i, cell := range below {
		switch {
		case cell == "", i < len(header) && cell == header[i]:
		case o.IsUnit != nil && o.IsUnit(cell):
			units++
		case o.IsColumn(cell) && (i >= len(header) || header[i] == "" || isRepeated(header, i)):
			names++
		default:
			return false
		}
	}
	return units+names > 0
}

// isRepeated reports whether a cell stands beside the same, as merged cells do, or beside
// nothing, as they do in text.
func isRepeated(cells []string, i int) bool {
	return i+1 < len(cells) && (cells[i+1] == cells[i] || cells[i+1] == "") || i > 0 && cells[i-1] == cells[i]
}

// both returns the names of two rows of a header: the lower one where it names a column, and
// with its unit where it says only that.
func (o Options) both(header, below Row) Row {
	header.Cells = slices.Clone(header.Cells)
	for i, cell := range below.Cells {
		for len(header.Cells) <= i {
			header.Cells = append(header.Cells, "")
		}
		switch {
		case cell == "" || cell == header.Cells[i]:
		case o.IsColumn(cell) || header.Cells[i] == "":
			header.Cells[i] = cell
		default:
			header.Cells[i] += " (" + cell + ")"
		}
	}
	return header
}

// fillFrom takes names of columns from the row above where a header has none: cells that are
// merged over both rows.
func (o Options) fillFrom(above, header []string) {
	for i, cell := range header {
		if cell == "" && i < len(above) && o.IsColumn(above[i]) {
			header[i] = above[i]
		}
	}
}

// names returns how many different names of columns cells have.
func (o Options) names(cells []string) int {
	found := map[string]bool{}
	for _, cell := range cells {
		if cell != "" && o.IsColumn(cell) {
			found[strings.ToLower(cell)] = true
		}
	}
	return len(found)
}

// fit gives a row as many cells as the header has.
func (r *Row) fit(columns int) {
	if len(r.Cells) > columns {
		r.Extra = r.Extra || !isEmpty(r.Cells[columns:])
		r.Cells = r.Cells[:columns]
	}
	for len(r.Cells) < columns {
		r.Cells = append(r.Cells, "")
	}
}

func isEmpty(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" })
}
