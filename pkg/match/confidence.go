package match

import "ushuru/pkg/vehicle"

// Confidence grades a match by three rules (docs/estimate.md, matched):
//  1. high: exact code match with no adjustments;
//  2. medium: exact match with minor adjustments, or fuzzy match with none;
//  3. low: fuzzy match with adjustments, or the model or year was substituted.
//
// Every adjustment of another field than model and yom is minor. A model that
// differs only in form is adjusted as modelBody and is minor too.
func Confidence(matchType vehicle.MatchType, adjustments []vehicle.Adjustment) vehicle.Confidence {
	exact := matchType == vehicle.ExactCode
	for _, a := range adjustments {
		if !exact || a.Field == "model" || a.Field == "yom" {
			return vehicle.Low
		}
	}
	if exact && len(adjustments) == 0 {
		return vehicle.High
	}
	return vehicle.Medium
}

// yearConfidence lowers high to medium when the year of the car is in doubt: it is a
// model year or stands in the title only, or the title names a year two or more years
// away from it.
func yearConfidence(grade vehicle.Confidence, car vehicle.Car) vehicle.Confidence {
	doubtful := car.YearBasis == "model" || car.YearBasis == "title" || car.TitleYear != 0
	if grade == vehicle.High && doubtful {
		return vehicle.Medium
	}
	return grade
}
