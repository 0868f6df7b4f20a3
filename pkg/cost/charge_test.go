package cost_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// The authority answered for another year than the car's own, because its list lacks it:
// the value is that of the other, the age and so the taxes are the car's own. The range
// holds both ages.
func TestTheCarsOwnYearIsItsAge(t *testing.T) {
	t.Parallel()
	for _, basis := range []string{"manufacture", "registration", "model", "title", ""} {
		for _, listed := range []int{2010, 2014, 2019, 2021} {
			const own = 2017
			as := func(yom int) vehicle.DriveAway {
				e := vehicle.Estimate{
					Tax: answer(november, yom, 1496, "PETROL", "3199"),
					Car: vehicle.Car{CFPriceUSD: number("2000"), M3: number("11"), Year: own, YearBasis: basis},
				}
				drive, _ := landed(cost.Embedded(), e, cost.DefaultRate, november)
				return drive
			}
			got, want := lineOf(as(listed), "import_taxes"), lineOf(as(own), "import_taxes")
			if got.AmountTZS.Decimal().Sub(want.AmountTZS.Decimal()).Abs().GreaterThan(dec("100")) {
				t.Errorf("%s, listed %d: taxes %s, by its own year %s", basis, listed, got.AmountTZS, want.AmountTZS)
			}
			other := answer(november, listed, 1496, "PETROL", "3199").TotalImportTaxesInTZS.Decimal()
			if got.LowTZS.Decimal().GreaterThan(other) || got.HighTZS.Decimal().LessThan(other.Sub(dec("100"))) {
				t.Errorf("%s, listed %d: %s to %s does not hold the listed year's %s", basis, listed, got.LowTZS, got.HighTZS, other)
			}
		}
	}
}

// Whatever year the authority answers for, the range holds the taxes by the car's own.
func TestTheRangeHoldsTheOwnYear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.now = d.now.In(localtime.Zone)
		d.estimate.Car.Year = d.estimate.Tax.YOM + rapid.IntRange(-3, 3).Draw(t, "apart")
		d.estimate.Car.YearBasis = rapid.SampledFrom([]string{"manufacture", "registration", "model"}).Draw(t, "basis")
		got := d.calculate()
		own := d.estimate
		own.Tax.YOM = own.Car.Year
		listed := duty.Vehicle{Fuel: own.Tax.FuelType, Age: duty.Age(d.now, d.estimate.Tax.YOM)}
		mine := duty.Vehicle{Fuel: own.Tax.FuelType, Age: duty.Age(d.now, own.Car.Year)}
		before, after := rateOf(d.now, listed), rateOf(d.now, mine)
		line := lineOf(got, "import_taxes")
		verbatim := d.estimate.Tax.TotalImportTaxesInTZS.Decimal()
		if line.LowTZS.Decimal().GreaterThan(verbatim) && got.TaxBase.Basis == vehicle.BasisAuthority {
			t.Fatalf("%s to %s does not hold the authority's own %s", line.LowTZS, line.HighTZS, verbatim)
		}
		if older := after > before; older && got.TaxBase.Basis == vehicle.BasisAuthority &&
			!line.HighTZS.Decimal().GreaterThan(verbatim) {
			t.Fatalf("an older car (%v, listed %v) at most pays %s as the listed one, %s", mine, listed, line.HighTZS, verbatim)
		}
	})
}

func rateOf(on time.Time, car duty.Vehicle) float64 {
	statute, practice := duty.On(on).AgeRates(car)
	return max(statute.InexactFloat64(), practice.InexactFloat64())
}

// noon returns the middle of a day in Dar es Salaam.
func noon(t *testing.T, date string) time.Time {
	t.Helper()
	at, err := time.ParseInLocation(time.DateOnly, date, localtime.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(12 * time.Hour)
}

// quotedPrice is a car at its price C&F, certain but for the law, with every fee of the caller.
func quotedPrice(at time.Time) (vehicle.Estimate, *vehicle.Costs) {
	e := vehicle.Estimate{
		Tax:  answer(at, 2016, 1496, "PETROL", "9000"),
		Car:  vehicle.Car{CFPriceUSD: number("4000"), M3: number("11"), Year: 2016, YearBasis: "manufacture"},
		AsOf: at.Format(time.RFC3339), Matched: vehicle.Matched{Confidence: vehicle.High},
	}
	return e, &vehicle.Costs{
		InsuranceUSD: number("0"), InspectionUSD: number("150"), AgentTZS: number("400000"), PortTZS: number("900000"),
	}
}

func warned(warnings []vehicle.Warning, code string) bool {
	return slices.ContainsFunc(warnings, func(w vehicle.Warning) bool { return w.Code == code })
}

// The rules of the financial year of 1 July 2026 are the newest that are dated. A landing
// after 30 June 2027 is under a law that nobody knows.
func TestALandingAfterTheLastKnownRulesIsSaidAndIsARange(t *testing.T) {
	t.Parallel()
	at := noon(t, "2026-11-24")
	for _, c := range []struct {
		from, to string
		unknown  bool
	}{
		{"2027-03-01", "2027-03-01", false},
		{"2027-06-30", "2027-06-30", false},
		{"2027-06-01", "2027-07-01", true},
		{"2027-07-01", "2027-07-01", true},
		{"2028-02-01", "2028-03-01", true},
	} {
		e, costs := quotedPrice(at)
		terms := onDays(cost.DefaultRate, noon(t, c.from), noon(t, c.to))
		terms.Costs = costs
		got := cost.Embedded().Calculate(e, terms, at)
		if warned(got.Warnings, cost.WarnRulesUnknown) != c.unknown {
			t.Errorf("%+v: warnings %+v", c, got.Warnings)
		}
		if c.unknown && got.Summary.Confidence == vehicle.High {
			t.Errorf("%+v: confidence %s", c, got.Summary.Confidence)
		}
		// Made in 2016, the car of 11 years pays 30 % of excise duty for age by the rules before
		// the newest, and 0.6 % of processing fee; under these it pays 35 % and 1 %.
		before, _ := duty.On(at).Before()
		age := duty.Age(noon(t, c.to), 2016)
		least := before.Compute(duty.Vehicle{CC: 1496, Fuel: "PETROL", Age: age}, dec("9000"), dec("2565.98")).TotalTZS.Decimal()
		line := lineOf(got.DriveAway, "import_taxes")
		if wide := line.LowTZS.Decimal().LessThanOrEqual(least.Add(dec("1"))); wide != c.unknown {
			t.Errorf("%+v: the taxes are %s to %s; the rules before give %s", c, line.LowTZS, line.HighTZS, least.Round(2))
		}
	}
}

func TestTablesThatNobodyCheckedForAYearAreSaidToBeOld(t *testing.T) {
	t.Parallel()
	checked := noon(t, duty.Current().Checked())
	operators := func(checked string) *cost.Tables {
		tables, err := cost.Parse([]byte(`{"checked": "` + checked + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return tables
	}
	for name, c := range map[string]struct {
		tables *cost.Tables
		now    time.Time
		old    bool
	}{
		"a day under twelve months": {cost.Embedded(), checked.AddDate(1, 0, -1), false},
		"twelve months":             {cost.Embedded(), checked.AddDate(1, 0, 0), false},
		"a day over twelve months":  {cost.Embedded(), checked.AddDate(1, 0, 1), true},
		"an operator's, under":      {operators("2026-03-01"), noon(t, "2027-02-28"), false},
		"an operator's, over":       {operators("2026-03-01"), noon(t, "2027-03-02"), true},
	} {
		e, costs := quotedPrice(c.now)
		terms := onDays(cost.DefaultRate, c.now, c.now)
		terms.Costs = costs
		got := c.tables.Calculate(e, terms, c.now)
		if warned(got.Warnings, cost.WarnTablesOld) != c.old {
			t.Errorf("%s: warnings %+v", name, got.Warnings)
		}
		if c.old && got.Summary.Confidence == vehicle.High {
			t.Errorf("%s: confidence %s", name, got.Summary.Confidence)
		}
	}
	if _, err := cost.Parse([]byte(`{"checked": "last spring"}`)); err == nil || !strings.Contains(err.Error(), "checked") {
		t.Errorf("a day that is none: %v", err)
	}
}

// A change that is announced for before the landing gives both sides: the headline is by the
// law in force, the range and a scenario have the other. One that is stayed changes nothing.
func TestAnAnnouncedLawGivesBothSides(t *testing.T) {
	t.Parallel()
	const change = `{"rules": [{"from": "2026-12-15", "state": "%s", "processing_fee": "0.05",
		"evidence": {"state": {"grade": "secondary", "source": "a budget speech"}}}]}`
	for state, isAnnounced := range map[string]bool{"announced": true, "stayed": false} {
		tables, err := cost.Parse([]byte(strings.Replace(change, "%s", state, 1)))
		if err != nil {
			t.Fatal(err)
		}
		e, _ := quotedPrice(november)
		e.Matched.Confidence = vehicle.High
		for days, isAfter := range map[int]bool{20: false, 60: true} {
			landing := onDays(cost.DefaultRate, november.AddDate(0, 0, days), november.AddDate(0, 0, days))
			before, got := cost.Embedded().Calculate(e, landing, november), tables.Calculate(e, landing, november)
			want := isAnnounced && isAfter
			warned := slices.ContainsFunc(got.Warnings, func(w vehicle.Warning) bool {
				return w.Code == cost.WarnRulesUnknown && w.Values["from"] == "2026-12-15"
			})
			asked := slices.ContainsFunc(got.DriveAway.Scenarios, func(s vehicle.Scenario) bool { return s.Code == "law_announced" && !s.Likely })
			wider := got.DriveAway.HighTZS.Decimal().GreaterThan(before.DriveAway.HighTZS.Decimal())
			if got.DriveAway.TotalTZS.String() != before.DriveAway.TotalTZS.String() || warned != want || asked != want || wider != want {
				t.Errorf("%s, %d days: got %s (%s without), warned %v, a scenario %v, a wider range %v, want the same total and %v",
					state, days, got.DriveAway.TotalTZS, before.DriveAway.TotalTZS, warned, asked, wider, want)
			}
			if want && got.Summary.Confidence == vehicle.High {
				t.Errorf("%s, %d days: got high confidence, want less", state, days)
			}
		}
	}
	if _, err := cost.Parse([]byte(`{"rules": [{"from": "2027-07-01", "state": "announced"}]}`)); err == nil {
		t.Error("got an announced law without evidence accepted, want an error")
	}
}
