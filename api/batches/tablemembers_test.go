package batches

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// TestATableReadsTheMembersThatItShows: it is the same of them alone as of the whole estimate, with a
// target and a cost that lacks something too.
func TestATableReadsTheMembersThatItShows(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	likely, price := int64(7000), money.NewNumber(decimal.NewFromInt(6180))
	for name, change := range map[string]func(*vehicle.Estimate){
		"whole": func(*vehicle.Estimate) {},
		"a target": func(e *vehicle.Estimate) {
			e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, &price
			e.MaxPrice = &vehicle.MaxPrice{FOB: &vehicle.PriceLimits{Likely: &likely}, CF: &vehicle.PriceLimits{Likely: &likely}}
			e.Doubts = []vehicle.Doubt{{Code: "year"}, {Code: "mileage"}}
		},
		"a part": func(e *vehicle.Estimate) {
			e.DriveAway.Missing, e.DriveAway.TaxBase.Recomputed = []vehicle.Missing{{Code: "car_price"}}, nil
		},
	} {
		var e vehicle.Estimate
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		whole, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for members, begin := range map[string]func(io.Writer, export.Options) (export.Writer, error){
			export.ReadByCSV: export.NewCSV, export.ReadByXLSX: export.NewXLSX,
		} {
			want, got := tableOf(t, begin, whole), tableOf(t, begin, request.Only(members).Pick(whole))
			if !bytes.Equal(got, want) {
				t.Errorf("%s: got %d bytes\n%.3000s\nwant %d\n%.3000s", name, len(got), got, len(want), want)
			}
		}
	}
}

func tableOf(t *testing.T, begin func(io.Writer, export.Options) (export.Writer, error), estimate []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	line := export.Line{Number: 1, State: batch.Succeeded, Estimate: &vehicle.Estimate{}}
	if err := json.Unmarshal(estimate, line.Estimate); err != nil {
		t.Fatal(err)
	}
	table, err := begin(&out, export.Options{Lang: "en", Lines: []export.CostLine{{Code: "car_price"}, {Code: "import_taxes", Tax: true}}})
	if err == nil {
		err = table.Line(line)
	}
	if err == nil {
		err = table.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
