package web

import (
	"slices"

	"ushuru/pkg/vehicle"
)

// part is one of the parts of the cost.
type part struct {
	Key   string // car, ship, tax or port
	TZS   int64
	Known bool
}

// partsOf returns the parts of the cost.
func partsOf(s *vehicle.Summary) []part {
	known := func(key string, sum *vehicle.Sum) part {
		if sum == nil {
			return part{Key: key}
		}
		return part{key, sum.TZS, true}
	}
	car, ship, tax, port := known("car", s.Car), known("ship", s.Shipping), part{Key: "tax"}, known("port", s.PortAndLocal)
	if s.Car == nil && s.CarAndShipping != nil { // of an earlier version
		car, ship = known("car_ship", s.CarAndShipping), part{Key: "ship", Known: true}
	}
	if s.Taxes != nil {
		tax = known("tax", &s.Taxes.Sum)
	}
	return slices.DeleteFunc([]part{car, ship, tax, port}, func(p part) bool { return p.Known && p.TZS == 0 })
}

// sumOf returns the sum of parts; 0 when one is not known.
func sumOf(parts []part) (sum int64) {
	for _, p := range parts {
		if !p.Known {
			return 0
		}
		sum += p.TZS
	}
	return sum
}

// segment is a piece of a bar that is 1000 wide.
type segment struct {
	Key      string
	X, Width int64
}

const barWidth = 1000

// barOf returns the parts as pieces of a bar whose whole width is a sum; nil when one is
// not known.
func barOf(parts []part, whole int64) (bar []segment) {
	if sumOf(parts) <= 0 || whole <= 0 {
		return nil
	}
	var sum int64
	for _, p := range parts {
		from := sum * barWidth / whole
		sum += p.TZS
		bar = append(bar, segment{p.Key, from, sum*barWidth/whole - from})
	}
	return bar
}

// scale is where a sum and its range lie on a bar that is 1000 wide.
type scale struct{ From, Width, Dot int64 }

// scaleOf returns the range in the middle of the bar, with as much room on both sides as
// a tenth of it.
func scaleOf(s vehicle.Sum) scale {
	const margin = barWidth / 10
	width := s.HighTZS - s.LowTZS
	if width <= 0 {
		return scale{margin, barWidth - 2*margin, barWidth / 2}
	}
	at := margin + (s.TZS-s.LowTZS)*(barWidth-2*margin)/width
	return scale{margin, barWidth - 2*margin, min(max(at, margin), barWidth-margin)}
}
