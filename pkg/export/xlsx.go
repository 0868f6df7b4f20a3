package export

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
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
)

// The parts of a workbook (ECMA-376) but its sheet. Number format 4 is #,##0.00, one of
// those that every spreadsheet has.
const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNS  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relNS   = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	packNS  = `http://schemas.openxmlformats.org/package/2006/`
	mime    = `application/vnd.openxmlformats-officedocument.spreadsheetml.`

	typesXML = xmlHead + `<Types xmlns="` + packNS + `content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + mime + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + mime + `styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mime + `worksheet+xml"/></Types>`
	rootRelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	workbookXML = xmlHead + `<workbook ` + mainNS + ` xmlns:r="` + relNS + `">` +
		`<sheets><sheet name="` + sheetName + `" sheetId="1" r:id="rId1"/></sheets></workbook>`
	workbookRelsXML = xmlHead + `<Relationships xmlns="` + packNS + `relationships">` +
		`<Relationship Id="rId1" Type="` + relNS + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + relNS + `/styles" Target="styles.xml"/></Relationships>`
	stylesXML = xmlHead + `<styleSheet ` + mainNS + `>` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill>` +
		`<fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
		`<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
		`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs></styleSheet>`
	// The header stays visible.
	sheetBegin = xmlHead + `<worksheet ` + mainNS + `><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
	sheetEnd = `</sheetData></worksheet>`
)

// xlsxTable is an Excel workbook of one sheet. It is sent while it is written: its
// memory is that of one row and of the compressor.
type xlsxTable struct {
	archive *zip.Writer
	sheet   *bufio.Writer // the last part of the archive
	names   []string      // of the columns: A, B, …
	row     int
}

// NewXLSX returns a Writer of an Excel workbook and writes the header.
func NewXLSX(w io.Writer) (Writer, error) {
	t := &xlsxTable{archive: zip.NewWriter(w)}
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
	if err := t.part("xl/worksheets/sheet1.xml", sheetBegin+"<cols>"); err != nil {
		return nil, err
	}
	for i, c := range columns {
		t.names = append(t.names, columnName(i))
		_, _ = fmt.Fprintf(t.sheet, `<col min="%d" max="%d" width="%g" customWidth="1"/>`, i+1, i+1, c.width)
	}
	_, _ = t.sheet.WriteString("</cols><sheetData>")
	return t, t.write(styleHeader, func(c column) any { return c.name })
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
func (t *xlsxTable) Line(l Line) error { return t.write(0, func(c column) any { return c.of(l) }) }

// write writes a row whose texts have a style.
func (t *xlsxTable) write(style int, value func(c column) any) error {
	t.row++
	number := strconv.Itoa(t.row)
	_, _ = t.sheet.WriteString(`<row r="` + number + `">`)
	for i, c := range columns {
		t.cell(t.names[i]+number, style, value(c))
	}
	// An error of the writer stays until here.
	if _, err := t.sheet.WriteString("</row>"); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// cell writes one cell, unless it is empty. Spreadsheets read amounts as binary
// numbers: up to fifteen digits, far more than one has, are exact.
func (t *xlsxTable) cell(at string, style int, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
		_, _ = fmt.Fprintf(t.sheet, `<c r="%s" s="%d" t="inlineStr"><is><t xml:space="preserve">`, at, style)
		_ = xml.EscapeText(t.sheet, []byte(v))
		_, _ = t.sheet.WriteString("</t></is></c>")
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
	_, _ = t.sheet.WriteString(sheetEnd)
	if err := t.sheet.Flush(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := t.archive.Close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}
