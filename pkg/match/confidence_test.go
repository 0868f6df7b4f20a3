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
