// Package advice compares two cars for a buyer. Doubts lists what is grave or not
// certain about a car. Judge finds the better buy: what forbids a car first, then what
// must be asked first, then fixed weights over figures. Write puts the verdict into
// our own closed sentences: of a listing or a sheet they hold short quotes alone, and
// cars have the names that the authority gives them.
package advice

import (
	"cmp"
	_ "embed" // for scale.csv
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/condition"
	"ushuru/pkg/datatable"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
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

// Judge compares two cars. It is pure: equal cars and sheets give equal verdicts. A
// car with a veto never wins, nor does one whose condition is not known. Without both
// costs on the road, between cars of different classes and for one car at two
// addresses there is no winner.
func Judge(p Pair) vehicle.Verdict {
	sides := p.sides()
	v := vehicle.Verdict{
		Vetoes: []vehicle.Veto{}, Doubts: slices.Concat(sides[0].doubts, sides[1].doubts), Criteria: criteria(sides),
	}
	slices.SortStableFunc(v.Doubts, func(a, b vehicle.Doubt) int { return levelOf(b).Rank() - levelOf(a).Rank() })
	for _, d := range slices.Concat(sides[0].doubts, sides[1].doubts) {
		if isVeto(d) {
			v.Vetoes = append(v.Vetoes, vehicle.Veto{Car: d.Car, Code: d.Code, Text: d.Text})
		}
	}
	for _, c := range v.Criteria {
		v.Points1 += c.Points1
		v.Points2 += c.Points2
	}
	a, knownA := sides[0].cost()
	b, knownB := sides[1].cost()
	if knownA && knownB {
		v.DifferenceUSD = difference(p.Car1.DriveAway.TotalUSD, p.Car2.DriveAway.TotalUSD)
		v.DifferenceTZS = difference(p.Car1.DriveAway.TotalTZS, p.Car2.DriveAway.TotalTZS)
		switch {
		case a.isBelow(b):
			v.Cheaper = new(1)
		case b.isBelow(a):
			v.Cheaper = new(2)
		}
	}
	v.Winner, v.Reason = decide(sides, &v)
	v.OnFigures = onFigures(sides, &v)
	v.Text = reasonText(sides, &v)
	v.Arguments1, v.Arguments2 = newArguments(sides[0], sides[1], &v), newArguments(sides[1], sides[0], &v)
	return v
}

// decide returns the winner and why it is the winner, or why there is none.
func decide(sides [2]side, v *vehicle.Verdict) (*int, vehicle.Reason) {
	standings := [2]standing{sides[0].standing(), sides[1].standing()}
	switch {
	case areSameCar(sides[0].estimate.Car, sides[1].estimate.Car):
		return nil, vehicle.SameCar
	case standings == [2]standing{vetoed, vetoed}:
		return nil, vehicle.BothVetoed
	case v.DifferenceTZS == nil:
		return nil, vehicle.CostUnknown
	case areDifferentClasses(sides):
		return nil, vehicle.DifferentClass
	case standings[0] == vetoed || standings[1] == vetoed:
		other := 2
		if standings[1] == vetoed {
			other = 1
		}
		if standings[other-1] == known {
			return &other, vehicle.OtherVetoed
		}
		return nil, vehicle.AskFirst
	}
	leader := ahead(v.Points1, v.Points2)
	switch {
	case leader == nil && standings == [2]standing{known, known}:
		return nil, vehicle.TooClose
	case leader != nil && standings[*leader-1] == known:
		return leader, vehicle.BetterBuy
	}
	return nil, vehicle.AskFirst
}

// ahead returns the car that leads by the margin; nil when neither does.
func ahead(points1, points2 int) *int {
	switch lead, margin := points1-points2, whole("margin"); {
	case lead >= margin:
		return new(1)
	case lead <= -margin:
		return new(2)
	}
	return nil
}

// onFigures returns the car that is ahead on cost, tax, age and kilometres alone; nil for
// a car that is disqualified, and where the cars cannot be compared.
func onFigures(sides [2]side, v *vehicle.Verdict) *int {
	if v.Reason == vehicle.SameCar || v.Reason == vehicle.CostUnknown || v.DifferenceTZS == nil || areDifferentClasses(sides) {
		return nil
	}
	points1, points2 := 0, 0
	for _, c := range []vehicle.Criterion{
		compareCost(sides), byYear.compare(sides), byAgeStep.compare(sides), byStatedMileage.compare(sides),
	} {
		points1, points2 = points1+c.Points1, points2+c.Points2
	}
	leader := ahead(points1, points2)
	if leader == nil || sides[*leader-1].standing() == vetoed {
		return nil
	}
	return leader
}

// areDifferentClasses reports whether one car costs so many times as much as the
// other that no buyer chooses between the two. Both costs are known.
func areDifferentClasses(sides [2]side) bool {
	a, _ := sides[0].cost()
	b, _ := sides[1].cost()
	return decimal.Max(a.likely, b.likely).GreaterThan(decimal.Min(a.likely, b.likely).Mul(scale["class_ratio"]))
}

// areSameCar reports whether two listings show one car: by its frame number, by its
// stock number, or by make, model, code, year and mileage.
func areSameCar(a, b vehicle.Car) bool {
	switch {
	case isWholeFrame(a.FrameNumber) && isWholeFrame(b.FrameNumber):
		return strings.EqualFold(a.FrameNumber, b.FrameNumber)
	case a.Make != b.Make || a.Make == "":
		return false
	case len(a.StockNo) >= minStockNo && strings.EqualFold(a.StockNo, b.StockNo):
		return true
	}
	return isIdentified(a) && isIdentified(b) &&
		a.Model == b.Model && a.ModelCode == b.ModelCode && a.Year == b.Year && *a.MileageKM == *b.MileageKM
}

// minStockNo is the length of the shortest stock number that identifies a car.
const minStockNo = 4

// isWholeFrame reports whether a frame number is complete and not masked.
func isWholeFrame(frame string) bool { return len(frame) > 8 && !strings.ContainsAny(frame, "*xX?#") }

// isIdentified reports whether code, year and mileage of a car are known.
func isIdentified(c vehicle.Car) bool {
	return c.ModelCode != "" && c.Year > 0 && c.MileageKM != nil && *c.MileageKM > 0
}

func difference(a, b money.Amount) *money.Amount {
	d := money.New(a.Decimal().Sub(b.Decimal()).Abs())
	return &d
}

// reasonText returns the reason in a sentence, after the gravest veto of each car.
func reasonText(sides [2]side, v *vehicle.Verdict) vehicle.Text {
	key, values := "verdict/"+string(v.Reason), message.Values{
		"points1": number(v.Points1), "points2": number(v.Points2), "margin": number(whole("margin")),
	}
	switch v.Reason {
	case vehicle.BetterBuy:
		values["winner"] = number(*v.Winner)
	case vehicle.TooClose:
		if v.Cheaper == nil {
			key += ".equal_cost"
		}
	case vehicle.DifferentClass:
		cheap, dear := sides[0], sides[1]
		a, _ := cheap.cost()
		b, _ := dear.cost()
		if a.likely.GreaterThan(b.likely) {
			cheap, dear, a, b = dear, cheap, b, a
		}
		values["cheap"], values["dear"] = number(cheap.number), number(dear.number)
		values["times"] = b.likely.Div(a.likely).Round(1).String()
	case vehicle.OtherVetoed:
		values["winner"] = number(*v.Winner)
		if v.Cheaper != nil && *v.Cheaper != *v.Winner {
			key += ".dearer"
		}
	case vehicle.AskFirst:
		return join(vetoText(sides, v), append(askText(sides), figuresText(v))...)
	case vehicle.SameCar, vehicle.BothVetoed, vehicle.CostUnknown:
	}
	return join(vetoText(sides, v), message.Say(key, values))
}

// vetoText says of each disqualified car why it is not our advice.
func vetoText(sides [2]side, v *vehicle.Verdict) (all vehicle.Text) {
	for _, s := range sides {
		i := slices.IndexFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == s.number })
		if i < 0 {
			continue
		}
		why := map[string]vehicle.Text{"why": v.Vetoes[i].Text} // the gravest
		all = join(all, message.SayWith("verdict/vetoed", message.Values{"car": number(s.number)}, why))
	}
	return all
}

// askText says whose condition is not known, and what is not known of it.
func askText(sides [2]side) (list []vehicle.Text) {
	areInDoubt := sides[0].standing() == inDoubt && sides[1].standing() == inDoubt
	if areInDoubt && sides[0].condition == nil && sides[1].condition == nil {
		return []vehicle.Text{message.Say("verdict/nobody_has_seen", nil)}
	}
	for _, s := range sides {
		if s.standing() != inDoubt {
			continue
		}
		why := map[string]vehicle.Text{"why": s.doubts[0].Text}
		list = append(list, message.SayWith("verdict/ask_first", message.Values{"car": number(s.number)}, why))
	}
	return list
}

// figuresText says which car is better on the figures alone.
func figuresText(v *vehicle.Verdict) vehicle.Text {
	if v.OnFigures == nil {
		return message.Say("verdict/on_figures.neither", nil)
	}
	return message.Say("verdict/on_figures", message.Values{"car": number(*v.OnFigures)})
}

// join returns sentences as one text.
func join(first vehicle.Text, more ...vehicle.Text) vehicle.Text {
	for _, next := range more {
		first = first.Join(" ", next)
	}
	return first
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

// The codes of the criteria.
const (
	criterionCost       = "drive_away_cost"
	criterionCondition  = "condition"
	criterionMileage    = "mileage"
	criterionYear       = "year"
	criterionAgeStep    = "age_step"
	criterionConfidence = "match_confidence"
)

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

func (s score) known() *string {
	if s.value == "" {
		return nil
	}
	return &s.value
}

func newCriterion(code string, a, b score, text vehicle.Text) vehicle.Criterion {
	weight := whole("weight_" + code)
	return vehicle.Criterion{
		Code: code, Weight: weight, Car1: a.known(), Car2: b.known(),
		Points1: (weight*a.of100 + 50) / 100, Points2: (weight*b.of100 + 50) / 100, Text: text,
	}
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

var hundred = decimal.NewFromInt(100)

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

// number formats a count.
func number(n int) string { return strconv.Itoa(n) }
