package export

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/shopspring/decimal"
)

const sheetName = "Results"

// The styles of cells, by their numbers in stylesXML.
const (
	styleAmount = 1
	styleHeader = 2
	styleDate   = 3
	styleTotal  = 4 // an amount
	styleBold   = 5
	styleText   = 6 // in several lines
	stylePlain  = 7 // a text, not close to the number before it
)

// The parts of a workbook (ECMA-376) but its sheets. Number format 4 is #,##0.00, one of
// those that every spreadsheet has; 22 is a date with its time.
const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNS  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relNS   = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	packNS  = `http://schemas.openxmlformats.org/package/2006/`
	mime    = `application/vnd.openxmlformats-officedocument.`

	typesXML = xmlHead + `<Types xmlns="` + packNS + `content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + mime + `spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + mime + `spreadsheetml.styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mime + `spreadsheetml.worksheet+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet2.xml" ContentType="` + mime + `spreadsheetml.worksheet+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet3.xml" ContentType="` + mime + `spreadsheetml.worksheet+xml"/>` +
		`<Override PartName="/xl/drawings/drawing1.xml" ContentType="` + mime + `drawing+xml"/>` +
		`<Override PartName="/xl/charts/chart1.xml" ContentType="` + mime + `drawingml.chart+xml"/></Types>`
	rootRelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	workbookXML = xmlHead + `<workbook ` + mainNS + ` xmlns:r="` + relNS + `">` +
		`<sheets><sheet name="` + sheetName + `" sheetId="1" r:id="rId1"/><sheet name="Notes" sheetId="2" r:id="rId2"/>` +
		`<sheet name="Picture" sheetId="3" r:id="rId3"/></sheets>` + printTitles + `</workbook>`
	workbookRelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + relNS + `/worksheet" Target="worksheets/sheet2.xml"/>` +
		`<Relationship Id="rId3" Type="` + relNS + `/worksheet" Target="worksheets/sheet3.xml"/>` +
		`<Relationship Id="rId4" Type="` + relNS + `/styles" Target="styles.xml"/></Relationships>`
	sheet3RelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/drawing" Target="../drawings/drawing1.xml"/></Relationships>`
	drawingRelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/chart" Target="../charts/chart1.xml"/></Relationships>`
	stylesXML = xmlHead + `<styleSheet ` + mainNS + `>` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>` +
		`<fill><patternFill patternType="solid"><fgColor rgb="FFE2EFDA"/><bgColor indexed="64"/></patternFill></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="8"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
		`<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
		`<xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1" applyAlignment="1">` +
		`<alignment vertical="center" wrapText="1"/></xf>` +
		`<xf numFmtId="22" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
		`<xf numFmtId="4" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/>` +
		`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
		`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1">` +
		`<alignment vertical="top" wrapText="1"/></xf>` +
		`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1">` +
		`<alignment horizontal="left" indent="1"/></xf>` +
		`</cellXfs></styleSheet>`
	// The header stays visible.
	sheetBegin = xmlHead + `<worksheet ` + mainNS + `>%s<sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`

	// On paper, of A4: the results are as wide as they are, with their header and the names of the
	// rows on every page; the other sheets are as wide as a page.
	fitToPage   = `<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`
	paperWide   = `<pageSetup paperSize="9" orientation="landscape"/>`
	paperNotes  = `<pageSetup paperSize="9" orientation="portrait" fitToHeight="0"/>`
	printTitles = `<definedNames><definedName name="_xlnm.Print_Titles" localSheetId="0">` +
		sheetName + `!$A:$B,` + sheetName + `!$1:$1</definedName></definedNames>`
)

// xlsxTable is an Excel workbook: the results with their totals, notes, and a picture.
// It is sent while it is written: its memory is that of one row, of the compressor, and of
// the few figures that the other sheets need.
type xlsxTable struct {
	archive *zip.Writer
	sheet   *bufio.Writer // the last part of the archive
	columns []column
	names   []string // of the columns: A, B, …
	row     int
	totals  []decimal.Decimal
	digest  *digest
}

// NewXLSX returns a Writer of an Excel workbook and writes the header.
func NewXLSX(w io.Writer, o Options) (Writer, error) {
	t := &xlsxTable{archive: zip.NewWriter(w), columns: o.all(), digest: newDigest(o)}
	t.totals = make([]decimal.Decimal, len(t.columns))
	for _, part := range [][2]string{
		{"[Content_Types].xml", typesXML},
		{"_rels/.rels", rootRelsXML},
		{"xl/workbook.xml", workbookXML},
		{"xl/_rels/workbook.xml.rels", workbookRelsXML},
		{"xl/styles.xml", stylesXML},
	} {
		if err := t.part(part[0], part[1]); err != nil {
			return nil, err
		}
	}
	widths := make([]float64, len(t.columns))
	for i, c := range t.columns {
		t.names = append(t.names, columnName(i))
		widths[i] = c.width
	}
	if err := t.beginSheet(1, "", widths); err != nil {
		return nil, err
	}
	return t, t.write(styleHeader, func(c column) any { return c.header })
}

// beginSheet begins a sheet with properties and columns of some widths.
func (t *xlsxTable) beginSheet(number int, properties string, widths []float64) error {
	begin := fmt.Sprintf(sheetBegin, properties) + "<cols>"
	if err := t.part(fmt.Sprintf("xl/worksheets/sheet%d.xml", number), begin); err != nil {
		return err
	}
	for i, width := range widths {
		_, _ = fmt.Fprintf(t.sheet, `<col min="%d" max="%d" width="%g" customWidth="1"/>`, i+1, i+1, width)
	}
	_, _ = t.sheet.WriteString("</cols><sheetData>")
	return nil
}

// part begins a part of the archive.
func (t *xlsxTable) part(name, begin string) error {
	if t.sheet != nil {
		if err := t.sheet.Flush(); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	part, err := t.archive.Create(name)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	t.sheet = bufio.NewWriter(part)
	if _, err := t.sheet.WriteString(begin); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// columnName returns the name of the column with an index: A to Z, AA, AB and so on.
func columnName(i int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return columnName(i/len(letters)-1) + columnName(i%len(letters))
}

// Line writes a row.
func (t *xlsxTable) Line(l Line) error {
	t.digest.add(l)
	return t.write(0, func(c column) any { return c.of(l) })
}

// write writes a row whose texts have a style.
func (t *xlsxTable) write(style int, value func(c column) any) error {
	t.row++
	number := strconv.Itoa(t.row)
	_, _ = t.sheet.WriteString(`<row r="` + number + `">`)
	for i, c := range t.columns {
		v := value(c)
		if amount, ok := v.(decimal.Decimal); ok && c.sum {
			t.totals[i] = t.totals[i].Add(amount)
		}
		t.cell(t.names[i]+number, style, v)
	}
	// An error of the writer stays until here.
	if _, err := t.sheet.WriteString("</row>"); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// writeTotals writes the last row: sums of the rows that a filter shows. They are the
// only formulas of the workbook.
func (t *xlsxTable) writeTotals() {
	last := t.row
	if last == 1 {
		return
	}
	number := strconv.Itoa(last + 1)
	_, _ = t.sheet.WriteString(`<row r="` + number + `">`)
	t.cell("A"+number, styleBold, t.digest.text("total"))
	for i, c := range t.columns {
		if c.sum {
			_, _ = fmt.Fprintf(t.sheet, `<c r="%s%s" s="%d"><f>SUBTOTAL(109,%s2:%s%d)</f><v>%s</v></c>`,
				t.names[i], number, styleTotal, t.names[i], t.names[i], last, t.totals[i])
		}
	}
	_, _ = t.sheet.WriteString("</row>")
}

// cell writes one cell, unless it is empty. Spreadsheets read amounts as binary
// numbers: up to fifteen digits, far more than one has, are exact.
func (t *xlsxTable) cell(at string, style int, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
		if style == 0 {
			style = stylePlain
		}
		_, _ = fmt.Fprintf(t.sheet, `<c r="%s" s="%d" t="inlineStr"><is><t xml:space="preserve">`, at, style)
		_ = xml.EscapeText(t.sheet, []byte(v))
		_, _ = t.sheet.WriteString("</t></is></c>")
	case moment:
		if serial, ok := v.serial(); ok {
			_, _ = fmt.Fprintf(t.sheet, `<c r="%s" s="%d"><v>%s</v></c>`, at, styleDate, serial)
			return
		}
		t.cell(at, style, string(v))
	case int:
		_, _ = fmt.Fprintf(t.sheet, `<c r="%s"><v>%d</v></c>`, at, v)
	case decimal.Decimal:
		_, _ = fmt.Fprintf(t.sheet, `<c r="%s" s="%d"><v>%s</v></c>`, at, styleAmount, v.String())
	}
}

// Discard does nothing: rows are sent as they are written.
func (*xlsxTable) Discard() {}

// Close sends the rest of the workbook.
func (t *xlsxTable) Close() error {
	t.writeTotals()
	_, _ = fmt.Fprintf(t.sheet, `</sheetData><autoFilter ref="A1:%s%d"/>`, t.names[len(t.names)-1], t.row)
	_, _ = t.sheet.WriteString(paperWide + "</worksheet>")
	if err := errors.Join(t.writeNotes(), t.writePicture()); err != nil {
		return err
	}
	if err := t.sheet.Flush(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := t.archive.Close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// writeNotes writes the sheet with the assumptions and the sources.
func (t *xlsxTable) writeNotes() error {
	if err := t.beginSheet(2, fitToPage, []float64{34, 100}); err != nil {
		return err
	}
	for i, note := range append([][2]string{{t.digest.text("note"), t.digest.text("meaning")}}, t.digest.notes()...) {
		style := styleText
		if i == 0 {
			style = styleHeader
		}
		_, _ = fmt.Fprintf(t.sheet, `<row r="%d">`, i+1)
		for column, text := range note {
			t.cell(columnName(column)+strconv.Itoa(i+1), style, escapeFormula(text))
		}
		_, _ = t.sheet.WriteString("</row>")
	}
	_, _ = t.sheet.WriteString("</sheetData>" + paperNotes + "</worksheet>")
	return nil
}

// writePicture writes the sheet with the twenty cheapest cars and the chart.
func (t *xlsxTable) writePicture() error {
	if err := t.beginSheet(3, fitToPage, []float64{8, 18, 34, 8, 18, 16}); err != nil {
		return err
	}
	rows := [][]any{{
		t.digest.text("row"), t.digest.text("reference"), t.digest.text("car"), t.digest.text("year"), t.digest.text("onTheRoad"),
		t.digest.text("maxPrice"),
	}}
	for _, c := range t.digest.cheapest {
		row := []any{c.row, escapeFormula(c.reference), escapeFormula(c.name), c.year, decimal.NewFromInt(c.tzs), nil}
		if c.maxPrice != nil {
			row[5] = decimal.NewFromInt(*c.maxPrice)
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		style := 0
		if i == 0 {
			style = styleHeader
		}
		_, _ = fmt.Fprintf(t.sheet, `<row r="%d">`, i+1)
		for column, value := range row {
			t.cell(columnName(column)+strconv.Itoa(i+1), style, value)
		}
		_, _ = t.sheet.WriteString("</row>")
	}
	_, _ = t.sheet.WriteString(`</sheetData>` + paperWide + `<drawing xmlns:r="` + relNS + `" r:id="rId1"/></worksheet>`)
	for _, part := range [][2]string{
		{"xl/worksheets/_rels/sheet3.xml.rels", sheet3RelsXML},
		{"xl/drawings/drawing1.xml", drawingXML},
		{"xl/drawings/_rels/drawing1.xml.rels", drawingRelsXML},
		{"xl/charts/chart1.xml", t.chart()},
	} {
		if err := t.part(part[0], part[1]); err != nil {
			return err
		}
	}
	return nil
}
