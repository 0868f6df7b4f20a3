package advice

import (
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Margin is by how many points of 100 a car must lead to win.
const Margin = 5

// The weights, of 100. Cost leads because it is what the buyer asked; the rest
// is what makes a cheap car dear.
const (
	weightCost       = 45
	weightCondition  = 25
	weightMileage    = 10
	weightAgeStep    = 10
	weightConfidence = 10
)

// The codes of the criteria.
const (
	CriterionCost       = "drive_away_cost"
	CriterionCondition  = "condition"
	CriterionMileage    = "mileage"
	CriterionAgeStep    = "age_step"
	CriterionConfidence = "match_confidence"
)

// dearIsZero is how much dearer a car must be, as a share of the cheaper one,
// to score nothing for cost.
var dearIsZero = decimal.RequireFromString("0.30")

// farIsZero is the mileage that scores nothing.
const farIsZero = 200_000

// Judge compares two cars. It is pure: equal cars and sheets give an equal
// verdict. A criterion counts only when it is known of both cars, and without
// both drive-away costs there is no winner.
func Judge(p Pair) vehicle.Verdict {
	sides := p.sides()
	verdict := vehicle.Verdict{
		Winner: None,
		Criteria: []vehicle.Criterion{
			compareCost(sides), compareCondition(sides), compareMileage(sides), compareAgeStep(sides), compareConfidence(sides),
		},
		Cheaper: None,
	}
	var weights, total1, total2 int
	for _, c := range verdict.Criteria {
		if c.Compared {
			weights += c.Weight
			total1 += c.Weight * c.Score1
			total2 += c.Weight * c.Score2
		}
	}
	if weights > 0 {
		verdict.Score1, verdict.Score2 = (total1+weights/2)/weights, (total2+weights/2)/weights
	}
	cost := verdict.Criteria[0]
	switch lead := verdict.Score1 - verdict.Score2; {
	case !cost.Compared:
		verdict.Why = CostUnknown
	case lead >= Margin:
		verdict.Winner = Car1
	case lead <= -Margin:
		verdict.Winner = Car2
	default:
		verdict.Why = Close
	}
	if cost.Compared {
		verdict.Cheaper = cost.Better
		verdict.DifferenceUSD = difference(p.Car1.DriveAway.TotalUSD, p.Car2.DriveAway.TotalUSD)
		verdict.DifferenceTZS = difference(p.Car1.DriveAway.TotalTZS, p.Car2.DriveAway.TotalTZS)
	}
	verdict.Points1 = pointsOf(sides[0], sides[1], verdict.Criteria, Car1)
	verdict.Points2 = pointsOf(sides[1], sides[0], verdict.Criteria, Car2)
	return verdict
}

func difference(a, b money.Amount) *money.Amount {
	d := money.New(a.Decimal().Sub(b.Decimal()).Abs())
	return &d
}

func compareCost(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: CriterionCost, Weight: weightCost, Better: None}
	a, knownA := sides[0].cost()
	b, knownB := sides[1].cost()
	c.Value1, c.Value2 = shillings(a, knownA), shillings(b, knownB)
	if !knownA || !knownB {
		return c
	}
	c.Compared = true
	cheaper := decimal.Min(a, b)
	c.Score1, c.Score2 = costScore(a, cheaper), costScore(b, cheaper)
	c.Better = less(a.Cmp(b))
	return c
}

func shillings(amount decimal.Decimal, known bool) string {
	if !known {
		return ""
	}
	return "TSh " + money.New(amount).String()
}

// costScore is 100 for the cheaper car and falls to 0 at dearIsZero above it.
func costScore(cost, cheaper decimal.Decimal) int {
	if !cheaper.IsPositive() {
		return 100
	}
	over := cost.Sub(cheaper).Div(cheaper).Div(dearIsZero)
	return clamp(int(decimal.NewFromInt(1).Sub(over).Mul(decimal.NewFromInt(100)).Round(0).IntPart()))
}

// gradeScores rank the overall marks of a sheet. The marks of repaired cars
// and of cars that are sold ungraded say little of the rest, and rank low.
var gradeScores = map[string]int{
	"S": 100, "9": 100, "8": 100, "7": 100, "6": 95, "5": 90, "4.5": 80, "4": 70, "3.5": 55, "3": 40, "2": 20, "1": 5,
	"R": 15, "R1": 15, "R2": 15, "RA": 15, "RB": 15, "RC": 15, "A": 15, "0": 15,
	"***": 0, "**": 0, "*": 0, "無効": 0,
}

// What takes points from the mark.
const (
	repairedAtMost    = 15
	perHigh           = 8
	perMedium         = 3
	perLow            = 1
	perMismatch       = 20
	perLetterBelowC   = 5
	defectsTakeAtMost = 40
)

func compareCondition(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: CriterionCondition, Weight: weightCondition, Better: None}
	score1, known1 := conditionScore(sides[0].condition)
	score2, known2 := conditionScore(sides[1].condition)
	if sides[0].condition != nil {
		c.Value1 = sides[0].condition.OverallGrade
	}
	if sides[1].condition != nil {
		c.Value2 = sides[1].condition.OverallGrade
	}
	if known1 && known2 {
		c.Compared, c.Score1, c.Score2 = true, score1, score2
		c.Better = less(score2 - score1)
	}
	return c
}

// conditionScore is 0 to 100; false when there is no sheet or its mark says
// nothing (a dash, X, or unreadable).
func conditionScore(c *Condition) (score int, known bool) {
	if c == nil {
		return 0, false
	}
	score, known = gradeScores[c.OverallGrade]
	if !known {
		return 0, false
	}
	if c.Repair == RepairYes {
		score = min(score, repairedAtMost)
	}
	for _, letter := range []string{c.Exterior, c.Interior} {
		if letter == "D" || letter == "E" {
			score -= perLetterBelowC
		}
	}
	score -= min(defectsTakeAtMost, c.High*perHigh+c.Medium*perMedium+c.Low*perLow)
	return clamp(score - c.Mismatches*perMismatch), true
}

func compareMileage(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: CriterionMileage, Weight: weightMileage, Better: None}
	km1, known1 := sides[0].mileage()
	km2, known2 := sides[1].mileage()
	c.Value1, c.Value2 = kilometres(km1, known1), kilometres(km2, known2)
	if !known1 || !known2 {
		return c
	}
	c.Compared = true
	c.Score1, c.Score2 = mileageScore(km1, sides[0]), mileageScore(km2, sides[1])
	c.Better = less(c.Score2 - c.Score1)
	return c
}

// mileageScore is nothing for an odometer that the sheet calls doubtful.
func mileageScore(km int, s side) int {
	if s.doubtful() {
		return 0
	}
	return clamp(100 - km*100/farIsZero)
}

func kilometres(km int, known bool) string {
	if !known {
		return ""
	}
	return thousands(km) + " km"
}

// thousands writes 85000 as 85,000.
func thousands(n int) string {
	whole, _, _ := strings.Cut(money.New(decimal.NewFromInt(int64(n))).String(), ".")
	return whole
}

func compareAgeStep(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: CriterionAgeStep, Weight: weightAgeStep, Compared: true, Better: None}
	c.Score1, c.Value1 = ageStepScore(sides[0])
	c.Score2, c.Value2 = ageStepScore(sides[1])
	c.Better = less(c.Score2 - c.Score1)
	return c
}

// ageStepScore: a car whose tax jumps if it lands next year is a risk.
func ageStepScore(s side) (int, string) {
	if s.warned(WarningAgeStep) {
		return 0, "crosses"
	}
	return 100, "stays"
}

var confidenceScores = map[vehicle.Confidence]int{vehicle.High: 100, vehicle.Medium: 75, vehicle.Low: 25}

func compareConfidence(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: CriterionConfidence, Weight: weightConfidence, Compared: true, Better: None}
	of := func(s side) (int, string) {
		confidence := s.estimate.Matched.Confidence
		return confidenceScores[confidence], string(confidence)
	}
	c.Score1, c.Value1 = of(sides[0])
	c.Score2, c.Value2 = of(sides[1])
	c.Better = less(c.Score2 - c.Score1)
	return c
}

// less names the car that is better when the sign says that the first is less.
func less(sign int) string {
	switch {
	case sign < 0:
		return Car1
	case sign > 0:
		return Car2
	}
	return None
}

func clamp(score int) int { return min(100, max(0, score)) }

// number is a small count in digits.
func number(n int) string { return strconv.Itoa(n) }
