package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/match"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Match measures matching by code and finding candidates by name, compared with
// a bare map: so many look-ups of each kind in a catalogue of ten makes with so
// many labels.
func Match(ctx context.Context, out io.Writer, labels, samples int) ([]rig.Number, error) {
	labels, samples = max(labels, 10), max(samples, 1)
	cat, cars := benchCatalogue(labels)
	matcher := match.New(match.Options{})
	bare := make(map[string]string, len(cars))
	for _, car := range cars {
		bare[car.RawModelCode] = car.Model
	}
	var missed int
	exact := func(car vehicle.Car) {
		if choice, err := matcher.Choose(ctx, car, cat); err != nil || choice.MatchType != vehicle.ExactCode {
			missed++
		}
	}
	for _, car := range cars[:min(len(cars), 20)] { // the indexes are built at the first look-up
		exact(car)
	}
	var middles []rig.Value
	for _, bench := range []struct {
		name string
		of   func(vehicle.Car)
	}{
		{"map look-up by code", func(car vehicle.Car) {
			if bare[car.RawModelCode] == "" {
				missed++
			}
		}},
		{"exact match", exact},
		{"candidates, misspelt name without code", func(car vehicle.Car) {
			car.RawModelCode, car.Model = "", car.Model[1:]+"X"
			_, _, _ = matcher.Explain(ctx, car, cat)
		}},
		{"candidates, absent code", func(car vehicle.Car) {
			car.RawModelCode += "9"
			_, _, _ = matcher.Explain(ctx, car, cat)
		}},
	} {
		took := timeEach(cars, samples, bench.of)
		middles = append(middles, rig.Value{N: float64(took[len(took)/2]) / float64(time.Microsecond), Unit: "µs"})
		if _, err := fmt.Fprintf(out, "%-40s p50 %-10s p95 %-10s max %s\n", bench.name,
			took[len(took)/2], took[len(took)*95/100], took[len(took)-1]); err != nil {
			return nil, err
		}
	}
	_, err := fmt.Fprintf(out, "in a catalogue of %d labels, %d look-ups each; exact look-ups that failed: %d\n",
		cat.Len(), samples, missed)
	return matchNumbers(cat.Len(), middles), err
}

// matchNumbers are those of a map, an exact match, and candidates of two kinds.
func matchNumbers(labels int, middles []rig.Value) []rig.Number {
	const exact, fuzzy = 5, 1000
	where := fmt.Sprintf(" in %d labels, p50", labels)
	bare := middles[0].As("bare map")
	return []rig.Number{
		{Name: "exact match" + where, Measured: middles[1], Baseline: bare, Aim: rig.Aim{AtMost: exact}},
		{
			Name: "candidates for a misspelt name" + where, Measured: middles[2], Baseline: bare, Aim: rig.Aim{AtMost: fuzzy},
		},
		{
			Name: "candidates for an absent code" + where, Measured: middles[3], Baseline: bare, Aim: rig.Aim{AtMost: fuzzy},
		},
	}
}

// timeEach times single look-ups, each over a few rounds because one is too
// short for the clock, and sorts the times.
func timeEach(cars []vehicle.Car, samples int, of func(vehicle.Car)) []time.Duration {
	const rounds = 8
	took := make([]time.Duration, 0, samples)
	for i := range samples {
		car := cars[i*7919%len(cars)]
		start := time.Now()
		for range rounds {
			of(car)
		}
		took = append(took, time.Since(start)/rounds)
	}
	slices.Sort(took)
	return took
}

// benchCatalogue returns labels of ten makes with a hundred and fifty models
// each, and a car for every label.
func benchCatalogue(labels int) (*catalogue.Catalogue, []vehicle.Car) {
	makes := make([]catalogue.MakeLabels, 10)
	cars := make([]vehicle.Car, 0, labels)
	for i := range labels {
		at := i % len(makes)
		mk := &makes[at]
		mk.Make = catalogue.Make{ID: at + 1, Name: "MAKE " + letter(at)}
		n := i / len(makes)
		model := benchName(n % 150)
		code := letter(n%26) + letter(n/26%26) + "E" + strconv.Itoa(100+n/676) + letter(6+at)
		mk.Labels = append(mk.Labels, model+" - "+code+" - WAGON")
		cars = append(cars, vehicle.Car{
			Make: mk.Make.Name, Model: model, Version: "1.5 G EDITION", RawModelCode: code, Year: 2015, EngineCC: 1496,
			Fuel: "PETROL", BodyType: "WAGON",
		})
	}
	return catalogue.New(makes), cars
}

// letter is the n-th letter.
func letter(n int) string { return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n : n+1] }

// benchName is a pronounceable name of six to eight letters.
func benchName(n int) string {
	syllables := []string{"CO", "RO", "LLA", "VI", "TZ", "PRE", "MI", "FI", "ELD", "NO", "SE", "RA"}
	k := len(syllables)
	return syllables[n%k] + syllables[n/k%k] + syllables[(n*5+3)%k] + syllables[(n/7+1)%k]
}
