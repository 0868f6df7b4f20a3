// Package advice compares two cars for a buyer. Judge finds the better buy: facts
// that forbid a car first, then fixed weights over figures. Write puts the verdict
// into words by a template; a Writer has an AI add a paragraph and checks every
// number in it. The text contains nothing from a listing or a sheet: cars have the
// names that the authority gives them.
package advice

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// Pair is the two cars to compare. Condition1 belongs to Car1, Condition2 to
// Car2; a nil Condition means that the car has no readable sheet.
type Pair struct {
	Car1, Car2             vehicle.Estimate
	Condition1, Condition2 *Condition
}

// side is one car of a Pair.
type side struct {
	number    int // 1 or 2
	estimate  vehicle.Estimate
	condition *Condition
}

func (p Pair) sides() [2]side {
	return [2]side{{1, p.Car1, p.Condition1}, {2, p.Car2, p.Condition2}}
}

// spread is the cost of a car on the road in shillings.
type spread struct{ low, likely, high decimal.Decimal }

// cost returns the cost on the road; false when it is not complete.
func (s side) cost() (spread, bool) {
	d := s.estimate.DriveAway
	if d == nil || !d.Complete {
		return spread{}, false
	}
	return spread{d.LowTZS.Decimal(), d.TotalTZS.Decimal(), d.HighTZS.Decimal()}, true
}

// isBelow reports whether a cost is below another even at its highest.
func (s spread) isBelow(other spread) bool { return s.high.LessThan(other.low) }

// mileage returns the mileage of the listing, else that of the sheet. Where both
// are known and differ, the sheet contradicts the listing, which is a veto.
func (s side) mileage() (km int, known bool) {
	switch {
	case s.estimate.Car.MileageKM != nil:
		return *s.estimate.Car.MileageKM, true
	case s.condition != nil && s.condition.MileageKM != nil:
		return *s.condition.MileageKM, true
	}
	return 0, false
}

// year returns the year of the listing, else that of the authority.
func (s side) year() int {
	if s.estimate.Car.Year > 0 {
		return s.estimate.Car.Year
	}
	return s.estimate.Matched.YOM
}

// hasDoubtfulMileage reports whether the sheet says that the odometer is not
// reliable.
func (s side) hasDoubtfulMileage() bool {
	return s.condition != nil && (s.condition.MileageFlag == "tampered" || s.condition.MileageFlag == "unknown")
}

// crossesAgeStep reports whether the tax rises within the time in which the car can
// land.
func (s side) crossesAgeStep() bool {
	return s.estimate.DriveAway != nil && s.estimate.DriveAway.AgeStep != nil
}

// hasWarning reports whether the estimate has a warning with a code.
func (s side) hasWarning(code string) bool {
	for _, warning := range s.estimate.Warnings {
		if warning.Code == code {
			return true
		}
	}
	return false
}
