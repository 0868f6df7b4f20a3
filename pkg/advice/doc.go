// Package advice compares two cars for a buyer: which is the better buy by
// fixed weights over figures (Judge), and a recommendation that words it, by a
// template (Write) or by a language model whose every number is checked
// (Writer). No text of a listing or a sheet comes into it: cars are named as
// the authority names them.
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

// The winners, and the better of two in one criterion.
const (
	Car1 = "car1"
	Car2 = "car2"
	None = "none"
)

// Why there is no winner.
const (
	Close       = "close"        // the scores are within Margin
	CostUnknown = "cost_unknown" // the drive-away cost of one or both is not complete
)

// Condition is what the inspection sheet of a car says, as far as it bears on
// the choice. A nil *Condition is a car without a sheet that could be read.
type Condition struct {
	OverallGrade string `json:"overall_grade"` // as printed: 4.5, RA; empty when it could not be read
	Exterior     string `json:"exterior"`      // A to E, or empty
	Interior     string `json:"interior"`
	Repair       string `json:"repair"` // yes, no or not_stated
	MileageKM    *int   `json:"mileage_km"`
	MileageFlag  string `json:"mileage_flag"` // none, replaced, tampered or unknown; empty when it could not be read
	High         int    `json:"high"`         // defects noted, by weight
	Medium       int    `json:"medium"`
	Low          int    `json:"low"`
	RedFlags     int    `json:"red_flags"`
	Mismatches   int    `json:"mismatches"` // fields in which the sheet is not the listing's car
	Confidence   string `json:"confidence"`
}

// Repair states of a Condition.
const (
	RepairYes       = "yes"
	RepairNo        = "no"
	RepairNotStated = "not_stated"
)

// Pair is what is compared. Condition2 belongs to Car2.
type Pair struct {
	Car1, Car2             vehicle.Estimate
	Condition1, Condition2 *Condition
}

// side is one of the two.
type side struct {
	estimate  vehicle.Estimate
	condition *Condition
}

func (p Pair) sides() [2]side {
	return [2]side{{p.Car1, p.Condition1}, {p.Car2, p.Condition2}}
}

// cost is the drive-away total in shillings, false when it is not complete.
func (s side) cost() (decimal.Decimal, bool) {
	d := s.estimate.DriveAway
	if d == nil || !d.Complete {
		return decimal.Zero, false
	}
	return d.TotalTZS.Decimal(), true
}

// mileage is the sheet's reading, or else the listing's.
func (s side) mileage() (km int, known bool) {
	switch {
	case s.condition != nil && s.condition.MileageKM != nil:
		return *s.condition.MileageKM, true
	case s.estimate.Car.MileageKM != nil:
		return *s.estimate.Car.MileageKM, true
	}
	return 0, false
}

// doubtful reports whether the sheet says that the odometer does not tell how
// far the car went.
func (s side) doubtful() bool {
	return s.condition != nil && (s.condition.MileageFlag == "tampered" || s.condition.MileageFlag == "unknown")
}

// warned reports whether an estimate carries a warning.
func (s side) warned(code string) bool {
	for _, warning := range s.estimate.Warnings {
		if warning.Code == code {
			return true
		}
	}
	return false
}
