package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/table"
)

// sheet is a sheet of a workbook that is being written.
type sheet struct {
	*bufio.Writer

	rows  int          // that are written
	texts *sharedTexts // nil: the texts stand in the cells
}

// sharedTexts are texts that stand in the workbook once, however many cells have them.
type sharedTexts struct {
	index map[string]int
	all   []string
}

// maxShared is how many texts are shared. Others stand in their cells.
const maxShared = 20_000

// of returns the number of a text; false of one that is not shared.
func (t *sharedTexts) of(text string) (number int, ok bool) {
	if t == nil {
		return 0, false
	}
	number, ok = t.index[text]
	if !ok && len(t.all) < maxShared {
		number, ok = len(t.all), true
		t.index[text], t.all = number, append(t.all, text)
	}
	return number, ok
}

// textBegin begins a text, with the spaces at its ends.
const textBegin = `<t xml:space="preserve">`

// beginSheet begins a sheet with properties and columns of some widths.
func beginSheet(w *bufio.Writer, properties string, widths []float64) sheet {
	_, _ = fmt.Fprintf(w, sheetBegin, properties)
	_, _ = w.WriteString("<cols>")
	for i, width := range widths {
		_, _ = fmt.Fprintf(w, `<col min="%d" max="%d" width="%g" customWidth="1"/>`, i+1, i+1, width)
	}
	_, _ = w.WriteString("</cols><sheetData>")
	return sheet{Writer: w}
}

// write writes a row whose texts have a style.
func (s *sheet) write(style int, values ...any) error {
	s.rows++
	number := strconv.Itoa(s.rows)
	_, _ = s.WriteString(`<row r="` + number + `">`)
	for i, value := range values {
		s.cell(columnName(i)+number, style, value)
	}
	// An error of the writer stays until here.
	if _, err := s.WriteString("</row>"); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// cell writes one cell, unless it is empty. Spreadsheets read amounts as binary
// numbers: up to fifteen digits, far more than one has, are exact.
func (s *sheet) cell(at string, style int, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
		if style == 0 {
			style = stylePlain
		}
		if number, ok := s.texts.of(v); ok {
			s.begin(at, style, ` t="s"><v>`)
			_, _ = s.WriteString(strconv.Itoa(number) + "</v></c>")
			return
		}
		s.begin(at, style, ` t="inlineStr"><is>`+textBegin)
		_ = xml.EscapeText(s, []byte(v))
		_, _ = s.WriteString("</t></is></c>")
	case moment:
		if serial, ok := v.serial(); ok {
			s.number(at, styleDate, serial)
			return
		}
		s.cell(at, style, string(v))
	case int:
		s.number(at, 0, strconv.Itoa(v))
	case decimal.Decimal:
		s.number(at, styleAmount, v.String())
	}
}

// begin begins a cell; more is what follows its style. Most of the time of a workbook is spent
// here, so that nothing is formatted.
func (s *sheet) begin(at string, style int, more string) {
	_, _ = s.WriteString(`<c r="`)
	_, _ = s.WriteString(at)
	_, _ = s.WriteString(`" s="`)
	_, _ = s.WriteString(strconv.Itoa(style))
	_, _ = s.WriteString(`"`)
	_, _ = s.WriteString(more)
}

func (s *sheet) number(at string, style int, number string) {
	s.begin(at, style, "><v>")
	_, _ = s.WriteString(number)
	_, _ = s.WriteString("</v></c>")
}

// columnName returns the name of the column with an index: A to Z, AA, AB and so on.
func columnName(i int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return columnName(i/len(letters)-1) + columnName(i%len(letters))
}

// lineSheet is the sheet with one row for each line of each cost. It is compressed in memory
// while the cars are sent, about 2 KB a hundred lines, and sent after them.
type lineSheet struct {
	sheet

	lang       string
	compressed bytes.Buffer
	compressor *flate.Writer
	size       int64
	sum        hash.Hash32
}

// lineColumns are the names of its columns, with their widths.
var lineColumns = []struct {
	name  string
	width float64
}{
	{"row", 6},
	{"reference", 16},
	{"car", 30},
	{"line", 20},
	{"name", 34},
	{"amountUSD", 13},
	{"amountTZS", amountWidth},
	{"lowTZS", amountWidth},
	{"highTZS", amountWidth},
	{"paidIn", 8},
	{"estimated", 10},
	{"basis", 40},
	{"source", 40},
	{"date", 12},
}

func newLineSheet(lang string) (*lineSheet, error) {
	l := &lineSheet{lang: lang, sum: crc32.NewIEEE()}
	var err error
	if l.compressor, err = flate.NewWriter(&l.compressed, flate.BestSpeed); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	names, widths := make([]any, len(lineColumns)), make([]float64, len(lineColumns))
	for i, c := range lineColumns {
		names[i], widths[i] = c.name, c.width
	}
	l.sheet = beginSheet(bufio.NewWriter(io.MultiWriter(l.compressor, l)), "", widths)
	l.texts = &sharedTexts{index: map[string]int{}}
	return l, l.write(styleHeader, names...)
}

// Write counts what is compressed.
func (l *lineSheet) Write(p []byte) (int, error) {
	l.size += int64(len(p))
	return l.sum.Write(p) //nolint:wrapcheck // it has none
}

// add writes the lines of the cost of a row.
func (l *lineSheet) add(line Line) error {
	if line.Estimate == nil || line.Estimate.DriveAway == nil {
		return nil
	}
	reference, name := table.Safe(line.Reference), table.Safe(line.name())
	for _, c := range line.Estimate.DriveAway.Lines {
		basis, source, paidIn := c.Basis, c.Source, c.PaidIn
		if c.BasisText != nil {
			basis = c.BasisText.In(l.lang)
		}
		if c.SourceText != nil {
			source = c.SourceText.In(l.lang)
		}
		if paidIn == "" {
			paidIn = "USD"
		}
		err := l.write(0, line.Number, reference, name, c.Code, c.Name.In(l.lang),
			c.AmountUSD.Decimal(), c.AmountTZS.Decimal(), c.LowTZS.Decimal(), c.HighTZS.Decimal(), paidIn,
			strconv.FormatBool(c.Estimated), table.Safe(basis), table.Safe(source), c.Date)
		if err != nil {
			return err
		}
	}
	return nil
}

// sendTo ends the sheet and writes it into the archive.
func (l *lineSheet) sendTo(archive *zip.Writer, name string) error {
	_, _ = fmt.Fprintf(l.Writer, `</sheetData><autoFilter ref="A1:%s%d"/>%s</worksheet>`,
		columnName(len(lineColumns)-1), l.rows, paperWide)
	if err := errors.Join(l.Flush(), l.compressor.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	part, err := archive.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: l.sum.Sum32(),
		CompressedSize64: uint64(l.compressed.Len()), UncompressedSize64: uint64(l.size), //nolint:gosec // not negative
	})
	if err == nil {
		_, err = l.compressed.WriteTo(part)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// serial returns a moment as spreadsheets count days, in Dar es Salaam's time of the API's
// answer; false when it is none.
func (m moment) serial() (string, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		at, err := time.Parse(layout, string(m))
		if err != nil {
			continue
		}
		_, offset := at.Zone()
		seconds := at.Unix() + int64(offset) - time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
		return strconv.FormatFloat(float64(seconds)/(24*60*60), 'f', 6, 64), true
	}
	return "", false
}
