package advice_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/advice"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func usd(text string) money.Amount { return money.New(decimal.RequireFromString(text)) }

// estimate makes a car of one drive-away line.
func estimate(model string, totalUSD string, change func(*vehicle.Estimate)) vehicle.Estimate {
	dollars := decimal.RequireFromString(totalUSD)
	shillings := dollars.Mul(decimal.NewFromInt(2600)).Round(2)
	km := 80_000
	e := vehicle.Estimate{
		Input: vehicle.Input{URL: "https://listing.example/" + model},
		Car:   vehicle.Car{Make: "TOYOTA", Model: model, Year: 2017, MileageKM: &km},
		Matched: vehicle.Matched{
			Make: "TOYOTA", ModelBody: model + " - NKE165 - STATION WAGON", YOM: 2016,
			Confidence: vehicle.High, MatchType: vehicle.ExactCode,
		},
		DriveAway: &vehicle.DriveAway{
			Lines: []vehicle.CostLine{{
				Code: "car_price", Name: vehicle.Text{EN: "Car price", SW: "Bei ya gari"},
				AmountUSD: money.New(dollars), AmountTZS: money.New(shillings),
			}},
			TotalUSD: money.New(dollars), TotalTZS: money.New(shillings),
			LowUSD: money.New(dollars), HighUSD: money.New(dollars), LowTZS: money.New(shillings), HighTZS: money.New(shillings),
			Complete: true,
			Exchange: vehicle.ExchangeRates{
				Taxes: money.NewNumber(decimal.RequireFromString("2565.98")), Others: money.NewNumber(decimal.NewFromInt(2650)),
			},
		},
	}
	if change != nil {
		change(&e)
	}
	return e
}

func mileage(km int) func(*vehicle.Estimate) {
	return func(e *vehicle.Estimate) { e.Car.MileageKM = &km }
}

func confidence(c vehicle.Confidence) func(*vehicle.Estimate) {
	return func(e *vehicle.Estimate) { e.Matched.Confidence = c }
}

func warned(code string) func(*vehicle.Estimate) {
	return func(e *vehicle.Estimate) { e.Warnings = []vehicle.Warning{{Code: code}} }
}

func incomplete(e *vehicle.Estimate) {
	e.DriveAway.Complete = false
	e.DriveAway.Missing = []vehicle.Missing{{Code: "car_price", Name: vehicle.Text{EN: "Car price", SW: "Bei ya gari"}}}
	e.DriveAway.Lines = nil
}

func TestTheVerdictFollowsFromTheFigures(t *testing.T) {
	good := &advice.Condition{OverallGrade: "4.5", Repair: advice.RepairNo}
	repaired := &advice.Condition{OverallGrade: "RA", Repair: advice.RepairYes}
	for name, c := range map[string]struct {
		pair        advice.Pair
		winner, why string
	}{
		"the cheaper of equals": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "12000", nil)}, "car1", "",
		},
		"the cheaper of equals, the other way round": {
			advice.Pair{Car1: estimate("FIELDER", "12000", nil), Car2: estimate("AXIO", "10000", nil)}, "car2", "",
		},
		"too close to call": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10100", nil)}, "none", "close",
		},
		"a sound car that costs a little more beats a repaired one": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10500", nil),
				Condition1: repaired, Condition2: good,
			}, "car2", "",
		},
		"a sheet of one car alone decides nothing": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10050", nil), Condition2: good}, "none", "close",
		},
		"no winner without the cost of both": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "9000", incomplete)}, "none", "cost_unknown",
		},
		"no winner without a drive-away cost at all": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil),
				Car2: estimate("AXIO", "9000", func(e *vehicle.Estimate) { e.DriveAway = nil }),
			}, "none", "cost_unknown",
		},
		"a doubtful match loses to a sure one at the same cost": {
			advice.Pair{Car1: estimate("FIELDER", "10000", confidence(vehicle.Low)), Car2: estimate("AXIO", "10000", nil)}, "car2", "",
		},
		"a car that crosses an age step loses to one that does not": {
			advice.Pair{Car1: estimate("FIELDER", "10000", warned("age_step")), Car2: estimate("AXIO", "10000", nil)}, "car2", "",
		},
		"an odometer that was tampered with counts for nothing": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", mileage(20_000)), Car2: estimate("AXIO", "10000", mileage(90_000)),
				Condition1: &advice.Condition{OverallGrade: "4", MileageFlag: "tampered"}, Condition2: &advice.Condition{OverallGrade: "4"},
			}, "car2", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := advice.Judge(c.pair)
			if v.Winner != c.winner || v.Why != c.why {
				t.Errorf("winner %s (%s), want %s (%s): %d to %d, %+v", v.Winner, v.Why, c.winner, c.why, v.Score1, v.Score2, v.Criteria)
			}
		})
	}
}

// A sheet that differs from the listing, a mark that is none, a flag: each has
// its say among the points.
func TestPointsSayWhatIsKnown(t *testing.T) {
	km := 120_000
	pair := advice.Pair{
		Car1: estimate("FIELDER", "10000", warned("age_step")),
		Car2: estimate("AXIO", "12000", confidence(vehicle.Low)),
		Condition1: &advice.Condition{
			OverallGrade: "4.5", Repair: advice.RepairNo, MileageKM: &km, MileageFlag: "replaced", High: 2, Mismatches: 1,
		},
		Condition2: &advice.Condition{OverallGrade: "-", Repair: advice.RepairNotStated, MileageFlag: "unknown"},
	}
	v := advice.Judge(pair)
	want1 := []string{"+cheaper", "+no_repair_history", "-serious_faults", "-sheet_mismatches", "-meter_replaced", "-crosses_age_step", "+sure_match"}
	want2 := []string{"-dearer", "-mileage_doubtful", "+stays_in_age_step", "-unsure_match"}
	if !slices.Equal(v.Points1, want1) || !slices.Equal(v.Points2, want2) {
		t.Errorf("points\n%q\n%q, want\n%q\n%q", v.Points1, v.Points2, want1, want2)
	}
}

// No repair mark anywhere is "not stated", and must not speak for a car.
func TestSilenceIsNoPraise(t *testing.T) {
	pair := advice.Pair{
		Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10000", nil),
		Condition1: &advice.Condition{OverallGrade: "4", Repair: advice.RepairNotStated},
	}
	v := advice.Judge(pair)
	if slices.Contains(v.Points1, "+no_repair_history") || !slices.Contains(v.Points2, "-no_sheet") {
		t.Errorf("points %q and %q", v.Points1, v.Points2)
	}
}

// Swapping the cars swaps the verdict, and a lower price never makes a car lose.
func TestTheVerdictIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := drawPair(t)
		v := advice.Judge(pair)
		swapped := advice.Judge(advice.Pair{
			Car1: pair.Car2, Car2: pair.Car1, Condition1: pair.Condition2, Condition2: pair.Condition1,
		})
		other := map[string]string{"car1": "car2", "car2": "car1", "none": "none"}
		if other[v.Winner] != swapped.Winner || v.Score1 != swapped.Score2 || !slices.Equal(v.Points1, swapped.Points2) {
			t.Fatalf("swapped: %+v and %+v", v, swapped)
		}
		for _, score := range []int{v.Score1, v.Score2} {
			if score < 0 || score > 100 {
				t.Fatalf("score %d", score)
			}
		}
		if v.Winner == "car1" && pair.Car1.DriveAway.TotalTZS.Decimal().GreaterThan(decimal.NewFromInt(1000)) {
			d := *pair.Car1.DriveAway
			d.TotalTZS = money.New(d.TotalTZS.Decimal().Mul(decimal.RequireFromString("0.9")))
			cheaper := pair
			cheaper.Car1.DriveAway = &d
			if again := advice.Judge(cheaper); again.Winner != "car1" {
				t.Fatalf("cheaper, and it loses: %+v", again)
			}
		}
	})
}

var (
	numbers = regexp.MustCompile(`\d[\d.,]*`)
	// What the template says by itself: the numbers of the cars, the most
	// points, the last day of the year.
	ownNumbers = []string{"1", "2", "100", "31"}
)

func numbersOf(text string) (found []string) {
	for _, n := range numbers.FindAllString(strings.ReplaceAll(text, `\`, ""), -1) {
		found = append(found, strings.TrimRight(n, ".,"))
	}
	return found
}

// The texts hold no number that the JSON of the comparison does not hold, in
// either language, and both languages hold the same.
func TestNumbersInTheTextEqualTheJSON(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		pair := drawPair(t)
		v := advice.Judge(pair)
		data, err := json.Marshal(struct { //nolint:musttag // only the numbers count
			vehicle.Comparison
			Conditions []*advice.Condition `json:"conditions"`
		}{vehicle.Comparison{Car1: pair.Car1, Car2: pair.Car2, Verdict: &v}, []*advice.Condition{pair.Condition1, pair.Condition2}})
		if err != nil {
			t.Fatal(err)
		}
		known := append(numbersOf(string(data)), ownNumbers...)
		for _, km := range []*int{pair.Car1.Car.MileageKM, pair.Car2.Car.MileageKM} {
			if km != nil {
				known = append(known, numbersOf(usd(strconv.Itoa(*km)).String())...)
			}
		}
		var found [2][]string
		for i, lang := range []string{"en", "sw"} {
			text := advice.Write(v, pair, lang)
			found[i] = numbersOf(text)
			for _, n := range found[i] {
				if !slices.Contains(known, n) {
					t.Fatalf("%s: the number %s is not in %s\n%s", lang, n, data, text)
				}
			}
			for _, amount := range []money.Amount{pair.Car1.DriveAway.TotalTZS, pair.Car2.DriveAway.TotalTZS} {
				if !strings.Contains(text, amount.String()) {
					t.Fatalf("%s: the total %s is missing\n%s", lang, amount, text)
				}
			}
			if strings.ContainsAny(text, "{}") {
				t.Fatalf("%s: a name was not filled in\n%s", lang, text)
			}
		}
		slices.Sort(found[0])
		slices.Sort(found[1])
		if !slices.Equal(found[0], found[1]) {
			t.Fatalf("the languages differ in their numbers:\n%q\n%q", found[0], found[1])
		}
		compared++
	})
	t.Logf("%d comparisons", compared)
}

func drawPair(t *rapid.T) advice.Pair {
	pair := advice.Pair{
		Car1: drawEstimate(t, "car1"), Car2: drawEstimate(t, "car2"),
		Condition1: drawCondition(t, "sheet1"), Condition2: drawCondition(t, "sheet2"),
	}
	return pair
}

func drawEstimate(t *rapid.T, label string) vehicle.Estimate {
	cents := rapid.IntRange(1_000_00, 60_000_00).Draw(t, label)
	changes := []func(*vehicle.Estimate){
		nil, warned("age_step"), warned("registration_year"), warned("simulated"), incomplete, confidence(vehicle.Low), confidence(vehicle.Medium),
		func(e *vehicle.Estimate) { e.Car.MileageKM = nil },
		func(e *vehicle.Estimate) { e.DriveAway.TaxBase.Basis = vehicle.BasisInvoice },
		mileage(rapid.IntRange(0, 400_000).Draw(t, label+" km")),
	}
	change := changes[rapid.IntRange(0, len(changes)-1).Draw(t, label+" change")]
	return estimate("FIELDER", decimal.New(int64(cents), -2).String(), change)
}

func drawCondition(t *rapid.T, label string) *advice.Condition {
	if rapid.Bool().Draw(t, label) {
		return nil
	}
	c := advice.Condition{
		OverallGrade: rapid.SampledFrom([]string{"", "S", "6", "4.5", "4", "3.5", "R", "RA", "***", "-", "無効"}).Draw(t, label+" mark"),
		Exterior:     rapid.SampledFrom([]string{"", "A", "C", "E"}).Draw(t, label+" outside"),
		Repair:       rapid.SampledFrom([]string{advice.RepairYes, advice.RepairNo, advice.RepairNotStated}).Draw(t, label+" repair"),
		MileageFlag:  rapid.SampledFrom([]string{"", "none", "replaced", "tampered", "unknown"}).Draw(t, label+" flag"),
		High:         rapid.IntRange(0, 9).Draw(t, label+" high"),
		Mismatches:   rapid.IntRange(0, 5).Draw(t, label+" mismatches"),
	}
	return &c
}
