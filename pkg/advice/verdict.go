package advice

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

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
