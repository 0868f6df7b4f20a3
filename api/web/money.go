package web

import (
	"slices"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// part is one of the parts of the cost.
type part struct {
	Key   string // car, ship, tax or port
	TZS   int64
	Known bool
}

// partsOf returns the parts of the cost. The car and the ship share a sum of the summary:
// the ship's is what the price of the car leaves of it.
func partsOf(e vehicle.Estimate) []part {
	car, ship, tax, port := part{Key: "car"}, part{Key: "ship"}, part{Key: "tax"}, part{Key: "port"}
	if s := e.Summary.CarAndShipping; s != nil {
		at := slices.IndexFunc(e.DriveAway.Lines, func(l vehicle.CostLine) bool { return l.Code == "car_price" })
		if car.Known, ship.Known = true, true; at >= 0 {
			car.TZS = min(inUnits(e.DriveAway.Lines[at].AmountTZS.Decimal()), s.TZS)
		}
		ship.TZS = s.TZS - car.TZS
	}
	if s := e.Summary.Taxes; s != nil {
		tax.Known, tax.TZS = true, s.TZS
	}
	if s := e.Summary.PortAndLocal; s != nil {
		port.Known, port.TZS = true, s.TZS
	}
	return slices.DeleteFunc([]part{car, ship, tax, port}, func(p part) bool { return p.Known && p.TZS == 0 })
}

// inUnits rounds shillings as the summary does.
func inUnits(amount decimal.Decimal) int64 {
	unit := decimal.NewFromInt(10_000)
	return amount.Div(unit).Round(0).Mul(unit).IntPart()
}

// segment is a piece of a bar that is 1000 wide.
type segment struct {
	Key      string
	X, Width int64
}

const barWidth = 1000

// barOf returns the parts as pieces of a bar; nil when one is not known.
func barOf(parts []part) (bar []segment) {
	var total, sum int64
	for _, p := range parts {
		if !p.Known {
			return nil
		}
		total += p.TZS
	}
	if total <= 0 {
		return nil
	}
	for _, p := range parts {
		from := sum * barWidth / total
		sum += p.TZS
		bar = append(bar, segment{p.Key, from, sum*barWidth/total - from})
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
