// Package advice compares two cars for a buyer. Judge finds the better buy by
// fixed weights over figures. Write puts the verdict into words by a template; a
// Writer has an AI write the first paragraph and checks every number in it. The
// text contains nothing from a listing or a sheet: cars have the names that the
// authority gives them.
package advice

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// The languages of a recommendation.
const (
	English = "en"
	Swahili = "sw"
)

// The values of Verdict.Winner, and of Criterion.Better.
const (
	Car1 = "car1"
	Car2 = "car2"
	None = "none"
)

// The values of Verdict.Why: the reasons for no winner.
const (
	TooClose    = "close"        // the scores differ by less than winMargin
	CostUnknown = "cost_unknown" // the drive-away cost of one or both cars is not complete
)

// Pair is the two cars to compare. Condition1 belongs to Car1, Condition2 to
// Car2; a nil Condition means that the car has no readable sheet.
type Pair struct {
	Car1, Car2             vehicle.Estimate
	Condition1, Condition2 *Condition
}

// side is one car of a Pair.
type side struct {
	estimate  vehicle.Estimate
	condition *Condition
}

func (p Pair) sides() [2]side {
	return [2]side{{p.Car1, p.Condition1}, {p.Car2, p.Condition2}}
}

// cost returns the drive-away total in shillings; false when it is not complete.
func (s side) cost() (decimal.Decimal, bool) {
	d := s.estimate.DriveAway
	if d == nil || !d.Complete {
		return decimal.Zero, false
	}
	return d.TotalTZS.Decimal(), true
}

// mileage returns the mileage of the sheet, else that of the listing.
func (s side) mileage() (km int, known bool) {
	switch {
	case s.condition != nil && s.condition.MileageKM != nil:
		return *s.condition.MileageKM, true
	case s.estimate.Car.MileageKM != nil:
		return *s.estimate.Car.MileageKM, true
	}
	return 0, false
}

// hasDoubtfulMileage reports whether the sheet says that the odometer is not
// reliable.
func (s side) hasDoubtfulMileage() bool {
	return s.condition != nil && (s.condition.MileageFlag == "tampered" || s.condition.MileageFlag == "unknown")
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
