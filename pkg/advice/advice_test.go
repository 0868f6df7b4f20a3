package advice_test

import (
	"encoding/json"
	"flag"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/advice"
	"ushuru/pkg/condition"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

// estimate makes a car of one drive-away line, whose cost is known to 2 %.
func estimate(model, totalUSD string, change func(*vehicle.Estimate)) vehicle.Estimate {
	km := 80_000
	e := vehicle.Estimate{
		Input: vehicle.Input{URL: "https://listing.example/" + model},
		Car:   vehicle.Car{Make: "TOYOTA", Model: model, ModelCode: "NKE165", Year: 2017, MileageKM: &km},
		Matched: vehicle.Matched{
			Make: "TOYOTA", ModelBody: model + " - NKE165 - STATION WAGON", YOM: 2016,
			Confidence: vehicle.High, MatchType: vehicle.ExactCode,
		},
	}
	e.DriveAway = driveAway(decimal.RequireFromString(totalUSD))
	if change != nil {
		change(&e)
	}
	return e
}

func driveAway(dollars decimal.Decimal) *vehicle.DriveAway {
	times := func(factor string) (usd, tzs money.Amount) {
		d := dollars.Mul(decimal.RequireFromString(factor)).Round(2)
		return money.New(d), money.New(d.Mul(decimal.NewFromInt(2600)).Round(2))
	}
	usd, tzs := times("1")
	d := &vehicle.DriveAway{
		Lines:    []vehicle.CostLine{{Code: "car_price", Name: vehicle.Text{EN: "Car price", SW: "Bei ya gari"}, AmountUSD: usd, AmountTZS: tzs}},
		TotalUSD: usd, TotalTZS: tzs, Complete: true,
		Exchange: vehicle.ExchangeRates{
			Taxes: money.NewNumber(decimal.RequireFromString("2565.98")), Others: money.NewNumber(decimal.NewFromInt(2650)),
		},
	}
	d.LowUSD, d.LowTZS = times("0.98")
	d.HighUSD, d.HighTZS = times("1.02")
	return d
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

func year(y int) func(*vehicle.Estimate) {
	return func(e *vehicle.Estimate) { e.Car.Year = y }
}

func crossing(e *vehicle.Estimate) {
	if e.DriveAway != nil {
		e.DriveAway.AgeStep = &vehicle.AgeStep{On: "2027-01-01"}
	}
}

func incomplete(e *vehicle.Estimate) {
	e.DriveAway.Complete = false
	e.DriveAway.Missing = []vehicle.Missing{{Code: "car_price", Name: vehicle.Text{EN: "Car price", SW: "Bei ya gari"}}}
	e.DriveAway.Lines = nil
}

// doubtful makes a match of low confidence that may be another entry with other tax.
func doubtful(e *vehicle.Estimate) {
	tax, other := money.New(decimal.NewFromInt(5_600_000)), money.New(decimal.NewFromInt(9_800_000))
	e.Matched.Confidence, e.Tax.TotalTaxesInTZS = vehicle.Low, tax
	e.Matched.Candidates = []vehicle.Candidate{{ModelBody: "VITZ", TotalTaxesInTZS: &other}}
}

func winnerOf(v vehicle.Verdict) int {
	if v.Winner == nil {
		return 0
	}
	return *v.Winner
}

var (
	good = &advice.Condition{OverallGrade: "4.5", Repair: sheet.RepairNo, MileageFlag: "none"}
	fair = &advice.Condition{OverallGrade: "3", MileageFlag: "none"}
)

// seen are two cars whose sheets were read, and say nothing against them.
func seen(car1, car2 vehicle.Estimate) advice.Pair {
	return advice.Pair{Car1: car1, Car2: car2, Condition1: good, Condition2: good}
}

func TestTheVerdictFollowsFromTheFigures(t *testing.T) {
	stock := func(km int) func(*vehicle.Estimate) {
		return func(e *vehicle.Estimate) { e.Car.StockNo, e.Car.MileageKM = "SM100001", &km }
	}
	frame := func(number string, km int) func(*vehicle.Estimate) {
		return func(e *vehicle.Estimate) { e.Car.FrameNumber, e.Car.MileageKM = number, &km }
	}
	for name, c := range map[string]struct {
		pair   advice.Pair
		winner int
		reason vehicle.Reason
	}{
		"the cheaper of equals": {
			seen(estimate("FIELDER", "10000", nil), estimate("AXIO", "12000", mileage(80_001))), 1, vehicle.BetterBuy,
		},
		"the cheaper of equals, the other way round": {
			seen(estimate("FIELDER", "12000", nil), estimate("AXIO", "10000", mileage(80_001))), 2, vehicle.BetterBuy,
		},
		"ranges that overlap are equal in cost": {
			seen(estimate("FIELDER", "10000", nil), estimate("AXIO", "10300", mileage(80_001))), 0, vehicle.TooClose,
		},
		"of equal cost the one with the better sheet": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10300", mileage(80_001)),
				Condition1: fair, Condition2: good,
			}, 2, vehicle.BetterBuy,
		},
		"a car whose sheet was read wins against one whose sheet was not": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "10300", mileage(80_001)), Condition2: good}, 2, vehicle.BetterBuy,
		},
		"the newer of equal cost": {
			seen(estimate("FIELDER", "10000", year(2012)), estimate("AXIO", "10300", year(2017))), 2, vehicle.BetterBuy,
		},
		"more than half as much again is another class": {
			seen(estimate("FIELDER", "10000", nil), estimate("AXIO", "15100", mileage(80_001))), 0, vehicle.DifferentClass,
		},
		"no winner without the cost of both": {
			seen(estimate("FIELDER", "10000", nil), estimate("AXIO", "9000", incomplete)), 0, vehicle.CostUnknown,
		},
		"no winner without a drive-away cost at all": {
			seen(
				estimate("FIELDER", "10000", nil),
				estimate("AXIO", "9000", func(e *vehicle.Estimate) { e.DriveAway = nil }),
			), 0, vehicle.CostUnknown,
		},
		"a doubtful match loses to a sure one at the same cost": {
			seen(estimate("FIELDER", "10000", confidence(vehicle.Low)), estimate("AXIO", "10000", mileage(80_001))), 2, vehicle.BetterBuy,
		},
		"a car that may cross an age step loses to one that does not": {
			seen(estimate("FIELDER", "10000", crossing), estimate("AXIO", "10000", mileage(80_001))), 2, vehicle.BetterBuy,
		},
		"one car by its stock number": {
			seen(estimate("FIELDER", "10000", stock(80_000)), estimate("FIELDER", "12000", stock(81_000))), 0, vehicle.SameCar,
		},
		"one car by its frame number": {
			seen(estimate("FIELDER", "10000", frame("NKE165-7000001", 80_000)), estimate("FIELDER", "12000", frame("NKE165-7000001", 81_000))), 0, vehicle.SameCar,
		},
		"two cars of one model, year and mileage by their frame numbers": {
			seen(estimate("FIELDER", "10000", frame("NKE165-7000001", 80_000)), estimate("FIELDER", "12000", frame("NKE165-7000002", 80_000))), 1, vehicle.BetterBuy,
		},
		"one car by code, year and mileage": {
			seen(estimate("FIELDER", "10000", nil), estimate("FIELDER", "12000", nil)), 0, vehicle.SameCar,
		},
		"a vetoed car is cheaper by half and does not win": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "14500", nil),
				Condition1: &advice.Condition{OverallGrade: "R", Repair: sheet.RepairYes, MileageFlag: "none"}, Condition2: good,
			}, 2, vehicle.OtherVetoed,
		},
		"of two vetoed cars neither wins": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", warned("listing_sold")), Car2: estimate("AXIO", "12000", doubtful),
			}, 0, vehicle.BothVetoed,
		},
		"a car that nobody has seen does not win against one with a veto": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "14500", nil),
				Condition1: &advice.Condition{OverallGrade: "R", MileageFlag: "none"},
			}, 0, vehicle.AskFirst,
		},
		"of two cars that nobody has seen neither wins": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "12000", mileage(80_001))}, 0, vehicle.AskFirst,
		},
		"a lower price does not buy off a sheet that was not read": {
			advice.Pair{Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "14500", mileage(80_001)), Condition2: good}, 0, vehicle.AskFirst,
		},
		"a mark beside the mileage that was not read is a doubt": {
			advice.Pair{
				Car1: estimate("FIELDER", "10000", nil), Car2: estimate("AXIO", "12000", mileage(80_001)),
				Condition1: &advice.Condition{OverallGrade: "4.5"}, Condition2: good,
			}, 0, vehicle.AskFirst,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := advice.Judge(c.pair)
			if winnerOf(v) != c.winner || v.Reason != c.reason {
				t.Errorf("winner %d (%s), want %d (%s): %d to %d, %+v", winnerOf(v), v.Reason, c.winner, c.reason, v.Points1, v.Points2, v.Criteria)
			}
		})
	}
}

func TestEveryVetoForbidsACar(t *testing.T) {
	flagged := func(category condition.Category, level condition.Severity) *advice.Condition {
		c := *good
		c.Flags = []sheet.RedFlag{{
			Rule: string(category), Category: category, Level: level, QuoteJP: "修正", Text: sheet.Text{EN: "the sheet says", SW: "karatasi inasema"},
		}}
		return &c
	}
	graded := func(grade string) *advice.Condition {
		return &advice.Condition{OverallGrade: grade, MileageFlag: "none"}
	}
	listed := func(change func(*vehicle.Car)) vehicle.Estimate {
		return estimate("PASSO", "5000", func(e *vehicle.Estimate) { change(&e.Car) })
	}
	for code, cases := range map[string][]advice.Pair{
		"flood":            {{Condition1: flagged("flood", condition.Disqualify)}},
		"frame":            {{Condition1: flagged("frame", condition.Grave)}},
		"rust":             {{Condition1: flagged("rust", condition.Grave)}},
		"mileage_tampered": {{Condition1: &advice.Condition{OverallGrade: "4.5", MileageFlag: "tampered"}}},
		"mileage_unknown":  {{Condition1: &advice.Condition{OverallGrade: "4.5", MileageFlag: "unknown"}}},
		"grade": {
			{Condition1: graded("R")},
			{Condition1: graded("RA")},
			{Condition1: graded("0")},
			{Condition1: graded("1")},
			{Condition1: graded("***")},
			{Condition1: graded("無効")},
			{Condition1: graded("X")},
			{Condition1: graded("-")},
		},
		"repair_history":  {{Condition1: &advice.Condition{OverallGrade: "4.5", Repair: sheet.RepairYes, MileageFlag: "none"}}},
		"sheet_mismatch":  {{Condition1: &advice.Condition{OverallGrade: "4.5", Mismatches: 1, MileageFlag: "none"}}},
		"sold":            {{Car1: estimate("PASSO", "5000", warned("listing_sold")), Condition1: good}},
		"match_uncertain": {{Car1: estimate("PASSO", "5000", doubtful), Condition1: good}},
		"accident": {
			{Car1: listed(func(c *vehicle.Car) { c.Auction = &vehicle.Auction{Score: "R"} }), Condition1: good},
			{Car1: listed(func(c *vehicle.Car) {
				c.Condition = []vehicle.Statement{{Category: "accident", Level: "disqualify", Quote: "Accident history: Yes"}}
			}), Condition1: good},
		},
	} {
		for _, pair := range cases {
			if pair.Car1.DriveAway == nil {
				pair.Car1 = estimate("PASSO", "5000", year(2020))
			}
			pair.Car2, pair.Condition2 = estimate("AXIO", "7000", nil), good
			v := advice.Judge(pair)
			isVetoed := slices.ContainsFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == 1 && veto.Code == code })
			first := strings.SplitN(advice.Write(v, pair, "en"), "\n\n", 3)[1]
			if !isVetoed || winnerOf(v) != 2 || v.OnFigures != nil && *v.OnFigures == 1 || !strings.HasPrefix(first, "Car 1 is not our advice: ") {
				t.Errorf("%s: %+v\n%s", code, v, first)
			}
		}
	}
}

// Of 400 pairs, swapped, in both languages and at other rates, no car wins that is
// disqualified or that nobody has seen or of which something is in doubt; the heading
// names none without a winner, and a lower price buys nothing off.
func TestNoWreckWins(t *testing.T) {
	t.Parallel()
	pairs, won := 0, 0
	for pairs < 400 {
		rapid.Check(t, func(t *rapid.T) {
			pair := drawPair(t)
			cheaper := pair
			cheaper.Car1.DriveAway = driveAway(pair.Car1.DriveAway.TotalUSD.Decimal().Mul(decimal.New(int64(rapid.IntRange(5, 99).Draw(t, "percent")), -2)))
			for _, p := range []advice.Pair{
				pair, cheaper, atRate(pair, rapid.IntRange(1500, 5000).Draw(t, "rate"), rapid.IntRange(20, 80).Draw(t, "taxes")),
				{Car1: pair.Car2, Car2: pair.Car1, Condition1: pair.Condition2, Condition2: pair.Condition1},
			} {
				pairs++
				v := advice.Judge(p)
				won += winnerOf(v)
				checkNoWreck(t, p, v)
			}
		})
	}
	if won == 0 {
		t.Errorf("of %d pairs none has a winner, want some", pairs)
	}
}

func checkNoWreck(t *rapid.T, p advice.Pair, v vehicle.Verdict) {
	for i, c := range []*advice.Condition{p.Condition1, p.Condition2} {
		isOpen := c == nil || c.OverallGrade == "" || c.MileageFlag == "" || slices.ContainsFunc(c.Flags, func(f sheet.RedFlag) bool {
			return f.Level.Rank() >= condition.Doubt.Rank()
		})
		isBad := slices.ContainsFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == i+1 })
		if winnerOf(v) == i+1 && (isOpen || isBad) || isBad && v.OnFigures != nil && *v.OnFigures == i+1 {
			t.Fatalf("car %d: got the winner %+v, want another", i+1, v)
		}
	}
	for _, lang := range []string{"en", "sw"} {
		heading, _, _ := strings.Cut(advice.Write(v, p, lang), "\n")
		if v.Winner == nil && (strings.Contains(heading, "FIELDER") || strings.Contains(heading, "AXIO")) {
			t.Fatalf("got the heading %s, want none that names a car", heading)
		}
	}
}

// atRate returns a pair at another exchange rate: the taxes, a percentage of the cost of
// the first car, stay in shillings.
func atRate(p advice.Pair, rate, taxes int) advice.Pair {
	for i, e := range []*vehicle.Estimate{&p.Car1, &p.Car2} {
		drive, share := *e.DriveAway, decimal.New(int64(taxes*(1-i)), -2)
		factor := share.Add(decimal.NewFromInt(1).Sub(share).Mul(decimal.NewFromInt(int64(rate))).Div(decimal.NewFromInt(2600)))
		for _, amount := range []*money.Amount{&drive.TotalTZS, &drive.LowTZS, &drive.HighTZS} {
			*amount = money.New(amount.Decimal().Mul(factor).Round(2))
		}
		drive.Exchange.Others = money.NewNumber(decimal.NewFromInt(int64(rate)))
		e.DriveAway = &drive
	}
	return p
}

var generated = flag.Int("advice.pairs", testenv.Pick(2000, 300), "comparisons to generate for each property")

// worsen makes a sheet worse by one step.
func worsen(t *rapid.T, c advice.Condition) *advice.Condition {
	grades := []string{"S", "6", "5", "4.5", "4", "3.5", "3", "2", "R", "1", "***"}
	switch rapid.IntRange(0, 6).Draw(t, "worse") {
	case 0:
		if i := slices.Index(grades, c.OverallGrade); i >= 0 {
			c.OverallGrade = grades[min(i+1, len(grades)-1)]
		}
	case 1:
		c.Repair = sheet.RepairYes
	case 2:
		c.High++
	case 3:
		c.Mismatches++
	case 4:
		c.MileageFlag = "tampered"
	case 5:
		c.Exterior = "E"
	case 6:
		c.Flags = append(slices.Clone(c.Flags), sheet.RedFlag{Rule: "flood", Category: "flood", Level: condition.Disqualify})
	}
	return &c
}

// Nothing that makes the first car worse, and nothing that hides what is known of
// it, makes it win; a car with a veto never wins; swapped cars swap the verdict.
func TestTheVerdictIsFair(t *testing.T) {
	pairs := 0
	for pairs < *generated {
		rapid.Check(t, func(t *rapid.T) {
			pairs++
			pair := drawPair(t)
			v := advice.Judge(pair)
			checkSymmetry(t, pair, v)
			for _, veto := range v.Vetoes {
				if winnerOf(v) == veto.Car {
					t.Fatalf("car %d wins with the veto %s", veto.Car, veto.Code)
				}
			}
			neverHelps := func(change string, worse advice.Pair) {
				w := advice.Judge(worse)
				if winnerOf(v) != 1 && winnerOf(w) == 1 || w.Points1-w.Points2 > v.Points1-v.Points2 {
					t.Fatalf("%s helps:\n%+v\n%+v", change, v, w)
				}
			}
			if pair.Condition1 != nil {
				worse := pair
				worse.Condition1 = worsen(t, *pair.Condition1)
				neverHelps("a worse sheet", worse)
				if !slices.ContainsFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == 1 }) {
					worse.Condition1 = nil
					neverHelps("no sheet", worse)
				}
			}
			if isSameClass := v.Reason != vehicle.DifferentClass; isSameClass && pair.Car1.DriveAway.Complete {
				worse := pair
				factor := decimal.New(int64(rapid.IntRange(101, 140).Draw(t, "dearer")), -2)
				worse.Car1.DriveAway = driveAway(pair.Car1.DriveAway.TotalUSD.Decimal().Mul(factor))
				worse.Car1.DriveAway.AgeStep = pair.Car1.DriveAway.AgeStep
				neverHelps("a higher price", worse)
			}
		})
	}
	t.Logf("%d comparisons", pairs)
}

func checkSymmetry(t *rapid.T, pair advice.Pair, v vehicle.Verdict) {
	swapped := advice.Judge(advice.Pair{
		Car1: pair.Car2, Car2: pair.Car1, Condition1: pair.Condition2, Condition2: pair.Condition1,
	})
	other := []int{0, 2, 1}
	if other[winnerOf(v)] != winnerOf(swapped) || v.Points1 != swapped.Points2 || v.Points2 != swapped.Points1 ||
		v.Reason != swapped.Reason || len(v.Vetoes) != len(swapped.Vetoes) {
		t.Fatalf("swapped: %+v and %+v", v, swapped)
	}
	weights, sum1, sum2 := 0, 0, 0
	for _, c := range v.Criteria {
		weights, sum1, sum2 = weights+c.Weight, sum1+c.Points1, sum2+c.Points2
		if c.Points1 < 0 || c.Points2 < 0 || c.Points1 > c.Weight || c.Points2 > c.Weight || c.Text.EN == "" || c.Text.SW == "" {
			t.Fatalf("criterion %+v", c)
		}
	}
	if weights != 100 || sum1 != v.Points1 || sum2 != v.Points2 {
		t.Fatalf("weights %d, points %d and %d of %+v", weights, sum1, sum2, v)
	}
}

var (
	numbers = regexp.MustCompile(`\d[\d.,]*`)
	// What the template says by itself: the numbers of the cars, the most points.
	ownNumbers = []string{"1", "2", "100"}
)

func numbersOf(text string) (found []string) {
	for _, n := range numbers.FindAllString(strings.ReplaceAll(text, `\`, ""), -1) {
		found = append(found, strings.TrimRight(n, ".,"))
	}
	return found
}

// The texts hold no number that the JSON of the comparison does not hold, in either
// language, both languages hold the same, and they are short.
func TestNumbersInTheTextEqualTheJSON(t *testing.T) {
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
		for _, n := range numbersOf(string(data)) { // whole shillings in the table
			known = append(known, strings.TrimSuffix(roundedUp(n), ".00"))
		}
		known = append(known, differences(v)...)
		var found [2][]string
		for i, lang := range []string{"en", "sw"} {
			text := advice.Write(v, pair, lang)
			found[i] = numbersOf(text)
			for _, n := range found[i] {
				if !slices.Contains(known, n) {
					t.Fatalf("%s: the number %s is not in %s\n%s", lang, n, data, text)
				}
			}
			if strings.ContainsAny(text, "{}") {
				t.Fatalf("%s: a name was not filled in\n%s", lang, text)
			}
			if lines := strings.Count(text, "\n"); lines > 25 { // with one line of costs; forty with sixteen
				t.Fatalf("%s: %d lines\n%s", lang, lines, text)
			}
		}
		slices.Sort(found[0])
		slices.Sort(found[1])
		if !reflect.DeepEqual(found[0], found[1]) {
			t.Fatalf("the languages differ in their numbers:\n%q\n%q", found[0], found[1])
		}
	})
}

func roundedUp(n string) string {
	value, err := decimal.NewFromString(strings.ReplaceAll(n, ",", ""))
	if err != nil {
		return n
	}
	return money.New(value.Round(0)).String()
}

// differences are the figures of the points that compare two cars.
func differences(v vehicle.Verdict) (known []string) {
	for _, amount := range []*money.Amount{v.DifferenceUSD, v.DifferenceTZS} {
		if amount == nil {
			continue
		}
		d := amount.Decimal()
		known = append(known, roundedUp(d.String()), strings.TrimSuffix(money.New(d.Round(-1)).String(), ".00"),
			strings.TrimSuffix(money.New(d.Round(0)).String(), ".00"), strings.TrimSuffix(money.New(d.Round(-4)).String(), ".00"))
		millions := d.Div(decimal.NewFromInt(1_000_000))
		for places := range int32(3) {
			known = append(known, millions.Round(places).String())
		}
	}
	return known
}

func drawPair(t *rapid.T) advice.Pair {
	return advice.Pair{
		Car1: drawEstimate(t, "FIELDER"), Car2: drawEstimate(t, "AXIO"),
		Condition1: drawCondition(t, "sheet1"), Condition2: drawCondition(t, "sheet2"),
	}
}

func drawEstimate(t *rapid.T, label string) vehicle.Estimate {
	cents := rapid.IntRange(8_000_00, 16_000_00).Draw(t, label)
	changes := []func(*vehicle.Estimate){
		func(*vehicle.Estimate) {}, crossing, warned("registration_year"), warned("simulated"), incomplete,
		confidence(vehicle.Low), confidence(vehicle.Medium), doubtful, warned("listing_sold"),
		func(e *vehicle.Estimate) { e.Car.MileageKM = nil },
		func(e *vehicle.Estimate) { e.DriveAway.TaxBase.Basis = vehicle.BasisInvoice },
		mileage(rapid.IntRange(0, 400_000).Draw(t, label+" km")),
		mileage(rapid.IntRange(0, 400_000).Draw(t, label+" km again")),
	}
	change := changes[rapid.IntRange(0, len(changes)-1).Draw(t, label+" change")]
	e := estimate(label, decimal.New(int64(cents), -2).String(), change)
	e.Car.Year = rapid.IntRange(2008, 2020).Draw(t, label+" year")
	return e
}

func drawCondition(t *rapid.T, label string) *advice.Condition {
	if rapid.Bool().Draw(t, label) {
		return nil
	}
	c := advice.Condition{
		OverallGrade: rapid.SampledFrom([]string{"", "S", "6", "4.5", "4", "3.5", "3", "2", "R", "RA", "***", "-", "無効"}).Draw(t, label+" grade"),
		Exterior:     rapid.SampledFrom([]string{"", "A", "C", "E"}).Draw(t, label+" outside"),
		Repair: rapid.SampledFrom([]sheet.RepairStatus{
			sheet.RepairYes, sheet.RepairNo, sheet.RepairNotStated, sheet.RepairNotStated,
		}).Draw(t, label+" repair"),
		MileageFlag: rapid.SampledFrom([]string{"", "none", "none", "replaced", "tampered", "unknown"}).Draw(t, label+" flag"),
		High:        rapid.IntRange(0, 9).Draw(t, label+" high"),
		Mismatches:  max(0, rapid.IntRange(-4, 3).Draw(t, label+" mismatches")),
	}
	if rapid.IntRange(0, 2).Draw(t, label+" flagged") == 0 {
		level := rapid.SampledFrom([]condition.Severity{condition.Caution, condition.Doubt, condition.Grave, condition.Disqualify})
		c.Flags = []sheet.RedFlag{{Rule: sheet.FlagUnknownNote, Category: condition.NoCategory, Level: level.Draw(t, label+" level")}}
	}
	return &c
}

// Of two cars that nobody has seen the verdict says which is ahead on the figures, and the
// recommendation that nobody has seen the condition; the other order says the same.
func TestCarsWithoutSheetsAreComparedOnTheirFigures(t *testing.T) {
	t.Parallel()
	better := estimate("PASSO", "5000", year(2020))
	dearer := estimate("AXIO", "7000", nil)
	for name, c := range map[string]struct {
		car1, car2 vehicle.Estimate
		want       *int
	}{
		"the first":  {better, dearer, new(1)},
		"the second": {dearer, better, new(2)},
		"equal":      {dearer, estimate("FIELDER", "7000", nil), nil},
		"the cheaper is disqualified": {estimate("PASSO", "5000", func(e *vehicle.Estimate) {
			e.Car.Condition = []vehicle.Statement{{Category: "accident", Level: "disqualify", Quote: "Accident history: Yes"}}
		}), dearer, nil},
	} {
		pair := advice.Pair{Car1: c.car1, Car2: c.car2}
		v := advice.Judge(pair)
		if winnerOf(v) != 0 || (v.OnFigures == nil) != (c.want == nil) || v.OnFigures != nil && *v.OnFigures != *c.want {
			t.Errorf("%s: got the winner %d and on the figures %v, want none and %v", name, winnerOf(v), v.OnFigures, c.want)
		}
		if c.want != nil && !strings.Contains(advice.Write(v, pair, "en"), "On the figures alone (cost, tax, age, kilometres): car") {
			t.Errorf("%s: the recommendation does not say the figures:\n%s", name, advice.Write(v, pair, "en"))
		}
	}
}
