package cost_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// byMonth returns the cost of an estimate by the month of landing.
func byMonth(e vehicle.Estimate, now time.Time) vehicle.ByMonth {
	return *cost.Embedded().Apply(e, vehicle.Terms{ByMonth: true}, now).Summary.ByMonth
}

func TestTheAxioCostsMoreFromJanuaryOn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, localtime.Zone)
	got := byMonth(axio(t), now)
	if len(got.Months) != 12 || got.Months[0].Month != "2026-11" || got.Months[11].Month != "2027-10" {
		t.Fatalf("%+v", got.Months)
	}
	summary := cost.Embedded().Calculate(axio(t), vehicle.Terms{}, now).Summary
	for _, m := range got.Months {
		want := summary.OnTheRoad.TZS // lands on 28 January
		if m.Month < "2027" {
			want = summary.IfLandedBy.OnTheRoad.TZS
		}
		if m.OnTheRoad.TZS != want || m.Assumed != (m.Month >= "2027-07") {
			t.Errorf("%s: %d, assumed %t; want %d", m.Month, m.OnTheRoad.TZS, m.Assumed, want)
		}
	}
	if got.Text.EN != "TRA revises its values every three months: those of today are used. "+
		"From July 2027 on, the tax rules of a new financial year hold. They are not known yet: those of today are used." {
		t.Error(got.Text.EN)
	}
}

func TestMonthsThatCannotBeKnownAreMarked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, localtime.Zone)
	for name, change := range map[string]func(*vehicle.Estimate){
		"a bus":         func(e *vehicle.Estimate) { e.Tax.BodyType = "BUS" },
		"unknown rules": func(e *vehicle.Estimate) { e.Tax.ExiseDutyDueToAgeInUSD = e.Tax.ImportDutyInUSD },
		"no value":      func(e *vehicle.Estimate) { e.Tax.CIFInUSD = vehicle.Tax{}.CIFInUSD },
	} {
		e := axio(t)
		change(&e)
		got := byMonth(e, now)
		for _, m := range got.Months {
			if m.Assumed != (m.Month >= "2027" || name == "no value") {
				t.Errorf("%s, %s: assumed %t", name, m.Month, m.Assumed)
			}
		}
	}
	e := axio(t)
	e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, nil
	for _, m := range byMonth(e, now).Months {
		if m.OnTheRoad != nil {
			t.Errorf("%s has a cost without a price", m.Month)
		}
	}
	if cost.Embedded().Apply(axio(t), vehicle.Terms{}, now).Summary.ByMonth != nil {
		t.Error("months without a request for them")
	}
}

// TestAMonthIsTheCostOfItsLanding compares the months with estimates of their own, for any
// car on any day.
func TestAMonthIsTheCostOfItsLanding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		got := byMonth(d.estimate, d.now)
		today := d.now.In(localtime.Zone)
		for i, m := range got.Months {
			first := time.Date(today.Year(), today.Month()+time.Month(i), 1, 0, 0, 0, 0, localtime.Zone)
			if m.Month != first.Format("2006-01") {
				t.Fatalf("month %d is %s", i, m.Month)
			}
			if i == 0 {
				first = today
			}
			last := time.Date(today.Year(), today.Month()+time.Month(i)+1, 0, 0, 0, 0, 0, localtime.Zone)
			terms := onDays(cost.DefaultRate, first, last)
			want := cost.Embedded().Calculate(d.estimate, terms, d.now).Summary.OnTheRoad
			if (m.OnTheRoad == nil) != (want == nil) || want != nil && *m.OnTheRoad != *want {
				t.Fatalf("%s: %+v, want %+v", m.Month, m.OnTheRoad, want)
			}
		}
	})
}
