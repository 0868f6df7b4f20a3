package advice

import (
	_ "embed" // the template
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/condition"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// Write writes a verdict as Markdown by the template: the advice, the points in
// favour of and against each car, what to keep in mind, and the costs line by line.
// It reads well unrendered too. Every figure in it is in the verdict or in the
// estimates. It contains short quotes of listings and sheets, no links, no images and
// no HTML.
func Write(v vehicle.Verdict, p Pair, lang string) string {
	t := &writer{Verdict: v, Cars: []int{1, 2}, sides: p.sides(), lang: lang}
	if a, b := p.Car1.DriveAway, p.Car2.DriveAway; a != nil && b != nil {
		t.Costs = []*vehicle.DriveAway{a, b}
	}
	var out strings.Builder
	if err := recommendation.Execute(&out, t); err != nil {
		panic("advice: recommendation.tmpl: " + err.Error()) // embedded: only a broken build gets here
	}
	return out.String()
}

//go:embed recommendation.tmpl
var recommendationText string

var recommendation = template.Must(template.New("recommendation").Funcs(template.FuncMap{
	"number": number, "shillings": shillings,
}).Parse(recommendationText))

// writer has what the template writes in one language.
type writer struct {
	Verdict vehicle.Verdict
	Cars    []int                // their numbers
	Costs   []*vehicle.DriveAway // of both cars, or none

	sides [2]side
	lang  string
}

// Name returns the name of a car.
func (t *writer) Name(car int) string { return t.sides[car-1].name() }

// Text returns sentences as literal Markdown.
func (t *writer) Text(sentences ...vehicle.Text) string {
	return escape(join(vehicle.Text{}, sentences...).In(t.lang))
}

// Say returns a text of the table with values: their names and texts in turn.
func (t *writer) Say(key string, pairs ...string) string {
	values := message.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return message.Say(key, values).In(t.lang)
}

// point is a line of a car: the key of its heading, and what it says.
type point struct {
	Key       string
	Sentences vehicle.Text
}

// Points returns what speaks for and against a car, and what to ask about it.
func (t *writer) Points(car int) (points []point) {
	s := t.sides[car-1]
	arguments := newArguments(s, t.sides[2-car], &t.Verdict)
	nothing := []vehicle.Text{message.Say("compare/nothing", nil)}
	add := func(key string, list, otherwise []vehicle.Text) {
		if len(list) == 0 {
			list = otherwise
		}
		if len(list) > 0 {
			points = append(points, point{key, join(vehicle.Text{}, list...)})
		}
	}
	add("compare/for", arguments.For, nothing)
	if s.standing() != known {
		nothing = nil
	}
	add("compare/against", arguments.Against, nothing)
	add("compare/ask", s.asks(), nil)
	return points
}

// maxAsks is how many questions stand under a car.
const maxAsks = 3

// asks returns what to ask the seller of a car, the gravest first.
func (s side) asks() (list []vehicle.Text) {
	for _, d := range s.doubts {
		isNew := d.Ask != nil && !slices.Contains(list, *d.Ask)
		if isNew && len(list) < maxAsks && levelOf(d).Rank() >= condition.Doubt.Rank() {
			list = append(list, *d.Ask)
		}
	}
	return list
}

// Mind returns what to keep in mind.
func (t *writer) Mind() (said []string) {
	for _, s := range t.sides {
		for _, code := range []string{warningFirstYear, warningPastedPage} {
			if s.hasWarning(code) {
				said = append(said, t.Say("compare/mind_"+code, "car", number(s.number)))
			}
		}
	}
	if t.sides[0].hasWarning(warningSimulated) || t.sides[1].hasWarning(warningSimulated) {
		said = append(said, t.Say("compare/mind_simulated"))
	}
	return said
}

// Rows returns the lines of both cars, in the order of the first car that has
// them, then the missing lines.
func (t *writer) Rows() (rows []row) {
	add := func(code string, name vehicle.Text) {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Code == code }) {
			rows = append(rows, row{code, name})
		}
	}
	for _, d := range t.Costs {
		for _, line := range d.Lines {
			add(line.Code, line.Name)
		}
	}
	for _, d := range t.Costs {
		for _, missing := range d.Missing {
			add(missing.Code, missing.Name)
		}
	}
	return rows
}

// row is one row of the table of costs.
type row struct {
	Code string
	Name vehicle.Text
}

// Cell returns the amount of a line in whole shillings, with a mark when it is an
// estimate, or says that it is not known.
func (t *writer) Cell(car int, code string) string {
	d := t.Costs[car]
	i := slices.IndexFunc(d.Lines, func(line vehicle.CostLine) bool { return line.Code == code })
	switch {
	case i >= 0 && d.Lines[i].Estimated:
		return "≈ " + shillings(d.Lines[i].AmountTZS)
	case i >= 0:
		return shillings(d.Lines[i].AmountTZS)
	case slices.ContainsFunc(d.Missing, func(m vehicle.Missing) bool { return m.Code == code }):
		return t.Say("word/not_known")
	}
	return "–"
}

// name returns the name that the authority gives the car, with the year of the
// listing, and with the year of the authority when it is another.
func (s side) name() string {
	model, _, _ := strings.Cut(s.estimate.Matched.ModelBody, " - ")
	name := fmt.Sprintf("%s %s %d", s.estimate.Matched.Make, model, s.year())
	if yom := s.estimate.Matched.YOM; yom != s.year() {
		name += fmt.Sprintf(" (TRA: %d)", yom)
	}
	runes := []rune(printable(name))
	return escape(string(runes[:min(len(runes), maxName)]))
}

const maxName = 80

// escape returns a text as literal Markdown that still reads well unrendered: only
// what starts markup, a link or an address gets a backslash.
func escape(text string) string {
	var b strings.Builder
	runes := []rune(text)
	next := func(i int) rune {
		if i+1 < len(runes) {
			return runes[i+1]
		}
		return ' '
	}
	last := ' '
	for i, r := range runes {
		switch {
		case strings.ContainsRune("\\`*_[]<>|~&#$@{}", r),
			r == ':' && next(i) == '/',
			r == '.' && unicode.IsLetter(last) && unicode.IsLetter(next(i)):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// arguments are the points in favour of a car and against it, as texts.
type arguments vehicle.Arguments

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

// minKMDifference is the least difference of mileages that is a point.
const minKMDifference = 5000

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

// The codes of the warnings of an estimate that count in a comparison.
const (
	warningSimulated  = "simulated"
	warningFirstYear  = "registration_year"
	warningSold       = "listing_sold"
	warningPastedPage = "pasted_page"
)

func kilometres(km int) string { return "km " + thousands(decimal.NewFromInt(int64(km))) }

// thousands formats a whole number as 85,000.
func thousands(n decimal.Decimal) string {
	text, _, _ := strings.Cut(money.New(n.Round(0)).String(), ".")
	return text
}

func shillings(amount money.Amount) string { return thousands(amount.Decimal()) }
