package advice

import (
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// winMargin is the minimum lead of the winner in points of 100.
const winMargin = 5

// The weights, of 100. Cost has the most because the buyer asks for it; the others
// are what makes a cheap car expensive later.
const (
	weightCost       = 45
	weightCondition  = 25
	weightMileage    = 10
	weightAgeStep    = 10
	weightConfidence = 10
)

// The codes of the criteria.
const (
	criterionCost       = "drive_away_cost"
	criterionCondition  = "condition"
	criterionMileage    = "mileage"
	criterionAgeStep    = "age_step"
	criterionConfidence = "match_confidence"
)

// zeroScoreCostRatio is how much more a car must cost, as a fraction of the cheaper
// car, to score 0 for cost.
var zeroScoreCostRatio = decimal.RequireFromString("0.30")

// zeroScoreKM is the mileage that scores 0.
const zeroScoreKM = 200_000

// Judge compares two cars. It is pure: equal cars and sheets give equal verdicts. A
// criterion counts only when it is known for both cars. Without both drive-away
// costs there is no winner.
func Judge(p Pair) vehicle.Verdict {
	sides := p.sides()
	verdict := vehicle.Verdict{
		Winner: None,
		Criteria: []vehicle.Criterion{
			compareCost(sides),
			compare(criterionCondition, weightCondition, sides, condition),
			compare(criterionMileage, weightMileage, sides, mileage),
			compare(criterionAgeStep, weightAgeStep, sides, ageStep),
			compare(criterionConfidence, weightConfidence, sides, confidence),
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
	case lead >= winMargin:
		verdict.Winner = Car1
	case lead <= -winMargin:
		verdict.Winner = Car2
	default:
		verdict.Why = TooClose
	}
	if cost.Compared {
		verdict.Cheaper = cost.Better
		verdict.DifferenceUSD = difference(p.Car1.DriveAway.TotalUSD, p.Car2.DriveAway.TotalUSD)
		verdict.DifferenceTZS = difference(p.Car1.DriveAway.TotalTZS, p.Car2.DriveAway.TotalTZS)
	}
	verdict.Points1 = argumentsFor(sides[0], sides[1], verdict.Criteria, Car1)
	verdict.Points2 = argumentsFor(sides[1], sides[0], verdict.Criteria, Car2)
	return verdict
}

func difference(a, b money.Amount) *money.Amount {
	d := money.New(a.Decimal().Sub(b.Decimal()).Abs())
	return &d
}

func compareCost(sides [2]side) vehicle.Criterion {
	c := vehicle.Criterion{Code: criterionCost, Weight: weightCost, Better: None}
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

// costScore is 100 for the cheaper car and falls to 0 at zeroScoreCostRatio above it.
func costScore(cost, cheaper decimal.Decimal) int {
	if !cheaper.IsPositive() {
		return 100
	}
	over := cost.Sub(cheaper).Div(cheaper).Div(zeroScoreCostRatio)
	return clamp(int(decimal.NewFromInt(1).Sub(over).Mul(decimal.NewFromInt(100)).Round(0).IntPart()))
}

// gradeScores are the scores of the overall grades of a sheet. The grades of
// repaired and ungraded cars say little about the rest, and score low.
var gradeScores = map[string]int{
	"S": 100, "9": 100, "8": 100, "7": 100, "6": 95, "5": 90, "4.5": 80, "4": 70, "3.5": 55, "3": 40, "2": 20, "1": 5,
	"R": 15, "R1": 15, "R2": 15, "RA": 15, "RB": 15, "RC": 15, "A": 15, "0": 15,
	"***": 0, "**": 0, "*": 0, "無効": 0,
}

// The limits and penalties of conditionScore.
const (
	maxRepairedScore = 15
	perHigh          = 8
	perMedium        = 3
	perLow           = 1
	perMismatch      = 20
	perLetterBelowC  = 5
	maxDefectPenalty = 40
)

// aspect is the score of one car in a criterion.
type aspect struct {
	value string
	score int
	known bool
}

// compare compares one aspect of two cars.
func compare(code string, weight int, sides [2]side, of func(side) aspect) vehicle.Criterion {
	a, b := of(sides[0]), of(sides[1])
	c := vehicle.Criterion{Code: code, Weight: weight, Value1: a.value, Value2: b.value, Better: None}
	if a.known && b.known {
		c.Compared, c.Score1, c.Score2 = true, a.score, b.score
		c.Better = less(b.score - a.score)
	}
	return c
}

func condition(s side) aspect {
	if s.condition == nil {
		return aspect{}
	}
	score, known := conditionScore(s.condition)
	return aspect{s.condition.OverallGrade, score, known}
}

// conditionScore returns 0 to 100; false when the grade says nothing (a dash, X, or
// unreadable).
func conditionScore(c *Condition) (score int, known bool) {
	score, known = gradeScores[c.OverallGrade]
	if !known {
		return 0, false
	}
	if c.Repair == RepairYes {
		score = min(score, maxRepairedScore)
	}
	for _, letter := range []string{c.Exterior, c.Interior} {
		if letter == "D" || letter == "E" {
			score -= perLetterBelowC
		}
	}
	score -= min(maxDefectPenalty, c.High*perHigh+c.Medium*perMedium+c.Low*perLow)
	return clamp(score - c.Mismatches*perMismatch), true
}

// mileage scores nothing for an odometer that the sheet calls hasDoubtfulMileage.
func mileage(s side) aspect {
	km, known := s.mileage()
	score := clamp(100 - km*100/zeroScoreKM)
	if s.hasDoubtfulMileage() {
		score = 0
	}
	return aspect{kilometres(km, known), score, known}
}

func kilometres(km int, known bool) string {
	if !known {
		return ""
	}
	return thousands(km) + " km"
}

// thousands formats 85000 as 85,000.
func thousands(n int) string {
	whole, _, _ := strings.Cut(money.New(decimal.NewFromInt(int64(n))).String(), ".")
	return whole
}

// ageStep scores 0 for a car whose tax rises if it lands next year.
func ageStep(s side) aspect {
	if s.hasWarning(warningAgeStep) {
		return aspect{"crosses", 0, true}
	}
	return aspect{"stays", 100, true}
}

var confidenceScores = map[vehicle.Confidence]int{vehicle.High: 100, vehicle.Medium: 75, vehicle.Low: 25}

func confidence(s side) aspect {
	sure := s.estimate.Matched.Confidence
	return aspect{string(sure), confidenceScores[sure], true}
}

// less returns the car with the lesser value; the sign compares the first with the
// second.
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

// number formats a count.
func number(n int) string { return strconv.Itoa(n) }
