package render_test

import (
	"fmt"
	"strings"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/transcribe/transcribetest"
	"ushuru/pkg/vehicle"
)

// The report on a sheet whose mileage differs from that of its listing.
func ExampleText() {
	report := interpret.Transcript(transcribetest.Prius(), interpret.Known{})
	mileage := 45_000
	mismatches := sheet.Compare(report, vehicle.Car{MileageKM: &mileage})
	text, err := render.Text(report, sheet.English, mismatches)
	if err != nil {
		fmt.Println(err)
		return
	}
	section, _, _ := strings.Cut(text, "\n\n## 2.")
	fmt.Println(section)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "Differs from the listing") {
			fmt.Print(line)
		}
	}
	// Output:
	// ## 1. At a glance
	//
	// - Overall grade: 「4」 (good for its age, some flaws to see).
	// - Houses lower the grade for many kilometres, so a low grade is not always a bad car.
	// - The grade says nothing about the engine.
	// - Exterior C, interior B, as printed.
	// - Mileage (as the meter showed it): 87,654 km.
	// - First registration: 2014-04 (「H26年4月」).
	// - Repair history: not stated on this sheet. That is not the same as none.
	// - Confidence of the reading: high.
	// - Warning: the sheet says: a fault of the engine; the cost is not known (「エンジン異音」).
	// - Warning: the sheet says: corrosion; the cost is not known (「C2」).
	// - Warning: the sheet has a note that we do not fully understand (「謎の部品ガタツキ有」).
	// - Warning: an outer panel was replaced or needs work (「XX」).
	// - Differs from the listing: mileage in km. The sheet says 87654, the listing 45000.
}
