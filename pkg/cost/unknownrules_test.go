package cost_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

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
