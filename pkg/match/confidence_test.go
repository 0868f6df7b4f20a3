package match

import (
	"testing"

	"ushuru/pkg/vehicle"
)

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
