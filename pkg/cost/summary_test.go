package cost_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

// quote is a random car with what a caller may know of it.
type quote struct {
	estimate vehicle.Estimate
	terms    vehicle.Terms
	now      time.Time
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomQuote draws a car of any country, basis, fuel, age and landing.
func randomQuote(r *rand.Rand) quote {
	now := time.Date(2025+r.IntN(3), time.Month(1+r.IntN(12)), 1+r.IntN(28), 9, 0, 0, 0, localtime.Zone)
	own := now.Year() - r.IntN(30)
	cif := decimal.NewFromInt(int64(800 + r.IntN(20_000)))
	tax := answer(now, own+pick(r, 0, 0, 0, -3, -1, 2), pick(r, 660, 998, 1496, 1998, 3500), pick(r, "PETROL", "DIESEL", "PETROL & ELECTRIC", "ELECTRIC"), cif.String())
	tax.BodyType = pick(r, "SUV", "HATCHBACK", "BUS", "TRUCK", "MOTORCYCLE", "")
	if r.IntN(12) == 0 {
		tax.CIFInUSD = money.Amount{}
	}
	e := vehicle.Estimate{
		Tax: tax, AsOf: now.Format(time.RFC3339), Matched: vehicle.Matched{Confidence: pick(r, vehicle.High, vehicle.Medium, vehicle.Low)},
		Car: vehicle.Car{
			Year: own, YearBasis: pick(r, "manufacture", "registration", "model", ""),
			LocatedIn: pick(r, "", "JAPAN", "UNITED KINGDOM", "UNITED ARAB EMIRATES", "SINGAPORE", "SOUTH AFRICA"),
		},
	}
	price := decimal.NewFromInt(int64(300 + r.IntN(20_000)))
	fob, cf := numberOf(price), numberOf(price.Add(decimal.NewFromInt(int64(pick(r, 1, 700, 1500)))))
	switch r.IntN(4) {
	case 0:
		e.Car.FOBPriceUSD = fob
	case 1:
		e.Car.CFPriceUSD = cf
	case 2:
		e.Car.FOBPriceUSD, e.Car.CFPriceUSD = fob, cf
	}
	e.Car.Source = vehicle.FromListing
	if r.IntN(4) == 0 {
		e.Car.M3 = number("11.5")
	}
	if r.IntN(15) == 0 { // totals that imply no exchange rate
		e.Tax.TotalImportTaxesInTZS = money.New(decimal.NewFromInt(12))
	}
	q := quote{estimate: e, now: now, terms: vehicle.Terms{Rate: decimal.NewFromInt(int64(pick(r, 2450, 2650, 3200)))}}
	if r.IntN(2) == 0 {
		from := now.AddDate(0, 0, r.IntN(500))
		q.terms = onDays(q.terms.Rate, from, from.AddDate(0, 0, max(0, r.IntN(90)-30)))
	}
	if r.IntN(3) == 0 {
		q.terms.Costs = randomCosts(r)
	}
	return q
}

// randomCosts draws what a caller knows.
func randomCosts(r *rand.Rand) *vehicle.Costs {
	isTrue := func() bool { return r.IntN(3) == 0 }
	c := &vehicle.Costs{}
	for _, known := range []struct {
		of    **money.Number
		value string
	}{
		{&c.FreightUSD, "900"},
		{&c.InsuranceUSD, "40"},
		{&c.InspectionUSD, "90"},
		{&c.BankUSD, "30"},
		{&c.AgentTZS, "400000"},
		{&c.PortTZS, "900000"},
		{&c.InlandTZS, "500000"},
		{&c.ShippingM3, "9.5"},
	} {
		if isTrue() {
			*known.of = number(known.value)
		}
	}
	for _, off := range []**bool{&c.Inspection, &c.Insurance, &c.Clearing} {
		if isTrue() {
			*off = new(false)
		}
	}
	if isTrue() {
		c.DaysInPort, c.Comprehensive = new(r.IntN(40)), new(true)
	}
	return c
}

// unsaid are sentences that a random quote does not lead to: tables without a fee for a
// day or with an announced law, which have tests of their own, and texts inside the note on a step, whose rates TestAgeStep checks.
var unsaid = []string{
	"missing/no_fee", "age_step/disputed", "age_step/law", "age_step/one_source", "age_step/practice", "age_step/rules",
	"age_step/unknown_rules", "basis/of_taxes", "tax_base/reported", "scenario/law_announced",
}

// families are those of the sentences on a cost. What is asked about a condition is not.
var families = []string{
	"summary", "tax_base", "tax_base_short", "landing", "missing", "not_included", "scenario", "settle", "age_step", "basis",
}

// Every sentence on a cost has a claim, and is true of its answer in both languages,
// whatever the car.
func TestNoSentenceIsFalse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 11))
	times, wrong := map[string]int{}, map[string]int{}
	for range testenv.Pick(2000, 1000) {
		q := randomQuote(r)
		got := cost.Embedded().Calculate(q.estimate, q.terms, q.now)
		f := factsOf(q, got)
		for _, s := range sayings(got) {
			times[s.key]++
			claim, has := claims[s.key]
			if has && claim(f, s) && sameNumbers(s.text) {
				continue
			}
			if wrong[s.key]++; wrong[s.key] > 2 {
				continue
			}
			car, _ := json.Marshal(q.estimate.Car)
			costs, _ := json.Marshal(q.terms.Costs)
			t.Errorf("%s is said, and false or without a claim (%v): %v\n%s\n%s\n%s, %s, TRA's year %d, %s, costs %s, %s to %s, line %s", s.key, has,
				s.values, s.text.EN, s.text.SW, car, q.estimate.Tax.BodyType, q.estimate.Tax.YOM, q.now.Format(time.DateOnly), costs,
				got.Summary.Landing.From, got.Summary.Landing.To, s.line.Code)
		}
	}
	for _, family := range families {
		for _, key := range message.Keys(family) {
			key = family + "/" + message.CodeOf(key)
			if claims[key] == nil && !slices.Contains(unsaid, key) {
				t.Errorf("%s has no claim", key)
			}
		}
	}
	for key := range claims {
		if times[key] == 0 {
			t.Errorf("%s was never said", key)
		}
	}
}

// quarterAfter returns the first day of the next quarter.
func quarterAfter(day time.Time) string {
	return time.Date(day.Year(), (day.Month()-1)/3*3+4, 1, 0, 0, 0, 0, localtime.Zone).Format(time.DateOnly)
}

// Lines that are paid inside Tanzania say so.
func TestLinesPaidInTanzaniaAreInShillings(t *testing.T) {
	t.Parallel()
	e, _ := quotedPrice(november)
	drive, _ := landed(cost.Embedded(), e, cost.DefaultRate, november)
	abroad := []string{"car_price", "freight", "insurance", "inspection", "radiation_check", "bank_fee", "other_costs"}
	for _, l := range drive.Lines {
		if want := !strings.Contains(strings.Join(abroad, " "), l.Code); (l.PaidIn == "TZS") != want {
			t.Errorf("%s is paid in %q", l.Code, l.PaidIn)
		}
	}
}

// A car that was not inspected before shipment is inspected once: TBS at destination stands
// in place of the inspection.
func TestAnInspectionIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country string
		costs   *vehicle.Costs
		want    string
	}{
		{"JAPAN", nil, "inspection"},
		{"UNITED KINGDOM", nil, "tbs_destination"},
		{"UNITED ARAB EMIRATES", nil, "tbs_destination"},
		{"UNITED KINGDOM", &vehicle.Costs{InspectionUSD: number("120")}, "inspection"},
		{"UNITED KINGDOM", &vehicle.Costs{Inspection: new(false)}, ""},
	} {
		e, _ := quotedPrice(november)
		e.Tax.Country, e.Car.LocatedIn = c.country, c.country
		terms := onDays(cost.DefaultRate, november, november)
		terms.Costs = c.costs
		var got []string
		for _, l := range cost.Embedded().Calculate(e, terms, november).DriveAway.Lines {
			if l.Code == "inspection" || l.Code == "tbs_destination" {
				got = append(got, l.Code)
				if l.Code == "tbs_destination" && l.AmountTZS.String() != "350,000.00" {
					t.Errorf("%s: TBS is %s", c.country, l.AmountTZS)
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %q", c.country, got, c.want)
		}
	}
}

// What is paid by bank and what is paid at the port are the whole cost, each of its six numbers; a
// part that is not known makes its payment unknown, and no other.
func TestPaymentsAddUpToTheCost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 2))
	known := 0
	for range 60 {
		q := randomQuote(r)
		s := cost.Embedded().Calculate(q.estimate, q.terms, q.now).Summary
		if len(s.Pay) != 2 || s.Pay[0].Code != "bank" || s.Pay[1].Code != "port" || s.Pay[1].From != s.Landing.From {
			t.Fatalf("got the payments %+v, want by bank now, and at the port from the landing on", s.Pay)
		}
		if (s.Pay[0].Sum == nil) != (s.CarAndShipping == nil) || (s.Pay[1].Sum == nil) != (s.Taxes == nil || s.PortAndLocal == nil) {
			t.Fatalf("got %s for the summary %s", asText(t, s.Pay), asText(t, s))
		}
		if s.OnTheRoad == nil {
			continue
		}
		known++
		sum := *s.Pay[0].Sum
		for _, n := range []struct {
			into *int64
			add  int64
		}{
			{&sum.TZS, s.Pay[1].Sum.TZS},
			{&sum.LowTZS, s.Pay[1].Sum.LowTZS},
			{&sum.HighTZS, s.Pay[1].Sum.HighTZS},
			{&sum.USD, s.Pay[1].Sum.USD},
			{&sum.LowUSD, s.Pay[1].Sum.LowUSD},
			{&sum.HighUSD, s.Pay[1].Sum.HighUSD},
		} {
			*n.into += n.add
		}
		if sum != *s.OnTheRoad {
			t.Fatalf("got %+v together, want %+v", sum, *s.OnTheRoad)
		}
	}
	if known < 10 {
		t.Errorf("only %d costs were known", known)
	}
}

// A question about freight is worth the range that freight and insurance have; what costs nothing to
// ask is worth nothing that is known.
func TestAQuestionSaysWhatItsAnswerIsWorth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 4))
	worth := map[string]int{}
	for range 60 {
		q := randomQuote(r)
		s := cost.Embedded().Calculate(q.estimate, q.terms, q.now).Summary
		for _, question := range s.Ask {
			if question.WorthTZS == nil {
				continue
			}
			worth[question.Code]++
			if *question.WorthTZS <= 0 || *question.WorthTZS%10_000 != 0 {
				t.Fatalf("%s is worth %d, want a rounded sum", question.Code, *question.WorthTZS)
			}
			if s.OnTheRoad != nil && question.Code == "freight_and_insurance" && *question.WorthTZS > s.OnTheRoad.HighTZS-s.OnTheRoad.LowTZS+20_000 {
				t.Fatalf("freight is worth %d, more than the range %+v", *question.WorthTZS, *s.OnTheRoad)
			}
		}
	}
	if len(worth) != 2 || worth["freight_and_insurance"] == 0 || worth["seat_belt_label"] == 0 {
		t.Errorf("got %v, want what freight and the year are worth", worth)
	}
}
