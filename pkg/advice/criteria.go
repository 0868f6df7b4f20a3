package advice

import (
	"cmp"
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
	all := make([]vehicle.Criterion, len(compared)+1)
	all[0] = compareCost(sides)
	for i, c := range compared {
		all[i+1] = c.compare(sides)
	}
	return all
}

// comparison is a criterion whose text names both values.
type comparison struct {
	code, absent string // absent is the word for a value that is not known
	score        func(s, other side) score
}

// compared are the criteria beside the cost.
var compared = []comparison{
	{criterionCondition, "no_grade", func(s, _ side) score {
		grade, _ := s.condition.grade()
		return score{grade, s.condition.score(s.hasBadCondition())}
	}},
	{criterionMileage, "not_known", func(s, _ side) score { // full points only for a mileage that a sheet was read for
		of := s.mileageScore()
		if unknown := whole("unknown_mileage"); s.hasUnreadMark() && of.of100 > unknown {
			of.of100 = unknown + (of.of100-unknown)/2
		}
		return of
	}},
	byYear, byAgeStep,
	{criterionConfidence, "", func(s, _ side) score {
		sure := s.estimate.Matched.Confidence
		return score{string(sure), map[vehicle.Confidence]int{vehicle.High: 100, vehicle.Medium: 75, vehicle.Low: 25}[sure]}
	}},
}

var (
	byYear = comparison{criterionYear, "not_known", func(s, other side) score {
		behind := max(0, other.year()-s.year())
		return score{number(s.year()), max(0, 100-behind*whole("points_per_year"))}
	}}
	byAgeStep = comparison{criterionAgeStep, "", func(s, _ side) score {
		if s.crossesAgeStep() {
			return score{"may_rise", 0}
		}
		return score{"stays", 100}
	}}
	// byStatedMileage takes a mileage as it is stated.
	byStatedMileage = comparison{criterionMileage, "not_known", func(s, _ side) score { return s.mileageScore() }}
)

func (c comparison) compare(sides [2]side) vehicle.Criterion {
	a, b := c.score(sides[0], sides[1]), c.score(sides[1], sides[0])
	text := message.Say("criterion/"+c.code, message.Values{
		"value1": cmp.Or(a.value, c.absent), "value2": cmp.Or(b.value, c.absent),
	})
	return newCriterion(c.code, a, b, text)
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
