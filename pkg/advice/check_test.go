package advice

import (
	"reflect"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func amount(text string) money.Amount { return money.New(decimal.RequireFromString(text)) }

func pairForWords() (vehicle.Verdict, Pair) {
	car := func(model, usd, tzs string) vehicle.Estimate {
		return vehicle.Estimate{
			Matched: vehicle.Matched{Make: "TOYOTA", ModelBody: model + " - NKE165 - STATION WAGON", YOM: 2016, Confidence: vehicle.High},
			DriveAway: &vehicle.DriveAway{
				TotalUSD: amount(usd), TotalTZS: amount(tzs), LowTZS: amount(tzs), HighTZS: amount(tzs), Complete: true,
			},
		}
	}
	pair := Pair{
		Car1: car("FIELDER", "10250.50", "26651300"), Car2: car("AXIO", "11990.25", "31174650"),
		Condition1: &Condition{OverallGrade: "4.5", Repair: RepairNo}, Condition2: &Condition{OverallGrade: "RA", Repair: RepairYes},
	}
	return Judge(pair), pair
}

// On another day with the same figures the question is the same, so that its kept
// answer serves again.
func TestTheQuestionDoesNotDependOnTheDay(t *testing.T) {
	verdict, pair := pairForWords()
	later := pair
	for _, car := range []*vehicle.Estimate{&later.Car1, &later.Car2} {
		drive := *car.DriveAway
		drive.AsOf, drive.Landing = "2026-11-23", vehicle.Landing{From: "2027-01-07", To: "2027-02-21", Likely: "2027-01-29"}
		car.DriveAway, car.AsOf = &drive, "2026-11-23T09:00:00+03:00"
	}
	for _, lang := range []string{"en", "sw"} {
		today, tomorrow := newQuestion(verdict, pair, lang), newQuestion(Judge(later), later, lang)
		if !reflect.DeepEqual(today.Data, tomorrow.Data) {
			t.Errorf("%+v\nand on the next day\n%+v", today.Data, tomorrow.Data)
		}
	}
}

func TestTheWordsOfAModelAreChecked(t *testing.T) {
	verdict, pair := pairForWords()
	if verdict.Winner == nil || *verdict.Winner != 1 {
		t.Fatalf("%+v", verdict)
	}
	for name, c := range map[string]struct {
		lang, winner, text string
		good               bool
	}{
		"plain English": {"en", "car1", "Car 1 is the better buy: it costs USD 1,740 less on the road than car 2. The auction sheet grades it 4.5, the other car RA.", true},
		"plain Swahili": {"sw", "car1", "Gari 1 ni bora: ni nafuu kwa USD 1,740 hadi kuwa barabarani. Gari 2 lina historia ya matengenezo.", true},
		"totals as they stand": {
			"en", "car1", "On the road car 1 comes to TSh 26.7 million and car 2 to TSh 31.2 million, and that is the whole of it.", true,
		},
		"a number of its own":           {"en", "car1", "Car 1 is the better buy, and it saves you USD 2,000 on the road in the end.", false},
		"a number rounded otherwise":    {"en", "car1", "Car 1 is the better buy: it costs USD 1,700 less on the road than car 2.", false},
		"a number of another unit":      {"en", "car1", "Car 1 is the better buy: it costs TSh 1,740 less on the road than car 2.", false},
		"a number in words":             {"en", "car1", "Car 1 is the better buy, it is about two thousand dollars cheaper on the road.", false},
		"a number in Swahili words":     {"sw", "car1", "Gari 1 ni bora: ni nafuu kwa milioni nne hadi kuwa barabarani kuliko gari la 2.", false},
		"a share":                       {"en", "car1", "Car 1 is the better buy: it is 15% cheaper on the road than the other.", false},
		"a number in other digits":      {"en", "car1", "Car 1 is the better buy: it costs USD １２３ less on the road than car 2.", false},
		"another winner in the field":   {"en", "car2", "Car 1 is the better buy: it costs USD 1,740 less on the road than car 2.", false},
		"another winner in the text":    {"en", "car1", "I recommend car 2, for it is in every way the finest of the two.", false},
		"another winner after the dot":  {"en", "car1", "Car 1 costs less on the road. But car 2 is the better buy for you.", false},
		"another winner in Swahili":     {"sw", "car1", "Tunapendekeza gari 2 kwa kuwa ni nzuri na lina hali ya kupendeza.", false},
		"another winner by its order":   {"en", "car1", "I would say that the second car is the better buy for you and yours.", false},
		"another winner by its name":    {"en", "car1", "The AXIO and not car 1 is the better buy for you and for the road.", false},
		"another winner unnamed":        {"en", "car1", "The dearer one is the better buy for you, and it is on the road soon.", false},
		"a link":                        {"en", "car1", "Car 1 is the better buy, see https://evil.example/ for the proof of it.", false},
		"a bare address":                {"en", "car1", "Car 1 is the better buy, see evil.com for the proof of it and pay.", false},
		"a telephone number":            {"en", "car1", "Car 1 is the better buy, call +255 712 345 678 and pay to the agent.", false},
		"mail":                          {"en", "car1", "Car 1 is the better buy, write to me@evil.example for the rest of it.", false},
		"markup":                        {"en", "car1", "Car 1 is the better buy, **and** it costs less on the road than the other.", false},
		"HTML":                          {"en", "car1", "Car 1 is the better buy, <b>and</b> it costs less on the road.", false},
		"a picture":                     {"en", "car1", "Car 1 is the better buy ![x](p) and it costs less on the road.", false},
		"English for Swahili":           {"sw", "car1", "Car 1 is the better buy: it costs USD 1,740 less on the road than car 2.", false},
		"Swahili for English":           {"en", "car1", "Gari 1 ni bora: ni nafuu kwa USD 1,740 hadi kuwa barabarani.", false},
		"Japanese":                      {"en", "car1", "Car 1 is the better buy for you, 走行 is low and it costs less on the road.", false},
		"nothing":                       {"en", "car1", "", false},
		"a word":                        {"en", "car1", "Car 1.", false},
		"a number as a name of the car": {"en", "car1", "Car 1, the TOYOTA FIELDER of 2016, is the better buy and costs less on the road.", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkText(&aiText{Winner: c.winner, Text: c.text}, verdict, pair, c.lang)
			if (err == nil) != c.good {
				t.Errorf("%q: %v, want accepted %t", c.text, err, c.good)
			}
		})
	}
}

func TestWithoutAWinnerNoTextNamesOne(t *testing.T) {
	_, pair := pairForWords()
	pair.Car2, pair.Condition2 = pair.Car1, pair.Condition1

	verdict := Judge(pair)
	if verdict.Winner != nil || verdict.Reason != vehicle.TooClose {
		t.Fatalf("verdict %+v", verdict)
	}
	for text, good := range map[string]bool{
		"Car 1 is the better buy of the two, and it is on the road for less.":                  false,
		"Neither car 1 nor car 2 is clearly the better buy; have the inspection of it decide.": true,
		"The two cars cost the same on the road, and the inspection has to decide.":            true,
		"You should choose car 2 for it is the one that looks the finest in the listing.":      false,
	} {
		if err := checkText(&aiText{Winner: none, Text: text}, verdict, pair, message.English); (err == nil) != good {
			t.Errorf("%q: %v, want accepted %t", text, err, good)
		}
	}
}
