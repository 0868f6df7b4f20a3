package cost_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/golden"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) *money.Number {
	n := money.NewNumber(dec(text))
	return &n
}

func amount(text string) money.Amount {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// november is a day after July 2026, and summer one before.
var (
	november = time.Date(2026, 11, 21, 9, 0, 0, 0, localtime.Zone)
	autumn   = time.Date(2025, 11, 15, 9, 0, 0, 0, localtime.Zone)
)

// forester is the authority's only complete modern output (2025 Q4). Its year
// of manufacture is not known; 2014 fits the excise it was charged.
var forester = vehicle.Tax{
	ReferenceNumber: "25264120160", BodyType: "SUV", YOM: 2014, Country: "JAPAN", FuelType: "PETROL",
	EngineCapacity: "1501 - 2000 CC", CIFInUSD: amount("2,439.00"), ImportDutyInUSD: amount("609.75"),
	ExiseDutyInUSD: amount("152.44"), ExiseDutyDueToAgeInUSD: amount("914.63"), VATInUSD: amount("797.86"),
	CustomProcessingFeeInUSD: amount("14.63"), RailwayDevLevyInUSD: amount("48.78"), HIVRespLevy: amount("150,000.00"),
	TotalImportTaxesInUSD: amount("2,538.08"), TotalImportTaxesInTZS: amount("6,512,672.49"),
	VehicleRegistrationFeeInTZS: amount("500,000.00"), TotalTaxesInTZS: amount("7,162,672.49"), Quarter: 4, Year: 2025,
}

// answer is what the authority would say by the rules of a day.
func answer(on time.Time, yom, cc int, fuel, cif string) vehicle.Tax {
	b := duty.On(on).Compute(duty.Vehicle{CC: cc, Fuel: fuel, Age: duty.Age(on, yom)}, dec(cif), dec("2565.98"))
	tax := vehicle.Tax{
		ReferenceNumber: "SIM", BodyType: "HATCHBACK", YOM: yom, Country: "JAPAN", FuelType: fuel, CIFInUSD: b.CIF,
		ImportDutyInUSD: b.ImportDuty, ExiseDutyInUSD: b.Excise, ExiseDutyDueToAgeInUSD: b.AgeExcise, VATInUSD: b.VAT,
		CustomProcessingFeeInUSD: b.ProcessingFee, RailwayDevLevyInUSD: b.RailwayLevy, IndDevLevy: b.IndustrialLevy,
		HIVRespLevy: b.HIVLevy, TotalImportTaxesInUSD: b.TotalUSD, TotalImportTaxesInTZS: b.TotalTZS,
		VehicleRegistrationFeeInTZS: b.Registration, TotalTaxesInTZS: b.GrandTotalTZS,
	}
	for _, a := range []*money.Amount{
		&tax.CIFInUSD, &tax.ImportDutyInUSD, &tax.ExiseDutyInUSD, &tax.ExiseDutyDueToAgeInUSD, &tax.VATInUSD,
		&tax.CustomProcessingFeeInUSD, &tax.RailwayDevLevyInUSD, &tax.TotalImportTaxesInUSD, &tax.TotalImportTaxesInTZS,
		&tax.TotalTaxesInTZS,
	} {
		*a = money.New(a.Decimal().Round(2)) // as printed
	}
	return tax
}

func TestGolden(t *testing.T) {
	m3 := number("10.553")
	for name, c := range map[string]struct {
		estimate vehicle.Estimate
		rate     string
		now      time.Time
	}{
		"price-below":   {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("500"), M3: m3}, Tax: forester}, "2650", autumn},
		"price-above":   {vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("6180"), M3: m3}, Tax: forester}, "2650", autumn},
		"at-the-edge":   {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("1200"), M3: m3}, Tax: forester}, "2700", autumn},
		"no-price":      {vehicle.Estimate{Car: vehicle.Car{Currency: "JPY", AskingPrice: number("900000")}, Tax: forester}, "2650", autumn},
		"age-step":      {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("2000"), M3: m3}, Tax: answer(november, 2016, 1320, "PETROL", "4000")}, "2650", november},
		"electric":      {vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("9500")}, Tax: answer(november, 2018, 0, "ELECTRIC", "7000")}, "2650", november},
		"of-the-german": {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("3000")}, Tax: germany(answer(november, 2019, 1400, "PETROL", "8000"))}, "2650", november},
	} {
		t.Run(name, func(t *testing.T) {
			answer := cost.Embedded().Calculate(c.estimate, vehicle.Terms{Rate: dec(c.rate)}, c.now)
			got, err := json.MarshalIndent(struct {
				Summary   vehicle.Summary   `json:"summary"`
				DriveAway vehicle.DriveAway `json:"driveAway"`
				Warnings  []vehicle.Warning `json:"warnings"`
			}{answer.Summary, answer.DriveAway, answer.Warnings}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".json", string(got)+"\n")
		})
	}
}

func germany(tax vehicle.Tax) vehicle.Tax {
	tax.Country = "GERMANY"
	return tax
}

func BenchmarkDriveAway(b *testing.B) {
	estimate := vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("6180"), M3: number("10.553")}, Tax: forester}
	for b.Loop() {
		landed(cost.Embedded(), estimate, cost.DefaultRate, autumn)
	}
}

// Every line of a cost is among the codes that a table has columns for.
func TestCodesNameEveryLine(t *testing.T) {
	t.Parallel()
	e := vehicle.Estimate{
		Tax: answer(november, 2016, 1496, "PETROL", "3199"), Car: vehicle.Car{FOBPriceUSD: number("4000"), M3: number("11")},
	}
	known := map[string]bool{}
	var taxes []string
	for _, c := range cost.Embedded().Codes() {
		known[c.Code] = true
		if c.Tax {
			taxes = append(taxes, c.Code)
		}
	}
	for _, l := range cost.Embedded().Calculate(e, onDays(cost.DefaultRate, november, november), november).DriveAway.Lines {
		if !known[l.Code] {
			t.Errorf("no column for %s", l.Code)
		}
	}
	if got := strings.Join(taxes, " "); got != "import_taxes hiv_levy registration" {
		t.Errorf("got taxes %s", got)
	}
}

// axio returns what the demo reads and matches of its first car, a Corolla Axio made in
// 2019, and the simulated authority's answer of 22 November 2026.
func axio(t *testing.T) (e vehicle.Estimate) {
	t.Helper()
	data, err := os.ReadFile("testdata/axio-estimate.json")
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Bought on 22 November the Axio lands in January, when it is eight years old: the
// headline is the cost after the step, not that of a car that lands today.
func TestTheAxioOfTheDemoLandsAfterTheStep(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, localtime.Zone)
	summaryFor := func(days *vehicle.LandingDays) vehicle.Summary {
		return cost.Embedded().Calculate(axio(t), vehicle.Terms{Landing: days}, now).Summary
	}
	bought, december := summaryFor(nil), summaryFor(&vehicle.LandingDays{From: "2026-12-20", To: "2026-12-20"})
	if got := bought.OnTheRoad.TZS; got != 39_270_000 || bought.Landing.Likely != "2027-01-28" {
		t.Errorf("bought today: %d, landing on %s", got, bought.Landing.Likely)
	}
	if got := december.OnTheRoad.TZS; got != 34_120_000 || december.IfLandedBy != nil {
		t.Errorf("landing on 20 December: %d, %+v", got, december.IfLandedBy)
	}
	if by := bought.IfLandedBy; by == nil || by.Date != "2026-12-31" || *by.OnTheRoad != *december.OnTheRoad {
		t.Errorf("if landed by: %+v, want %+v", by, december.OnTheRoad)
	}
	if low := bought.OnTheRoad.LowTZS; low > 39_270_000 || bought.OnTheRoad.HighTZS < 39_270_000 {
		t.Errorf("the headline lies outside its range: %+v", bought.OnTheRoad)
	}
	got, err := json.MarshalIndent(map[string]vehicle.Summary{"bought": bought, "landing on 20 December": december}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/axio-summary.json", string(got)+"\n")
}

// The taxes of a year on landing are those of a car with a low price that lands then.
func TestTaxesOnLandingAreThoseOfTheEstimate(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, localtime.Zone)
	e := vehicle.Estimate{Tax: answer(now, 2019, 1500, "PETROL", "4000"), AsOf: now.Format(time.RFC3339)}
	rates := map[string]bool{}
	for _, day := range []string{"2026-12-31", "2027-01-01", "2028-01-01"} {
		landing := &vehicle.LandingDays{From: day, To: day}
		got := cost.Embedded().OnLanding(e, landing, now)
		priced := e
		priced.Car.FOBPriceUSD = number("1")
		summary := cost.Embedded().Calculate(priced, vehicle.Terms{Landing: landing}, now).Summary
		own := summary.Taxes.OnAuthority
		if apart := got.TotalTaxesInTZS.Decimal().Sub(decimal.NewFromInt(own.TZS)).Abs(); got.Landing != day || apart.GreaterThan(dec("5000")) {
			t.Errorf("%s: %+v, in the summary %d", day, got, own.TZS)
		}
		rates[got.ExciseDueToAgePercent.String()] = true
	}
	if len(rates) < 2 {
		t.Errorf("another year of age changes nothing: %v", rates)
	}
	usual := cost.Embedded().OnLanding(e, nil, now)
	if usual.Landing <= "2026-12-31" || usual.TotalTaxesInTZS.Decimal().LessThanOrEqual(e.Tax.TotalTaxesInTZS.Decimal()) {
		t.Errorf("on the usual day: %+v, today %s", usual, e.Tax.TotalTaxesInTZS)
	}
}

// However a caller comes to a cost, it is the same to the cent: at once or from a cached
// estimate that was made on other terms, plain, with months or with a highest price.
func TestEveryWayGivesOneTotal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 13))
	tables := cost.Embedded()
	for range testenv.Pick(40, 10) {
		q := randomQuote(r)
		plain := tables.Calculate(q.estimate, q.terms, q.now)
		others := q.terms
		others.ByMonth, others.Target = true, &vehicle.Target{OnTheRoadTZS: *number("40000000")}
		cached := asCached(t, tables.Apply(q.estimate, vehicle.Terms{Rate: dec("2471")}, q.now))
		for name, e := range map[string]vehicle.Estimate{
			"applied":              tables.Apply(q.estimate, q.terms, q.now),
			"with months and bid":  tables.Apply(q.estimate, others, q.now),
			"of a cached estimate": tables.Apply(cached, q.terms, q.now),
			"applied twice":        tables.Apply(tables.Apply(cached, others, q.now), q.terms, q.now),
		} {
			if got, want := asText(t, e.DriveAway), asText(t, plain.DriveAway); got != want {
				t.Fatalf("%s:\n%s, want\n%s", name, got, want)
			}
			e.Summary.ByMonth = nil
			if got, want := asText(t, e.Summary), asText(t, plain.Summary); got != want {
				t.Fatalf("%s:\n%s, want\n%s", name, got, want)
			}
		}
		// A month is the cost of a landing in it.
		months := tables.Apply(q.estimate, others, q.now).Summary.ByMonth.Months
		month := months[1+r.IntN(len(months)-1)]
		first, err := time.ParseInLocation("2006-01", month.Month, q.now.Location())
		if err != nil {
			t.Fatal(err)
		}
		landing := onDays(q.terms.Rate, first, first.AddDate(0, 1, -1))
		landing.Costs = q.terms.Costs
		if got, want := asText(t, month.OnTheRoad), asText(t, tables.Calculate(q.estimate, landing, q.now).Summary.OnTheRoad); got != want {
			t.Fatalf("%s: %s, want %s", month.Month, got, want)
		}
	}
}

// asCached returns an estimate as it comes out of the cache.
func asCached(t *testing.T, e vehicle.Estimate) (cached vehicle.Estimate) {
	t.Helper()
	if err := json.Unmarshal([]byte(asText(t, e)), &cached); err != nil {
		t.Fatal(err)
	}
	return cached
}

func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// landed returns the cost of a car that lands today.
func landed(
	tables *cost.Tables, e vehicle.Estimate, rate decimal.Decimal, now time.Time,
) (vehicle.DriveAway, []vehicle.Warning) {
	answer := tables.Calculate(e, onDays(rate, now, now), now)
	return answer.DriveAway, answer.Warnings
}

// landedByNewYear returns the cost of a car that lands from today to the next 1
// January, so that the step of its age counts.
func landedByNewYear(e vehicle.Estimate, now time.Time) (vehicle.DriveAway, []vehicle.Warning) {
	newYear := time.Date(now.In(localtime.Zone).Year()+1, time.January, 1, 0, 0, 0, 0, localtime.Zone)
	answer := cost.Embedded().Calculate(e, onDays(cost.DefaultRate, now, newYear), now)
	return answer.DriveAway, answer.Warnings
}

// onDays returns the terms of a landing between two days.
func onDays(rate decimal.Decimal, from, to time.Time) vehicle.Terms {
	return vehicle.Terms{Rate: rate, Landing: &vehicle.LandingDays{From: dayOf(from), To: dayOf(to)}}
}

func dayOf(t time.Time) string { return t.In(localtime.Zone).Format(time.DateOnly) }
