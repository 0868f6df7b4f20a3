package export

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/shopspring/decimal"

	"ushuru/pkg/table"
)

// carSheet is the sheet with the rows of the list, the first of the workbook.
const carSheet = "Cars"

// The styles of cells, by their numbers in workbook/xl/styles.xml.
const (
	styleAmount = 1
	styleHeader = 2
	styleDate   = 3
	styleTotal  = 4 // an amount
	styleBold   = 5
	styleText   = 6 // in several lines
	stylePlain  = 7 // a text, not close to the number before it
)

// fixedParts are the parts of a workbook (ECMA-376) that are the same in all. In its styles, number
// format 4 is #,##0.00, one of those that every spreadsheet has; 22 is a date with its time.
//
//go:embed all:workbook
var fixedParts embed.FS

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNS  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`

	// The parts of a sheet around its rows.
	sheetBegin = xmlHead + `<worksheet ` + mainNS + `>%s` +
		// The header stays visible.
		`<sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
	drawing = `<drawing xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId1"/>`

	// On paper, of A4: the results are as wide as they are, with their header and the names of the
	// rows on every page; the other sheets are as wide as a page.
	fitToPage  = `<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`
	paperWide  = `<pageSetup paperSize="9" orientation="landscape"/>`
	paperNotes = `<pageSetup paperSize="9" orientation="portrait" fitToHeight="0"/>`
)

// xlsxTable is an Excel workbook: the cars with their totals, the lines of their costs, notes,
// and a picture. It is sent while it is written: its memory is that of one row, of the
// compressor, of the compressed lines, and of the few figures that the other sheets need.
type xlsxTable struct {
	archive *zip.Writer
	part    *bufio.Writer // the last of the archive
	cars    sheet
	lines   *lineSheet
	columns []column
	totals  []decimal.Decimal
	digest  *digest
}

// NewXLSX returns a Writer of an Excel workbook and writes the header.
func NewXLSX(w io.Writer, o Options) (Writer, error) {
	t := &xlsxTable{archive: zip.NewWriter(w), columns: o.all(), digest: newDigest(o)}
	t.totals = make([]decimal.Decimal, len(t.columns))
	t.archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed) // compressing more takes longer than all else
	})
	err := fs.WalkDir(fixedParts, "workbook", func(path string, part fs.DirEntry, err error) error {
		if err != nil || part.IsDir() { // programs need not expect folders in a workbook
			return err
		}
		text, err := fixedParts.ReadFile(path)
		if err == nil {
			err = t.begin(strings.TrimPrefix(path, "workbook/"))
		}
		if err == nil {
			_, err = t.part.Write(text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	widths, names := make([]float64, len(t.columns)), make([]any, len(t.columns))
	for i, c := range t.columns {
		widths[i], names[i] = c.width, c.header
	}
	if t.lines, err = newLineSheet(o.Lang); err != nil {
		return nil, err
	}
	if t.cars, err = t.beginSheet(1, "", widths); err != nil {
		return nil, err
	}
	return t, t.cars.write(styleHeader, names...)
}

// beginSheet begins a sheet with properties and columns of some widths.
func (t *xlsxTable) beginSheet(number int, properties string, widths []float64) (sheet, error) {
	if err := t.begin(fmt.Sprintf("xl/worksheets/sheet%d.xml", number)); err != nil {
		return sheet{}, err
	}
	return beginSheet(t.part, properties, widths), nil
}

// begin begins a part of the archive.
func (t *xlsxTable) begin(name string) error {
	err := t.flush()
	part, createErr := t.archive.Create(name)
	if createErr == nil {
		t.part = bufio.NewWriter(part)
	}
	return errors.Join(err, createErr)
}

// flush ends the last part of the archive.
func (t *xlsxTable) flush() error {
	if t.part == nil {
		return nil
	}
	return t.part.Flush()
}

// Line writes a row.
func (t *xlsxTable) Line(l Line) error {
	t.digest.add(l)
	values, shown := make([]any, len(t.columns)), shownOf(l)
	for i, c := range t.columns {
		values[i] = c.of(shown)
		if amount, ok := values[i].(decimal.Decimal); ok && c.sum {
			t.totals[i] = t.totals[i].Add(amount)
		}
	}
	return errors.Join(t.lines.add(l), t.cars.write(0, values...))
}

// writeTotals writes the last row: sums of the rows that a filter shows. They are the
// only formulas of the workbook.
func (t *xlsxTable) writeTotals() {
	last := t.cars.rows
	if last == 1 {
		return
	}
	number := strconv.Itoa(last + 1)
	_, _ = t.part.WriteString(`<row r="` + number + `">`)
	t.cars.cell("A"+number, styleBold, t.digest.text("total"))
	for i, c := range t.columns {
		if c.sum {
			_, _ = fmt.Fprintf(t.part, `<c r="%s%s" s="%d"><f>SUBTOTAL(109,%s2:%s%d)</f><v>%s</v></c>`,
				columnName(i), number, styleTotal, columnName(i), columnName(i), last, t.totals[i])
		}
	}
	_, _ = t.part.WriteString("</row>")
}

// Close sends the rest of the workbook.
func (t *xlsxTable) Close() error {
	t.writeTotals()
	_, _ = fmt.Fprintf(t.part, `</sheetData><autoFilter ref="A1:%s%d"/>`, columnName(len(t.columns)-1), t.cars.rows)
	_, _ = t.part.WriteString(paperWide + "</worksheet>")
	err := errors.Join(t.flush(), t.lines.sendTo(t.archive, "xl/worksheets/sheet2.xml"),
		t.writeNotes(), t.writePicture(), t.writeTexts(), t.flush(), t.archive.Close())
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// writeNotes writes the sheet with the assumptions and the sources.
func (t *xlsxTable) writeNotes() error {
	notes, err := t.beginSheet(3, fitToPage, []float64{34, 100}) //nolint:mnd // the third sheet
	if err != nil {
		return err
	}
	err = notes.write(styleHeader, t.digest.text("note"), t.digest.text("meaning"))
	for _, note := range t.digest.notes() {
		err = errors.Join(err, notes.write(styleText, table.Safe(note[0]), table.Safe(note[1])))
	}
	_, _ = t.part.WriteString("</sheetData>" + paperNotes + "</worksheet>")
	return err
}

// writeTexts writes the texts that the sheet of lines shares.
func (t *xlsxTable) writeTexts() error {
	err := t.begin("xl/sharedStrings.xml")
	_, _ = t.part.WriteString(xmlHead + `<sst ` + mainNS + `>`)
	for _, text := range t.lines.texts.all {
		_, _ = t.part.WriteString(`<si>` + textBegin)
		_ = xml.EscapeText(t.part, []byte(text))
		_, _ = t.part.WriteString("</t></si>")
	}
	_, _ = t.part.WriteString("</sst>")
	return err
}

// writePicture writes the sheet with the twenty cheapest cars and the chart.
func (t *xlsxTable) writePicture() error {
	picture, err := t.beginSheet(4, fitToPage, []float64{8, 18, 34, 8, 18, 16}) //nolint:mnd // the fourth sheet
	if err != nil {
		return err
	}
	var names []any
	for _, name := range []string{"row", "reference", "car", "year", "onTheRoad", "maxPrice"} {
		names = append(names, t.digest.text(name))
	}
	err = picture.write(styleHeader, names...)
	for _, c := range t.digest.cheapest {
		row := []any{c.row, table.Safe(c.reference), table.Safe(c.name), c.year, decimal.NewFromInt(c.tzs)}
		if c.maxPrice != nil {
			row = append(row, decimal.NewFromInt(*c.maxPrice))
		}
		err = errors.Join(err, picture.write(0, row...))
	}
	_, _ = t.part.WriteString(`</sheetData>` + paperWide + drawing + `</worksheet>`)
	return errors.Join(err, t.begin("xl/charts/chart1.xml"), t.writeChart(t.part))
}

//go:embed chart.xml
var chartXML string

// chartTemplate is the chart. It refers to the cells, so that it has no figures of its own.
var chartTemplate = template.Must(template.New("chart").Parse(chartXML))

// chart are the values of the chart: the cost on the road over the year.
type chart struct {
	Title, Year, OnTheRoad string
	Series                 []series
	Years                  *yearAxis // nil leaves the axis to the spreadsheet, which begins it at 0
}

// series are the cars of one colour, with the cells of their years and costs.
type series struct {
	Name, Colour string
	Size         int // of a dot
	X, Y         string
}

// yearAxis are the bounds and the steps of the axis of years.
type yearAxis struct{ Min, Max, Step int }

// maxYearLabels is how many years the axis names.
const maxYearLabels = 16

// writeChart writes the chart of all cars and of the cheapest.
func (t *xlsxTable) writeChart(w io.Writer) error {
	cars := func(wanted string) string {
		name := columnName(slices.IndexFunc(t.columns, func(c column) bool { return c.name == wanted }))
		return fmt.Sprintf("%s!$%s$2:$%s$%d", carSheet, name, name, max(t.cars.rows, 2))
	}
	cheapest := func(name string) string {
		return fmt.Sprintf("Picture!$%s$2:$%s$%d", name, name, max(len(t.digest.cheapest)+1, 2))
	}
	c := chart{
		Title: t.digest.text("picture"), Year: t.digest.text("year"), OnTheRoad: t.digest.text("onTheRoad"),
		Series: []series{
			{t.digest.text("all"), "8FAADC", 4, cars("year"), cars("onTheRoadTZS")},
			{t.digest.text("cheapest"), "C00000", 6, cheapest("D"), cheapest("E")},
		},
	}
	if years := t.digest.years; years != nil {
		c.Years = &yearAxis{years.first - 1, years.last + 1, 1 + (years.last-years.first)/maxYearLabels}
	}
	return chartTemplate.Execute(w, c)
}
