package cost_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/golden"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

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
