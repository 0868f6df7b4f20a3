package match

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// fakeLists answers every label alike. A nil list is empty.
type fakeLists struct {
	years     []int
	countries []string
	fuels     []string
	bands     []string
	delay     time.Duration
	err       error

	mu    sync.Mutex
	asked []string
}

func (f *fakeLists) ask(ctx context.Context, format string, args ...any) error {
	f.mu.Lock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	f.mu.Unlock()
	if f.delay > 0 {
		select {
		case <-time.After(f.delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.err
}

// List answers as the authority would.
func (f *fakeLists) List(ctx context.Context, _ catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	switch {
	case v.YOM == 0:
		var years []string
		for _, year := range f.years {
			years = append(years, strconv.Itoa(year))
		}
		return years, f.ask(ctx, "years %s", v.ModelBody)
	case v.Country == "":
		return f.countries, f.ask(ctx, "countries %d", v.YOM)
	case v.FuelType == "":
		return f.fuels, f.ask(ctx, "fuels %d %s", v.YOM, v.Country)
	}
	return f.bands, f.ask(ctx, "bands %d %s %s", v.YOM, v.Country, v.FuelType)
}

func usual() *fakeLists {
	return &fakeLists{
		years: []int{2010, 2012, 2015}, countries: []string{"JAPAN"}, fuels: []string{"PETROL", "PETROL & ELECTRIC"},
		bands: []string{"0 - 1000 CC", "1001 - 1500 CC", "1501 - 2000 CC"},
	}
}

const (
	hybridLabel = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"
	plainLabel  = "VITZ - NCP10 - HATCHBACK"
)

func chosen(label string, adjustments ...vehicle.Adjustment) Choice {
	return Choice{Make: catalogue.Make{ID: 63, Name: "TOYOTA"}, Label: label, MatchType: vehicle.ExactCode, Reason: "because", Adjustments: adjustments}
}

// japanese is a tuple of Japan.
func japanese(yom int, fuel, band string) catalogue.Vehicle {
	return catalogue.Vehicle{YOM: yom, Country: "JAPAN", FuelType: fuel, EngineCapacity: band}
}

func TestResolveSettlesOnTheTuple(t *testing.T) {
	for _, c := range []struct {
		name       string
		car        vehicle.Car
		label      string
		lists      func(*fakeLists)
		want       catalogue.Vehicle
		fields     string
		confidence vehicle.Confidence
	}{
		{
			"all as listed",
			vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296},
			plainLabel,
			nil, japanese(2012, "PETROL", "1001 - 1500 CC"), "", vehicle.High,
		},
		{
			"fuel's other word",
			vehicle.Car{Year: 2012, Fuel: "GASOLINE", EngineCC: 1296},
			plainLabel,
			nil, japanese(2012, "PETROL", "1001 - 1500 CC"), "fuelType", vehicle.Medium,
		},
		{
			"hybrid's other word",
			vehicle.Car{Year: 2015, Fuel: "HYBRID(PETROL)", EngineCC: 1490, RawModelCode: "DAA-NKE165"},
			hybridLabel,
			nil, japanese(2015, "PETROL & ELECTRIC", "1001 - 1500 CC"), "fuelType", vehicle.Medium,
		},
		{
			"hybrid by prefix, listed as petrol",
			vehicle.Car{Year: 2015, Fuel: "PETROL", EngineCC: 1490, RawModelCode: "DAA-NKE165"},
			plainLabel,
			nil, japanese(2015, "PETROL & ELECTRIC", "1001 - 1500 CC"), "fuelType", vehicle.Medium,
		},
		{
			"hybrid by label, listed as petrol",
			vehicle.Car{Year: 2015, Fuel: "PETROL", EngineCC: 1490},
			hybridLabel,
			nil, japanese(2015, "PETROL & ELECTRIC", "1001 - 1500 CC"), "fuelType", vehicle.Medium,
		},
		{
			"mild hybrid that the authority calls petrol",
			vehicle.Car{Year: 2012, Fuel: "HYBRID", EngineCC: 996},
			plainLabel,
			func(f *fakeLists) { f.fuels = []string{"PETROL"} }, japanese(2012, "PETROL", "0 - 1000 CC"), "fuelType", vehicle.Medium,
		},
		{
			"diesel hybrid",
			vehicle.Car{Year: 2012, Fuel: "DIESEL HYBRID", EngineCC: 1998},
			plainLabel,
			func(f *fakeLists) { f.fuels = []string{"PETROL", "DIESEL"} }, japanese(2012, "DIESEL", "1501 - 2000 CC"), "fuelType", vehicle.Medium,
		},
		{
			"no fuel given, one listed",
			vehicle.Car{Year: 2012, EngineCC: 1000},
			plainLabel,
			func(f *fakeLists) { f.fuels = []string{"DIESEL"} }, japanese(2012, "DIESEL", "0 - 1000 CC"), "fuelType", vehicle.Medium,
		},
		{
			"electric with one band",
			vehicle.Car{Year: 2012, Fuel: "ELECTRIC"},
			plainLabel,
			func(f *fakeLists) { f.fuels, f.bands = []string{"ELECTRIC"}, []string{"0 CC"} }, japanese(2012, "ELECTRIC", "0 CC"), "capacityBand", vehicle.Medium,
		},
		{
			"year not listed",
			vehicle.Car{Year: 2018, Fuel: "PETROL", EngineCC: 1500},
			plainLabel,
			nil, japanese(2015, "PETROL", "1001 - 1500 CC"), "yom", vehicle.Low,
		},
		{
			"year between two",
			vehicle.Car{Year: 2011, Fuel: "PETROL", EngineCC: 1501},
			plainLabel,
			nil, japanese(2010, "PETROL", "1501 - 2000 CC"), "yom", vehicle.Low,
		},
		{
			"one other country",
			vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296},
			plainLabel,
			func(f *fakeLists) { f.countries = []string{"THAILAND"} },
			catalogue.Vehicle{YOM: 2012, Country: "THAILAND", FuelType: "PETROL", EngineCapacity: "1001 - 1500 CC"},
			"country", vehicle.Medium,
		},
		{
			"Japan among others",
			vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296},
			plainLabel,
			func(f *fakeLists) { f.countries = []string{"CHINA", "Japan "} },
			catalogue.Vehicle{YOM: 2012, Country: "Japan ", FuelType: "PETROL", EngineCapacity: "1001 - 1500 CC"},
			"", vehicle.High,
		},
		{
			"everything at once",
			vehicle.Car{Year: 2011, Fuel: "GASOLINE"},
			plainLabel,
			func(f *fakeLists) { f.countries, f.bands = []string{"THAILAND"}, []string{"1001 - 1500 CC"} },
			catalogue.Vehicle{YOM: 2010, Country: "THAILAND", FuelType: "PETROL", EngineCapacity: "1001 - 1500 CC"},
			"yom country fuelType capacityBand", vehicle.Low,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists := usual()
			if c.lists != nil {
				c.lists(lists)
			}
			got, tuple, err := Resolve(t.Context(), c.car, chosen(c.label), lists)
			if err != nil {
				t.Fatal(err)
			}
			c.want.MakeID, c.want.ModelBody = 63, c.label
			if tuple != c.want {
				t.Errorf("tuple %+v, want %+v", tuple, c.want)
			}
			if fields := adjustedFields(got.Adjustments); fields != c.fields || got.Adjustments == nil {
				t.Errorf("adjusted %q, want %q: %+v", fields, c.fields, got.Adjustments)
			}
			if got.Confidence != c.confidence {
				t.Errorf("confidence %s, want %s", got.Confidence, c.confidence)
			}
			if got.YOM != tuple.YOM || got.Country != tuple.Country || got.FuelType != tuple.FuelType || got.CapacityBand != tuple.EngineCapacity ||
				got.MakeID != 63 || got.Make != "TOYOTA" || got.ModelBody != c.label || got.MatchReason != "because" {
				t.Errorf("matched %+v does not repeat the tuple %+v", got, tuple)
			}
		})
	}
}

func TestResolveKeepsTheChoicesAdjustmentsInFront(t *testing.T) {
	choice := chosen(plainLabel, vehicle.Adjustment{Field: "model", Reason: "r"}, vehicle.Adjustment{Field: "modelCode", Reason: "r"})
	got, _, err := Resolve(t.Context(), vehicle.Car{Year: 2011, Fuel: "GASOLINE", EngineCC: 1296}, choice, usual())
	if err != nil {
		t.Fatal(err)
	}
	if fields := adjustedFields(got.Adjustments); fields != "model modelCode yom fuelType" || got.Confidence != vehicle.Low {
		t.Errorf("%s, %s", fields, got.Confidence)
	}
	if len(choice.Adjustments) != 2 {
		t.Error("the choice itself was changed")
	}
}

func TestYearAdjustmentSaysWhatTheSpecificationAsks(t *testing.T) {
	yom, adjusted, ok := pickYear(2013, 1999, []int{1999})
	want := "TRA has no entry for the listed year 2013; the nearest year, 1999, is used"
	if !ok || yom != 1999 || len(adjusted) != 1 || adjusted[0].Reason != want || adjusted[0].From != 2013 || adjusted[0].To != 1999 {
		t.Errorf("%d, %+v", yom, adjusted)
	}
}

func TestResolveRefusesHonestly(t *testing.T) {
	good := vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296}
	with := func(change func(*vehicle.Car)) vehicle.Car {
		car := good
		change(&car)
		return car
	}
	for _, c := range []struct {
		name  string
		car   vehicle.Car
		label string
		lists func(*fakeLists)
		code  string
	}{
		{"no year", with(func(c *vehicle.Car) { c.Year = 0 }), plainLabel, nil, listingIncomplete},
		{"no years listed", good, plainLabel, func(f *fakeLists) { f.years = nil }, NotListed},
		{"no countries listed", good, plainLabel, func(f *fakeLists) { f.countries = nil }, NotListed},
		{"no fuels listed", good, plainLabel, func(f *fakeLists) { f.fuels = nil }, NotListed},
		{"no bands listed", good, plainLabel, func(f *fakeLists) { f.bands = nil }, NotListed},
		{"several countries but Japan", good, plainLabel, func(f *fakeLists) { f.countries = []string{"CHINA", "THAILAND"} }, AmbiguousMatch},
		{"petrol against diesel", good, plainLabel, func(f *fakeLists) { f.fuels = []string{"DIESEL"} }, fuelConflict},
		{"diesel against petrol", with(func(c *vehicle.Car) { c.Fuel = "DIESEL" }), plainLabel, nil, fuelConflict},
		{
			"electric against a hybrid", with(func(c *vehicle.Car) { c.Fuel = "ELECTRIC" }), plainLabel,
			func(f *fakeLists) { f.fuels = []string{"PETROL & ELECTRIC"} }, fuelConflict,
		},
		{"electric by prefix", with(func(c *vehicle.Car) { c.RawModelCode = "ZAA-ZE1" }), plainLabel, nil, fuelConflict},
		{
			"hybrid prefix against petrol alone", with(func(c *vehicle.Car) { c.RawModelCode = "DAA-NKE165" }), plainLabel,
			func(f *fakeLists) { f.fuels = []string{"PETROL"} }, fuelConflict,
		},
		{
			"petrol prefix against a hybrid alone", with(func(c *vehicle.Car) { c.RawModelCode = "DBA-NCP10" }), plainLabel,
			func(f *fakeLists) { f.fuels = []string{"PETROL & ELECTRIC"} }, fuelConflict,
		},
		{"gas", with(func(c *vehicle.Car) { c.Fuel = "LPG" }), plainLabel, nil, fuelConflict},
		{"no fuel and several listed", with(func(c *vehicle.Car) { c.Fuel = "" }), plainLabel, nil, listingIncomplete},
		{"outside every band", with(func(c *vehicle.Car) { c.EngineCC = 2500 }), plainLabel, nil, noCapacityBand},
		{"outside the only band", good, plainLabel, func(f *fakeLists) { f.bands = []string{"1501 - 2000 CC"} }, noCapacityBand},
		{"no engine size and several bands", with(func(c *vehicle.Car) { c.EngineCC = 0 }), plainLabel, nil, listingIncomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists := usual()
			if c.lists != nil {
				c.lists(lists)
			}
			got, tuple, err := Resolve(t.Context(), c.car, chosen(c.label), lists)
			var refused *Error
			if !errors.As(err, &refused) || refused.Code != c.code || refused.Message == "" {
				t.Fatalf("got %+v, %v; want %s", got, err, c.code)
			}
			if tuple != (catalogue.Vehicle{}) || got.ModelBody != "" {
				t.Errorf("a refusal comes with %+v, %+v", got, tuple)
			}
		})
	}
}

func TestResolvePassesOnTheAuthoritysErrors(t *testing.T) {
	down := &tra.Error{Kind: tra.Unavailable}
	lists := usual()
	lists.err = down
	if _, _, err := Resolve(t.Context(), vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296}, chosen(plainLabel), lists); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

func TestResolveAsksEverythingAtOnceWhenItCanForesee(t *testing.T) {
	for _, c := range []struct {
		name  string
		car   vehicle.Car
		lists func(*fakeLists)
		took  time.Duration
		calls int
	}{
		{"all foreseen", vehicle.Car{Year: 2012, Fuel: "GASOLINE", EngineCC: 1296}, func(*fakeLists) {}, time.Second, 4},
		{"fuel unknown", vehicle.Car{Year: 2012, EngineCC: 1296}, func(f *fakeLists) { f.fuels = []string{"PETROL"} }, 2 * time.Second, 4},
		{"year not listed", vehicle.Car{Year: 2018, Fuel: "PETROL", EngineCC: 1296}, func(*fakeLists) {}, 2 * time.Second, 8},
		{"year not listed, nor the petrol car", vehicle.Car{Year: 2018, Fuel: "PETROL", EngineCC: 1296}, func(f *fakeLists) { f.fuels = []string{"PETROL & ELECTRIC"} }, 2 * time.Second, 8},
		{"another country", vehicle.Car{Year: 2012, Fuel: "PETROL", EngineCC: 1296}, func(f *fakeLists) { f.countries = []string{"UNITED KINGDOM"} }, 2 * time.Second, 7},
		{"year and country", vehicle.Car{Year: 2018, Fuel: "PETROL", EngineCC: 1296}, func(f *fakeLists) { f.countries = []string{"UNITED KINGDOM"} }, 3 * time.Second, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lists := usual()
				lists.delay = time.Second
				c.lists(lists)
				start := time.Now()
				if _, _, err := Resolve(t.Context(), c.car, chosen(plainLabel), lists); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				synctest.Wait()
				if len(lists.asked) != c.calls {
					t.Errorf("asked %q, want %d calls", lists.asked, c.calls)
				}
			})
		})
	}
}

// A value of cars more than three years apart is no value of the car, unless the caller
// consents to it. The year of a request is no consent.
func TestAYearFarFromTheCarsOwnNeedsConsent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, consented int
		years          []int
		want           int // 0 is a refusal
	}{
		{2017, 0, []int{2000, 2014}, 2014},
		{2017, 0, []int{2020, 2013}, 2020},
		{2017, 0, []int{2013}, 0},
		{2020, 0, []int{1991, 1995}, 0},
		{2020, 1991, []int{1991, 1995}, 1991},
		{2020, 1993, []int{1991, 1995}, 0},
		{2020, 2021, []int{2020, 2021}, 2021},
	} {
		lists := usual()
		lists.years = c.years
		car := vehicle.Car{Year: c.own, ListedYear: c.consented, Fuel: "PETROL", EngineCC: 1296}
		matched, tuple, err := Resolve(t.Context(), car, chosen(plainLabel), lists)
		if c.want != 0 {
			if err != nil || tuple.YOM != c.want || matched.YOM != c.want {
				t.Errorf("%+v: %d, %v", c, tuple.YOM, err)
			}
			continue
		}
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != YearNotListed || len(refused.Candidates) != len(c.years) ||
			refused.Candidates[0].YearFrom != slices.MinFunc(c.years, func(a, b int) int { return abs(a-c.own) - abs(b-c.own) }) {
			t.Errorf("%+v: %+v, %v", c, matched, err)
		}
	}
}

func TestConfidenceFollowsTheThreeRules(t *testing.T) {
	adjusted := func(fields ...string) (all []vehicle.Adjustment) {
		for _, field := range fields {
			all = append(all, vehicle.Adjustment{Field: field})
		}
		return all
	}
	for _, c := range []struct {
		matchType   vehicle.MatchType
		adjustments []vehicle.Adjustment
		want        vehicle.Confidence
	}{
		{vehicle.ExactCode, nil, vehicle.High},
		{vehicle.ExactCode, adjusted("fuelType"), vehicle.Medium},
		{vehicle.ExactCode, adjusted("modelCode", "fuelType"), vehicle.Medium},
		{vehicle.ExactCode, adjusted("modelBody"), vehicle.Medium},
		{vehicle.ExactCode, adjusted("country"), vehicle.Medium},
		{vehicle.ExactCode, adjusted("capacityBand"), vehicle.Medium},
		{vehicle.ExactCode, adjusted("yom"), vehicle.Low},
		{vehicle.ExactCode, adjusted("model"), vehicle.Low},
		{vehicle.ExactCode, adjusted("fuelType", "yom"), vehicle.Low},
		{vehicle.LLMFuzzy, nil, vehicle.Medium},
		{vehicle.LLMFuzzy, adjusted("fuelType"), vehicle.Low},
		{vehicle.LLMFuzzy, adjusted("yom"), vehicle.Low},
		{vehicle.LLMFuzzy, adjusted("model"), vehicle.Low},
	} {
		if got := Confidence(c.matchType, c.adjustments); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.matchType, c.adjustments, got, c.want)
		}
	}
}

func TestADoubtfulYearIsNeverHigh(t *testing.T) {
	for name, c := range map[string]struct {
		car  vehicle.Car
		want vehicle.Confidence
	}{
		"manufacture":   {vehicle.Car{Year: 2012, YearBasis: "manufacture"}, vehicle.High},
		"registration":  {vehicle.Car{Year: 2012, YearBasis: "registration"}, vehicle.High},
		"model":         {vehicle.Car{Year: 2012, YearBasis: "model"}, vehicle.Medium},
		"title":         {vehicle.Car{Year: 2012, YearBasis: "title"}, vehicle.Medium},
		"title differs": {vehicle.Car{Year: 2012, YearBasis: "manufacture", TitleYear: 2015}, vehicle.Medium},
	} {
		if got := yearConfidence(vehicle.High, c.car); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := yearConfidence(vehicle.Low, c.car); got != vehicle.Low {
			t.Errorf("%s: low becomes %s", name, got)
		}
	}
}

func TestParseCapacityReadsEveryForm(t *testing.T) {
	for text, want := range map[string]capacity{
		"1001 - 1500 CC":     {1001, 1500},
		"1,001-1,500cc":      {1001, 1500},
		"1001 – 1500 CC":     {1001, 1500},
		"1001 TO 1500":       {1001, 1500},
		"10001 - 12000 CC":   {10001, 12000},
		"ABOVE 2500 CC":      {2500, math.MaxInt},
		"OVER 3000":          {3000, math.MaxInt},
		"2501+":              {2501, math.MaxInt},
		"2501 CC AND ABOVE":  {2501, math.MaxInt},
		"2501":               {2501, math.MaxInt}, // the older form's top band
		"UP TO 1000 CC":      {0, 1000},
		"BELOW 1000":         {0, 1000},
		"1000 CC AND BELOW":  {0, 1000},
		"LESS THAN 1000 CC":  {0, 1000},
		"NOT EXCEEDING 1000": {0, 1000},
	} {
		if got, ok := parseCapacity(text); !ok || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "CC", "ELECTRIC", "1500 - 1001 CC", "1 - 2 - 3"} {
		if got, ok := parseCapacity(text); ok {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
}

func TestPickBandIncludesBothBounds(t *testing.T) {
	bands := []string{"ABOVE 2500 CC", "1501 - 2000 CC", "2001 - 2500 CC", "UP TO 1500 CC", "?"}
	for cc, want := range map[int]string{
		658: bands[3], 1500: bands[3], 1501: bands[1], 2000: bands[1], 2001: bands[2], 2500: bands[2], 2501: bands[0], 12000: bands[0],
	} {
		if got, adjusted, err := pickBand(vehicle.Car{EngineCC: cc}, 0, bands); got != want || adjusted != nil || err != nil {
			t.Errorf("%d cc: %q, %v, %v; want %q", cc, got, adjusted, err, want)
		}
	}
	_, _, err := pickBand(vehicle.Car{EngineCC: 1200}, 0, []string{"?"})
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != noCapacityBand {
		t.Errorf("a band that cannot be read: %v", err)
	}
}

func FuzzParseCapacity(f *testing.F) {
	f.Add("1001 - 1500 CC")
	f.Add("UP TO 99999999999 CC")
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := parseCapacity(text); ok && (c.low < 0 || c.low > c.high) {
			t.Errorf("%q: %v", text, c)
		}
	})
}
