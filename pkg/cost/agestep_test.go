package cost_test

import (
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// codesOf returns the codes of the warnings above info.
func codesOf(warnings []vehicle.Warning) string {
	var list []string
	for _, w := range warnings {
		if w.Level != message.Info {
			list = append(list, w.Code)
		}
	}
	return strings.Join(list, " ")
}

// The authority's answer decides which rules it goes by: charged is the day
// whose rules it uses, now the day it is asked.
func TestAgeSteps(t *testing.T) {
	before, after := autumn, november
	for name, c := range map[string]struct {
		charged, now time.Time
		age          int
		fuel         string
		want         string // "from % to %", with ? when disputed; empty: no step
		warns        string
	}{
		"six":                                {before, before, 6, "PETROL", "", ""},
		"seven":                              {before, before, 7, "PETROL", "0 15", "age_step"},
		"eight":                              {before, before, 8, "PETROL", "", ""},
		"nine, before the disputed edge":     {before, before, 9, "PETROL", "15 30?", "age_step"},
		"ten, charged in practice":           {before, before, 10, "PETROL", "", "age_disputed"},
		"eleven":                             {before, before, 11, "PETROL", "", ""},
		"electric":                           {before, before, 7, "ELECTRIC", "", ""},
		"seven, from July 2026":              {after, after, 7, "PETROL", "0 18?", "age_step"},
		"nine, from July 2026":               {after, after, 9, "PETROL", "", ""},
		"ten, from July 2026":                {after, after, 10, "PETROL & ELECTRIC", "18 35?", "age_step"},
		"twenty, from July 2026":             {after, after, 20, "DIESEL", "35 40?", "age_step"},
		"nine, where the old rules live on":  {before, after, 9, "PETROL", "15 30?", "age_step"},
		"ten, where the old rules live on":   {before, after, 10, "PETROL", "", "age_disputed"},
		"twenty, where the old rules do too": {before, after, 20, "PETROL", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			yom := c.now.Year() - c.age
			tax := answer(c.charged, c.charged.Year()-c.age, 1500, c.fuel, "4000")
			tax.YOM = yom
			drive, warnings := landedByNewYear(vehicle.Estimate{
				Car: vehicle.Car{CFPriceUSD: number("1000")}, Tax: tax,
			}, c.now)
			got := ""
			if s := drive.AgeStep; s != nil {
				got = s.PercentNow.String() + " " + s.PercentNext.String()
				if s.Disputed {
					got += "?"
				}
			}
			if got != c.want {
				t.Errorf("step %q, want %q: %+v", got, c.want, drive.AgeStep)
			}
			if got := codesOf(warnings); got != c.warns {
				t.Errorf("warnings %q, want %q", got, c.warns)
			}
		})
	}
}

// An authority that charges a car of ten by the statute: it may be charged
// more on arrival, and will be next year.
func TestTenYearsByTheStatute(t *testing.T) {
	nine := answer(autumn, 2016, 1500, "PETROL", "4000") // at 15 %
	nine.YOM = 2015
	drive, warnings := landedByNewYear(vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("1000")}, Tax: nine}, autumn)
	if got := codesOf(warnings); got != "age_step age_disputed" {
		t.Fatalf("warnings %q", got)
	}
	// 15 % of 5,000 more, and VAT on it: USD 885.
	if apart := drive.AgeStep.NextUSD.Decimal().Sub(drive.AgeStep.NowUSD.Decimal()); apart.Sub(dec("885")).Abs().GreaterThan(dec("0.02")) {
		t.Errorf("the step is USD %s", apart)
	}
	if v := warnings[1].Values; v["statute"] != "15" || v["statuteTaxes"] != nine.TotalTaxesInTZS.String() || v["practice"] != "30" {
		t.Errorf("%q has the values %v", warnings[1].Message, v)
	}
}

// What the step shows is what the authority's formula gives at the next age.
func TestAnAgeStepHasTheAmountsOfTheFormula(t *testing.T) {
	tax := answer(november, 2016, 1320, "PETROL", "4000")
	next := duty.On(november).Compute(duty.Vehicle{CC: 1320, Fuel: "PETROL", Age: 11}, dec("4000"), dec("2565.98"))
	drive, _ := landedByNewYear(vehicle.Estimate{Tax: tax}, november)
	s := drive.AgeStep
	if s == nil || s.On != "2027-01-01" || s.Age != 10 || s.NowTZS.String() != tax.TotalTaxesInTZS.String() {
		t.Fatalf("%+v", s)
	}
	if apart := s.NextTZS.Decimal().Sub(next.GrandTotalTZS.Decimal()).Abs(); apart.GreaterThan(dec("30")) { // a cent's worth
		t.Errorf("next %s, by the rules %s", s.NextTZS, next.GrandTotalTZS)
	}
}

// The year ends in Dar es Salaam, three hours before it does in UTC.
func TestTheYearEndsInDarEsSalaam(t *testing.T) {
	tax := answer(november, 2016, 1320, "PETROL", "4000")
	for asked, want := range map[time.Time]string{
		time.Date(2026, 12, 31, 20, 59, 0, 0, time.UTC): "2027-01-01",
		time.Date(2026, 12, 31, 21, 0, 0, 0, time.UTC):  "", // eleven there, and twelve next year
	} {
		aged := tax
		if want == "" {
			aged = answer(time.Date(2027, 1, 1, 9, 0, 0, 0, localtime.Zone), 2016, 1320, "PETROL", "4000")
		}
		drive, _ := landedByNewYear(vehicle.Estimate{Tax: aged}, asked)
		got := ""
		if drive.AgeStep != nil {
			got = drive.AgeStep.On
		}
		if got != want {
			t.Errorf("at %s: step %q, want %q", asked, got, want)
		}
	}
}

func TestAnOddExchangeRateIsSaid(t *testing.T) {
	for name, change := range map[string]func(*vehicle.Tax){
		"no dollars":         func(tax *vehicle.Tax) { tax.TotalImportTaxesInUSD = amount("0.00") },
		"no shillings":       func(tax *vehicle.Tax) { tax.TotalImportTaxesInTZS = amount("0.00") },
		"currencies swapped": func(tax *vehicle.Tax) { tax.TotalImportTaxesInTZS = tax.TotalImportTaxesInUSD },
		"an empty answer":    func(tax *vehicle.Tax) { *tax = vehicle.Tax{} },
	} {
		tax := forester
		change(&tax)
		drive, warnings := landed(cost.Embedded(), vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("500")}, Tax: tax},
			dec("2700"), autumn)
		if got := codesOf(warnings); !strings.Contains(got, "exchange_rate_odd") || drive.Exchange.Taxes.String() != "2700" {
			t.Errorf("%s: warnings %q, rate %s", name, got, drive.Exchange.Taxes)
		}
		for _, l := range drive.Lines {
			if l.Code == "import_taxes" && l.AmountUSD.Decimal().IsZero() != l.AmountTZS.Decimal().IsZero() {
				t.Errorf("%s: USD %s beside TZS %s", name, l.AmountUSD, l.AmountTZS)
			}
		}
	}
}

func TestARateThatIsNoneIsTheDefault(t *testing.T) {
	drive, _ := landed(cost.Embedded(), vehicle.Estimate{Tax: forester}, dec("-1"), autumn)
	if got := drive.Exchange.Others.String(); got != "2650" {
		t.Errorf("rate %s", got)
	}
}

// An estimate from a cache, given at another rate, has the warnings of that
// rate once.
func TestApplyReplacesItsOwnWarnings(t *testing.T) {
	estimate := vehicle.Estimate{
		Car: vehicle.Car{CFPriceUSD: number("9000")}, Tax: forester,
		Warnings: []vehicle.Warning{{Code: "registration_year", Message: "Ask."}},
	}
	once := cost.Embedded().Apply(estimate, onDays(dec("2650"), autumn, autumn), autumn)
	twice := cost.Embedded().Apply(once, onDays(dec("2800"), autumn, autumn), autumn)
	if got := codesOf(twice.Warnings); got != "registration_year price_above_authority_value" {
		t.Errorf("warnings %q", got)
	}
	if len(estimate.Warnings) != 1 || once.DriveAway.Exchange.Others.String() != "2650" {
		t.Errorf("the estimate given was changed: %+v", once.DriveAway.Exchange)
	}
	if fresh := cost.Embedded().Apply(estimate, onDays(dec("2800"), autumn, autumn), autumn); fresh.DriveAway.TotalTZS.String() != twice.DriveAway.TotalTZS.String() {
		t.Errorf("%s afresh, %s from the cache", fresh.DriveAway.TotalTZS, twice.DriveAway.TotalTZS)
	}
}
