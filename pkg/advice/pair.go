// Package advice compares two cars for a buyer. Doubts lists what is grave or not
// certain about a car. Judge finds the better buy: what forbids a car first, then what
// must be asked first, then fixed weights over figures. Write puts the verdict into
// our own closed sentences: of a listing or a sheet they hold short quotes alone, and
// cars have the names that the authority gives them.
package advice

import (
	"slices"

	"github.com/shopspring/decimal"

	"ushuru/pkg/condition"
	"ushuru/pkg/vehicle"
)

// Pair is the two cars to compare. Condition1 belongs to Car1, Condition2 to
// Car2; a nil Condition means that the car has no readable sheet.
type Pair struct {
	Car1, Car2             vehicle.Estimate
	Condition1, Condition2 *Condition
}

// Cars returns the two cars, each with its doubts.
func (p Pair) Cars() (car1, car2 vehicle.Estimate) {
	p.Car1.Doubts, p.Car2.Doubts = Doubts(p.Car1, p.Condition1), Doubts(p.Car2, p.Condition2)
	return p.Car1, p.Car2
}

// side is one car of a Pair.
type side struct {
	number    int // 1 or 2
	estimate  vehicle.Estimate
	condition *Condition
	doubts    []vehicle.Doubt
}

func (p Pair) sides() [2]side {
	return [2]side{newSide(1, p.Car1, p.Condition1), newSide(2, p.Car2, p.Condition2)}
}

func newSide(number int, e vehicle.Estimate, c *Condition) side {
	s := side{number: number, estimate: e, condition: c, doubts: Doubts(e, c)}
	for i := range s.doubts {
		s.doubts[i].Car = number
	}
	return s
}

// standing is what is known of the condition of a car: a vetoed car is below one in
// doubt, and only a known one can be our advice.
type standing int

const (
	vetoed standing = iota
	inDoubt
	known
)

func (s side) standing() standing {
	if len(s.doubts) == 0 {
		return known
	}
	switch gravest := s.doubts[0]; {
	case isVeto(gravest):
		return vetoed
	case levelOf(gravest) == condition.Doubt:
		return inDoubt
	}
	return known
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

// hasFalseMileage reports whether the sheet or the listing says that the odometer is
// not reliable.
func (s side) hasFalseMileage() bool {
	return s.condition.hasFalseMeter() || slices.ContainsFunc(s.estimate.Car.Condition, func(said vehicle.Statement) bool {
		return said.Category == string(condition.Meter) && condition.Severity(said.Level).Rank() >= condition.Doubt.Rank()
	})
}

// hasUnreadMark reports whether the mark beside the mileage on a sheet was not read: it may say
// that the mileage is false.
func (s side) hasUnreadMark() bool { return s.condition == nil || s.condition.MileageFlag == "" }

// crossesAgeStep reports whether the tax rises within the time in which the car can
// land.
func (s side) crossesAgeStep() bool {
	return s.estimate.DriveAway != nil && s.estimate.DriveAway.AgeStep != nil
}

// hasWarning reports whether the estimate has a warning with a code.
func (s side) hasWarning(code string) bool { return hasWarning(s.estimate, code) }

func hasWarning(e vehicle.Estimate, code string) bool {
	return slices.ContainsFunc(e.Warnings, func(w vehicle.Warning) bool { return w.Code == code })
}

// hasBadCondition reports whether sheet or listing say something for which the car is
// never our advice.
func (s side) hasBadCondition() bool {
	return slices.ContainsFunc(s.doubts, func(d vehicle.Doubt) bool {
		return isVeto(d) && d.Code != doubtSold && d.Code != doubtMatchUncertain
	})
}
