package advice

import "ushuru/pkg/vehicle"

// Codes of warnings of an estimate that bear on the choice.
const (
	WarningAgeStep    = "age_step"
	WarningSimulated  = "simulated"
	WarningFirstYear  = "registration_year"
	WarningSold       = "listing_sold"
	WarningPastedPage = "pasted_page"
)

// The points, with their signs: what speaks for a car, and what against it.
const (
	pointCheaper       = "+cheaper"
	pointDearer        = "-dearer"
	pointCostUnknown   = "-cost_unknown"
	pointBetterMark    = "+better_mark"
	pointWorseMark     = "-worse_mark"
	pointNoRepair      = "+no_repair_history"
	pointRepair        = "-repair_history"
	pointNoSheet       = "-no_sheet"
	pointFaults        = "-serious_faults"
	pointMismatches    = "-sheet_mismatches"
	pointLessMileage   = "+less_mileage"
	pointMoreMileage   = "-more_mileage"
	pointDoubtful      = "-mileage_doubtful"
	pointMeterReplaced = "-meter_replaced"
	pointStaysInStep   = "+stays_in_age_step"
	pointCrossesStep   = "-crosses_age_step"
	pointSureMatch     = "+sure_match"
	pointUnsureMatch   = "-unsure_match"
	pointHigherBase    = "-taxed_on_invoice"
)

// notFar is a difference in kilometres that is no point.
const notFar = 5000

// pointsOf says what speaks for and against a car, beside the other.
func pointsOf(s, other side, criteria []vehicle.Criterion, car string) []string {
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

	add(wins(CriterionCost), pointCheaper)
	add(loses(CriterionCost), pointDearer)
	_, known := s.cost()
	add(!known, pointCostUnknown)
	add(known && s.estimate.DriveAway.TaxBase.Basis == vehicle.BasisInvoice, pointHigherBase)

	points = append(points, sheetPoints(s, other)...)

	if compared[CriterionMileage] && !s.doubtful() && !other.doubtful() {
		km, _ := s.mileage()
		others, _ := other.mileage()
		add(others-km >= notFar, pointLessMileage)
		add(km-others >= notFar, pointMoreMileage)
	}
	add(s.doubtful(), pointDoubtful)
	add(s.condition != nil && s.condition.MileageFlag == "replaced", pointMeterReplaced)
	add(wins(CriterionAgeStep), pointStaysInStep)
	add(s.warned(WarningAgeStep), pointCrossesStep)
	add(s.estimate.Matched.Confidence == vehicle.High, pointSureMatch)
	add(s.estimate.Matched.Confidence == vehicle.Low, pointUnsureMatch)
	return points
}

func sheetPoints(s, other side) (points []string) {
	if s.condition == nil {
		return []string{pointNoSheet}
	}
	if other.condition != nil {
		mine, known := gradeScores[s.condition.OverallGrade]
		theirs, alsoKnown := gradeScores[other.condition.OverallGrade]
		switch {
		case !known || !alsoKnown:
		case mine > theirs:
			points = append(points, pointBetterMark)
		case mine < theirs:
			points = append(points, pointWorseMark)
		}
	}
	switch s.condition.Repair {
	case RepairYes:
		points = append(points, pointRepair)
	case RepairNo:
		points = append(points, pointNoRepair)
	}
	if s.condition.High > 0 {
		points = append(points, pointFaults)
	}
	if s.condition.Mismatches > 0 {
		points = append(points, pointMismatches)
	}
	return points
}
