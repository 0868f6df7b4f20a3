package lot_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ushuru/pkg/lot"
	"ushuru/pkg/lot/lottest"
	"ushuru/pkg/table"
)

// Of three lists of a thousand cars, in the forms of two auctions and of an exporter, every
// row is understood but the twenty whose year cannot be read, and those have a reason.
func TestListsOfAThousandCars(t *testing.T) {
	t.Parallel()
	for _, form := range lottest.Forms {
		var data bytes.Buffer
		if err := lottest.Write(&data, form, 1000, 1); err != nil {
			t.Fatal(err)
		}
		if folder := os.Getenv("USHURU_LISTS"); folder != "" { // for a look at them
			if err := os.WriteFile(filepath.Join(folder, form), data.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, err := table.Open(data.Bytes(), "")
		if err != nil {
			t.Fatal(form, err)
		}
		r, err := file.Next(table.Options{MaxRows: 1000, IsColumn: lot.Mapping{}.IsColumn})
		if err != nil {
			t.Fatal(form, err)
		}
		columns := lot.NewColumns(lot.Header{Names: r.Header}, nil)
		rows, understood, refused, priced := 0, 0, 0, 0
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(form, err)
			}
			rows++
			car := columns.Read(row.Cells)
			switch {
			case len(car.Problems) > 0 || car.Year == 0:
				refused++
			case car.Make != "" && car.Model != "" && car.ModelCode != "" && car.EngineCC != 0:
				understood++
			}
			if len(car.Prices) == 1 {
				priced++
			}
		}
		if rows != 1000 || understood != 980 || refused != 20 || priced != 975 {
			t.Errorf("%s: %d rows, %d understood, %d refused, %d with a price", form, rows, understood, refused, priced)
		}
	}
}
