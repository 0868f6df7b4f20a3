package advice_test

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/advice"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// Two cars of one model: the second costs less, but its frame was repaired.
func Example() {
	car := func(yom int, usd, tzs int64) vehicle.Estimate {
		return vehicle.Estimate{
			Matched: vehicle.Matched{
				Make: "TOYOTA", ModelBody: "COROLLA FIELDER - NKE165 - WAGON", YOM: yom, Confidence: vehicle.High,
			},
			DriveAway: &vehicle.DriveAway{
				TotalUSD: money.New(decimal.NewFromInt(usd)), TotalTZS: money.New(decimal.NewFromInt(tzs)), Complete: true,
				LowTZS: money.New(decimal.NewFromInt(tzs)), HighTZS: money.New(decimal.NewFromInt(tzs)),
			},
		}
	}
	pair := advice.Pair{
		Car1: car(2017, 11_000, 28_600_000), Condition1: &advice.Condition{OverallGrade: "4.5", Repair: sheet.RepairNo, MileageFlag: "none", MileageKM: new(80_000)},
		Car2: car(2016, 10_800, 28_080_000), Condition2: &advice.Condition{OverallGrade: "RA", Repair: sheet.RepairYes},
	}
	verdict := advice.Judge(pair)
	fmt.Println(*verdict.Winner, verdict.Reason, verdict.Vetoes[0].Code)
	heading, _, _ := strings.Cut(advice.Write(verdict, pair, message.English), "\n")
	fmt.Println(heading)
	// Output:
	// 1 other_vetoed grade
	// ## Our advice: car 1, TOYOTA COROLLA FIELDER 2017
}
