package advice

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// The codes of the warnings of an estimate that count in a comparison.
const (
	warningSimulated  = "simulated"
	warningFirstYear  = "registration_year"
	warningSold       = "listing_sold"
	warningPastedPage = "pasted_page"
)

// minKMDifference is the least difference of mileages that is a point.
const minKMDifference = 5000

// arguments are the points in favour of a car and against it, as texts.
type arguments vehicle.Arguments

// add adds a point of the table: for/code or against/code.
func (a *arguments) add(when bool, key string, values message.Values) {
	if !when {
		return
	}
	list := &a.For
	if strings.HasPrefix(key, "against/") {
		list = &a.Against
	}
	*list = append(*list, message.Say(key, values))
}

// newArguments returns the points of a car, compared with the other.
func newArguments(s, other side, v *vehicle.Verdict) *vehicle.Arguments {
	a := &arguments{For: []vehicle.Text{}, Against: []vehicle.Text{}}
	for _, d := range s.doubts[:min(len(s.doubts), maxDoubts)] {
		a.Against = append(a.Against, d.Text)
	}
	if v.Cheaper != nil {
		values := message.Values{"tzs": v.DifferenceTZS.Decimal().String(), "usd": v.DifferenceUSD.Decimal().String()}
		a.add(*v.Cheaper == s.number, "for/cheaper", values)
		a.add(*v.Cheaper != s.number, "against/dearer", values)
	}
	_, known := s.cost()
	a.add(!known, "against/cost_unknown", nil)
	a.add(known && s.estimate.DriveAway.TaxBase.Basis == vehicle.BasisInvoice, "against/taxed_on_invoice", nil)
	a.addSheet(s, other)
	a.addMileage(s, other)
	years := message.Values{"year": number(s.year()), "otherYear": number(other.year())}
	a.add(s.year() > other.year(), "for/newer", years)
	a.add(s.year() < other.year(), "against/older", years)
	a.add(!s.crossesAgeStep() && other.crossesAgeStep(), "for/stays_in_age_step", nil)
	a.add(s.crossesAgeStep(), "against/age_step", nil)
	mine, theirs := s.estimate.Matched.Confidence, other.estimate.Matched.Confidence
	a.add(mine == vehicle.High && theirs != vehicle.High, "for/sure_match", nil)
	a.add(mine == vehicle.Low, "against/unsure_match", nil)
	return (*vehicle.Arguments)(a)
}

// maxDoubts is how many doubts are said against a car; the verdict has all.
const maxDoubts = 4

func (a *arguments) addSheet(s, other side) {
	if s.condition == nil || s.standing() == vetoed {
		return // what the doubts say is enough
	}
	mine, known := s.condition.grade()
	theirs, alsoKnown := other.condition.grade()
	grades := message.Values{"grade": mine, "otherGrade": theirs}
	switch {
	case !known:
	case !alsoKnown:
		a.add(true, "for/graded", grades)
	default:
		a.add(gradeScores[mine] > gradeScores[theirs], "for/better_grade", grades)
		a.add(gradeScores[mine] < gradeScores[theirs], "against/worse_grade", grades)
	}
	repaired := slices.ContainsFunc(s.doubts, func(d vehicle.Doubt) bool { return d.Code == "accident" || d.Code == "frame" })
	a.add(s.condition.Repair == sheet.RepairNo && !repaired, "for/no_repair_history", nil)
}

func (a *arguments) addMileage(s, other side) {
	km, known := s.mileage()
	others, alsoKnown := other.mileage()
	if !known {
		a.add(s.standing() != vetoed && !s.hasFalseMileage(), "against/mileage_unknown", nil)
		return
	}
	if !alsoKnown || s.hasFalseMileage() || other.hasFalseMileage() {
		return
	}
	values := message.Values{"km": kilometres(km), "otherKM": kilometres(others)}
	a.add(others-km >= minKMDifference, "for/less_mileage", values)
	a.add(km-others >= minKMDifference, "against/more_mileage", values)
}

func kilometres(km int) string { return "km " + thousands(decimal.NewFromInt(int64(km))) }

// thousands formats a whole number as 85,000.
func thousands(n decimal.Decimal) string {
	text, _, _ := strings.Cut(money.New(n.Round(0)).String(), ".")
	return text
}
