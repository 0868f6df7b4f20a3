package advice

import (
	_ "embed" // for scale.csv
	"strconv"

	"ushuru/pkg/datatable"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"

	"github.com/shopspring/decimal"
)

// The codes of the criteria.
const (
	criterionCost       = "drive_away_cost"
	criterionCondition  = "condition"
	criterionMileage    = "mileage"
	criterionYear       = "year"
	criterionAgeStep    = "age_step"
	criterionConfidence = "match_confidence"
)

var hundred = decimal.NewFromInt(100)

// criteria compares two cars.
func criteria(sides [2]side) []vehicle.Criterion {
	return []vehicle.Criterion{
		compareCost(sides),
		compareCondition(sides),
		compareMileage(sides),
		compareYear(sides),
		compareAgeStep(sides),
		compareConfidence(sides),
	}
}

// score is the value of one car in a criterion: of 100, and as callers read it. An
// empty value is not known.
type score struct {
	value string
	of100 int
}

func newCriterion(code string, a, b score, text vehicle.Text) vehicle.Criterion {
	weight := whole("weight_" + code)
	return vehicle.Criterion{
		Code: code, Weight: weight, Car1: a.known(), Car2: b.known(),
		Points1: (weight*a.of100 + 50) / 100, Points2: (weight*b.of100 + 50) / 100, Text: text,
	}
}

func (s score) known() *string {
	if s.value == "" {
		return nil
	}
	return &s.value
}

// compareCost gives both cars all points when their ranges overlap. Otherwise the
// dearer car loses points without an end, by the third power of the ratio: a tenth
// more costs 25 of 100, a third more 58.
func compareCost(sides [2]side) vehicle.Criterion {
	a, knownA := sides[0].cost()
	b, knownB := sides[1].cost()
	first, second := score{}, score{}
	if knownA {
		first.value = a.likely.StringFixed(2)
	}
	if knownB {
		second.value = b.likely.StringFixed(2)
	}
	if !knownA || !knownB {
		return newCriterion(criterionCost, first, second, message.Say("criterion/drive_away_cost.unknown", nil))
	}
	values := message.Values{
		"cost1": a.likely.String(), "low1": a.low.String(), "high1": a.high.String(),
		"cost2": b.likely.String(), "low2": b.low.String(), "high2": b.high.String(),
	}
	first.of100, second.of100 = 100, 100
	key := "criterion/drive_away_cost"
	switch {
	case a.isBelow(b):
		second.of100 = dearerScore(a, b)
	case b.isBelow(a):
		first.of100 = dearerScore(b, a)
	default:
		key += ".equal"
	}
	return newCriterion(criterionCost, first, second, message.Say(key, values))
}

func dearerScore(cheap, dear spread) int {
	ratio := cheap.likely.Div(dear.likely)
	return int(ratio.Mul(ratio).Mul(ratio).Mul(hundred).Round(0).IntPart())
}

func compareCondition(sides [2]side) vehicle.Criterion {
	of := func(i int) score {
		grade, _ := sides[i].condition.grade()
		return score{grade, sides[i].condition.score(sides[i].hasBadCondition())}
	}
	return compared(criterionCondition, of(0), of(1), "no_grade")
}

// compared returns a criterion whose text names both values; absent is the word for
// a value that is not known.
func compared(code string, a, b score, absent string) vehicle.Criterion {
	word := func(s score) string {
		if s.value == "" {
			return absent
		}
		return s.value
	}
	return newCriterion(code, a, b, message.Say("criterion/"+code, message.Values{"value1": word(a), "value2": word(b)}))
}

// compareMileage gives full points only to a mileage that a sheet was read for.
func compareMileage(sides [2]side) vehicle.Criterion {
	of := func(s side) score {
		of := s.mileageScore()
		if unknown := whole("unknown_mileage"); s.hasUnreadMark() && of.of100 > unknown {
			of.of100 = unknown + (of.of100-unknown)/2
		}
		return of
	}
	return compared(criterionMileage, of(sides[0]), of(sides[1]), "not_known")
}

// mileageScore returns the score of the mileage as it is stated.
func (s side) mileageScore() score {
	unknown := whole("unknown_mileage")
	km, known := s.mileage()
	switch {
	case s.hasFalseMileage():
		return score{"", 0}
	case !known:
		return score{"", unknown}
	}
	return score{kilometres(km), max(unknown, 100-(100-unknown)*km/whole("mileage_end"))}
}

func compareYear(sides [2]side) vehicle.Criterion {
	newer := max(sides[0].year(), sides[1].year())
	of := func(s side) score {
		return score{number(s.year()), max(0, 100-(newer-s.year())*whole("points_per_year"))}
	}
	return compared(criterionYear, of(sides[0]), of(sides[1]), "not_known")
}

func compareAgeStep(sides [2]side) vehicle.Criterion {
	of := func(s side) score {
		if s.crossesAgeStep() {
			return score{"may_rise", 0}
		}
		return score{"stays", 100}
	}
	return compared(criterionAgeStep, of(sides[0]), of(sides[1]), "")
}

func compareConfidence(sides [2]side) vehicle.Criterion {
	scores := map[vehicle.Confidence]int{vehicle.High: 100, vehicle.Medium: 75, vehicle.Low: 25}
	of := func(s side) score {
		sure := s.estimate.Matched.Confidence
		return score{string(sure), scores[sure]}
	}
	return compared(criterionConfidence, of(sides[0]), of(sides[1]), "")
}

// number formats a count.
func number(n int) string { return strconv.Itoa(n) }

// scaleTable has the weights and limits of the verdict, each with its reason.
//
//go:embed scale.csv
var scaleTable string

var scale = parseScale(scaleTable)

func parseScale(data string) map[string]decimal.Decimal {
	values := map[string]decimal.Decimal{}
	for _, row := range datatable.Rows(data) {
		values[row[0]] = decimal.RequireFromString(row[1])
	}
	return values
}

// whole returns a whole number of the scale.
func whole(code string) int { return int(scale[code].IntPart()) }
