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
// car with a veto never wins. Without both costs on the road, between cars of
// different classes and for one car at two addresses there is no winner.
func Judge(p Pair) vehicle.Verdict {
	sides := p.sides()
	var vetoes [2][]vehicle.Veto
	var vetoed [2]bool
	for i, s := range sides {
		vetoes[i] = s.vetoes()
		vetoed[i] = len(s.condition.vetoes()) > 0
	}
	v := vehicle.Verdict{Vetoes: append(append([]vehicle.Veto{}, vetoes[0]...), vetoes[1]...), Criteria: criteria(sides, vetoed)}
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
	v.Winner, v.Reason = decide(sides, &v, [2]bool{len(vetoes[0]) > 0, len(vetoes[1]) > 0})
	v.Text = reasonText(sides, &v)
	v.Arguments1, v.Arguments2 = newArguments(sides[0], sides[1], &v), newArguments(sides[1], sides[0], &v)
	return v
}

// decide returns the winner and why it is the winner, or why there is none.
func decide(sides [2]side, v *vehicle.Verdict, vetoed [2]bool) (*int, vehicle.Reason) {
	lead, margin := v.Points1-v.Points2, whole("margin")
	switch {
	case areSameCar(sides[0].estimate.Car, sides[1].estimate.Car):
		return nil, vehicle.SameCar
	case vetoed[0] && vetoed[1]:
		return nil, vehicle.BothVetoed
	case v.DifferenceTZS == nil:
		return nil, vehicle.CostUnknown
	case areDifferentClasses(sides):
		return nil, vehicle.DifferentClass
	case vetoed[0]:
		return new(2), vehicle.OtherVetoed
	case vetoed[1]:
		return new(1), vehicle.OtherVetoed
	case lead >= margin:
		return new(1), vehicle.BetterBuy
	case lead <= -margin:
		return new(2), vehicle.BetterBuy
	}
	return nil, vehicle.TooClose
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
	case vehicle.SameCar, vehicle.BothVetoed, vehicle.CostUnknown:
	}
	text := message.Say(key, values)
	for _, s := range slices.Backward(sides[:]) {
		i := slices.IndexFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == s.number })
		if i < 0 {
			continue
		}
		why := map[string]vehicle.Text{"why": v.Vetoes[i].Text} // the gravest
		said := message.SayWith("verdict/vetoed", message.Values{"car": number(s.number)}, why)
		text = vehicle.Text{EN: said.EN + " " + text.EN, SW: said.SW + " " + text.SW, Draft: said.Draft || text.Draft}
	}
	return text
}
