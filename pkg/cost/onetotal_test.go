package cost_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

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
