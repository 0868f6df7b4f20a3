package advice

import "ushuru/pkg/vehicle"

// The codes of the warnings of an estimate that count in a comparison.
const (
	warningAgeStep    = "age_step"
	warningSimulated  = "simulated"
	warningFirstYear  = "registration_year"
	warningSold       = "listing_sold"
	warningPastedPage = "pasted_page"
)

// The codes of the points in favour of a car (+) and against it (-).
const (
	argCheaper       = "+cheaper"
	argDearer        = "-dearer"
	argCostUnknown   = "-cost_unknown"
	argBetterMark    = "+better_mark"
	argWorseMark     = "-worse_mark"
	argNoRepair      = "+no_repair_history"
	argRepair        = "-repair_history"
	argNoSheet       = "-no_sheet"
	argFaults        = "-serious_faults"
	argMismatches    = "-sheet_mismatches"
	argLessMileage   = "+less_mileage"
	argMoreMileage   = "-more_mileage"
	argDoubtful      = "-mileage_doubtful"
	argMeterReplaced = "-meter_replaced"
	argStaysInStep   = "+stays_in_age_step"
	argCrossesStep   = "-crosses_age_step"
	argSureMatch     = "+sure_match"
	argUnsureMatch   = "-unsure_match"
	argHigherBase    = "-taxed_on_invoice"
)

// minKMDifference is the minimum difference of mileages that is a point.
const minKMDifference = 5000

// argumentsFor returns the points in favour of and against a car, compared with the
// other.
func argumentsFor(s, other side, criteria []vehicle.Criterion, car string) []string {
	points := []string{}
	add := func(when bool, code string) {
		if when {
			points = append(points, code)
		}
	}
	better := map[string]string{}
	compared := map[string]bool{}
	for _, c := range criteria {
		better[c.Code], compared[c.Code] = c.Better, c.Compared
	}
	wins := func(code string) bool { return better[code] == car }
	loses := func(code string) bool { return better[code] != car && better[code] != None }

	add(wins(criterionCost), argCheaper)
	add(loses(criterionCost), argDearer)
	_, known := s.cost()
	add(!known, argCostUnknown)
	add(known && s.estimate.DriveAway.TaxBase.Basis == vehicle.BasisInvoice, argHigherBase)

	points = append(points, sheetArguments(s, other)...)

	if compared[criterionMileage] && !s.hasDoubtfulMileage() && !other.hasDoubtfulMileage() {
		km, _ := s.mileage()
		others, _ := other.mileage()
		add(others-km >= minKMDifference, argLessMileage)
		add(km-others >= minKMDifference, argMoreMileage)
	}
	add(s.hasDoubtfulMileage(), argDoubtful)
	add(s.condition != nil && s.condition.MileageFlag == "replaced", argMeterReplaced)
	add(wins(criterionAgeStep), argStaysInStep)
	add(s.hasWarning(warningAgeStep), argCrossesStep)
	add(s.estimate.Matched.Confidence == vehicle.High, argSureMatch)
	add(s.estimate.Matched.Confidence == vehicle.Low, argUnsureMatch)
	return points
}

func sheetArguments(s, other side) (points []string) {
	if s.condition == nil {
		return []string{argNoSheet}
	}
	if other.condition != nil {
		mine, known := gradeScores[s.condition.OverallGrade]
		theirs, alsoKnown := gradeScores[other.condition.OverallGrade]
		switch {
		case !known || !alsoKnown:
		case mine > theirs:
			points = append(points, argBetterMark)
		case mine < theirs:
			points = append(points, argWorseMark)
		}
	}
	switch s.condition.Repair {
	case RepairYes:
		points = append(points, argRepair)
	case RepairNo:
		points = append(points, argNoRepair)
	}
	if s.condition.High > 0 {
		points = append(points, argFaults)
	}
	if s.condition.Mismatches > 0 {
		points = append(points, argMismatches)
	}
	return points
}
