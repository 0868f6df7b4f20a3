package figures

import (
	"slices"

	"ushuru/pkg/vehicle"
)

// Part is one of the parts of the cost.
type Part struct {
	Key   string // car, ship, tax or port
	TZS   int64
	Known bool
}

// PartsOf returns the parts of the cost.
func PartsOf(s *vehicle.Summary) []Part {
	known := func(key string, sum *vehicle.Sum) Part {
		if sum == nil {
			return Part{Key: key}
		}
		return Part{key, sum.TZS, true}
	}
	car, ship, tax, port := known("car", s.Car), known("ship", s.Shipping), Part{Key: "tax"}, known("port", s.PortAndLocal)
	if s.Taxes != nil {
		tax = known("tax", &s.Taxes.Sum)
	}
	return slices.DeleteFunc([]Part{car, ship, tax, port}, func(p Part) bool { return p.Known && p.TZS == 0 })
}

// SumOf returns the sum of parts; 0 when one is not known.
func SumOf(parts []Part) (sum int64) {
	for _, p := range parts {
		if !p.Known {
			return 0
		}
		sum += p.TZS
	}
	return sum
}

// Segment is a piece of a bar that is 1000 wide.
type Segment struct {
	Key      string
	X, Width int64
}

// BarWidth is that of a bar, in its own units.
const BarWidth = 1000

// BarOf returns the parts as pieces of a bar whose whole width is a sum; nil when one is
// not known.
func BarOf(parts []Part, whole int64) (bar []Segment) {
	if SumOf(parts) <= 0 || whole <= 0 {
		return nil
	}
	var sum int64
	for _, p := range parts {
		from := sum * BarWidth / whole
		sum += p.TZS
		bar = append(bar, Segment{p.Key, from, sum*BarWidth/whole - from})
	}
	return bar
}

// Scale is where a sum and its range lie on a bar that is 1000 wide.
type Scale struct{ From, Width, Dot int64 }

// ScaleOf returns the range in the middle of the bar, with as much room on both sides as
// a tenth of it.
func ScaleOf(s vehicle.Sum) Scale {
	const margin = BarWidth / 10
	width := s.HighTZS - s.LowTZS
	if width <= 0 {
		return Scale{margin, BarWidth - 2*margin, BarWidth / 2}
	}
	at := margin + (s.TZS-s.LowTZS)*(BarWidth-2*margin)/width
	return Scale{margin, BarWidth - 2*margin, min(max(at, margin), BarWidth-margin)}
}
