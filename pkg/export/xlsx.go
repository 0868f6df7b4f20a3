package export

import (
	"errors"
	"fmt"
	"io"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"
)

const (
	sheetName    = "Results"
	amountFormat = 4 // #,##0.00, one of the formats that every spreadsheet has
)

// xlsxTable is an Excel workbook of one sheet. Rows beyond 16 MB go to a temporary
// file; the workbook is sent at the end.
type xlsxTable struct {
	out    io.Writer
	file   *excelize.File
	sheet  *excelize.StreamWriter
	amount int // style of amounts
	rows   int
	cells  []any
}

// NewXLSX returns a Writer of an Excel workbook.
func NewXLSX(w io.Writer) (Writer, error) {
	t := &xlsxTable{out: w, file: excelize.NewFile(), cells: make([]any, len(columns))}
	if err := t.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("export: %w", err), t.file.Close())
	}
	return t, nil
}

func (t *xlsxTable) begin() (err error) {
	if err = t.file.SetSheetName(t.file.GetSheetName(0), sheetName); err != nil {
		return err
	}
	if t.amount, err = t.file.NewStyle(&excelize.Style{NumFmt: amountFormat}); err != nil {
		return err
	}
	bold, err := t.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	if t.sheet, err = t.file.NewStreamWriter(sheetName); err != nil {
		return err
	}
	for i, c := range columns {
		if err = t.sheet.SetColWidth(i+1, i+1, c.width); err != nil {
			return err
		}
		t.cells[i] = excelize.Cell{StyleID: bold, Value: c.name}
	}
	// The header stays visible.
	err = t.sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	if err != nil {
		return err
	}
	return t.row()
}

func (t *xlsxTable) row() error {
	t.rows++
	return t.sheet.SetRow(fmt.Sprintf("A%d", t.rows), t.cells)
}

// Line writes a row.
func (t *xlsxTable) Line(l Line) error {
	for i, c := range columns {
		t.cells[i] = c.of(l)
		if amount, ok := t.cells[i].(decimal.Decimal); ok {
			// Spreadsheets have no decimal numbers. Up to fifteen digits, far more
			// than an amount has, are exact.
			t.cells[i] = excelize.Cell{StyleID: t.amount, Value: amount.InexactFloat64()}
		}
	}
	if err := t.row(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Discard removes the temporary file.
func (t *xlsxTable) Discard() { _ = t.file.Close() }

// Close sends the workbook.
func (t *xlsxTable) Close() error {
	err := t.sheet.Flush()
	if err == nil {
		err = t.file.Write(t.out)
	}
	if err = errors.Join(err, t.file.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}
