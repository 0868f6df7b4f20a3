package match

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/vehicle"
)

// capacity is an engine capacity band in cc, both bounds included.
type capacity struct{ low, high int }

func (c capacity) holds(cc int) bool { return c.low <= cc && cc <= c.high }
func (c capacity) width() int        { return c.high - c.low }

var upTo = regexp.MustCompile(`\b(UP ?TO|BELOW|UNDER|LESS|MAX(IMUM)?|NOT (EXCEEDING|OVER|ABOVE|MORE)|NOT EXCEED)\b`)

// parseCapacity reads "1001 - 1500 CC" and open-ended texts: a single number
// with UP TO, BELOW or the like is the upper bound, any other single number
// (ABOVE 2500 CC, 2501+, OVER 3000) the lower one.
func parseCapacity(text string) (capacity, bool) {
	text = chassis.Normalise(text)
	switch numbers := vehicle.BandNumbers(text); {
	case len(numbers) == 2 && numbers[0] <= numbers[1]:
		return capacity{numbers[0], numbers[1]}, true
	case len(numbers) == 1 && upTo.MatchString(text):
		return capacity{0, numbers[0]}, true
	case len(numbers) == 1:
		return capacity{numbers[0], math.MaxInt}, true
	}
	return capacity{}, false
}

// pickBand takes the band that holds the car's engine size. Listings round:
// where the size that is known of the label's car is within 60 cc of the
// listed one but in another band, or the listing gives none, it decides. A car
// without any engine size (electric, or not given) gets the only band there
// is.
func pickBand(car vehicle.Car, known int, bands []string) (string, []vehicle.Adjustment, error) {
	listed := bandOf(car.EngineCC, bands)
	if known > 0 && (car.EngineCC <= 0 || abs(car.EngineCC-known) <= ccAgrees) {
		if band := bandOf(known, bands); band != "" && band != listed {
			reason := "engine_known"
			if car.EngineCC <= 0 {
				reason = "engine_known.not_given"
			}
			with := sourced(car, "cc", strconv.Itoa(known))
			return band, []vehicle.Adjustment{vehicle.Adjusted("engine_cc", car.EngineCC, known, reason, with)}, nil
		}
	}
	switch {
	case listed != "":
		return listed, nil, nil
	case car.EngineCC > 0:
		return "", nil, refusal(noCapacityBand,
			values{"cc": strconv.Itoa(car.EngineCC), "bands": strings.Join(bands, ", ")})
	case len(bands) == 1:
		only := vehicle.Adjusted("capacityBand", car.EngineCC, bands[0], "one_band", sourced(car))
		return bands[0], []vehicle.Adjustment{only}, nil
	}
	return "", nil, refusal("listing_incomplete.engine", sourced(car, "bands", strings.Join(bands, ", ")))
}

// bandOf finds the band that holds an engine size in cc; where bands overlap,
// the narrowest. It is "" when there is none, or no size.
func bandOf(cc int, bands []string) string {
	best, found := "", capacity{}
	if cc <= 0 {
		return best
	}
	for _, band := range slices.Sorted(slices.Values(bands)) {
		c, ok := parseCapacity(band)
		if ok && c.holds(cc) && (best == "" || c.width() < found.width()) {
			best, found = band, c
		}
	}
	return best
}
