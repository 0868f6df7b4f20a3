package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/api/web/figures"
	"ushuru/api/web/frame"
	"ushuru/pkg/advice"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// comparison is the page of two cars.
type comparison struct {
	made

	Heading, Why message.Text
	Cost         message.Text // which is cheaper; empty when a cost is not known
	Rests        message.Text // the part of the cost that differs most; empty when one is not known
	Bases        bool         // one price has the freight in it, and the other has not
	Terms        bool         // the answers are on other rates, for other months or of other days
	Cars         []compared
	Criteria     []criterion
	Rates        *vehicle.ExchangeRates // where they are those of both
	Names        string                 // of both cars
	Change       string                 // address of the form with both cars
}

// compared is one of two cars.
type compared struct {
	Number       int
	Advice       bool // it is the one to buy
	Name, Facts  string
	Model        string // the name without the year
	Link         string
	Answer       string // address of its own answer; "" when it has none
	Price        string // that it was calculated with; "" for none
	Basis        string // of that price: FOB or C&F
	Given        bool   // by the visitor
	Rate         string // shillings for a dollar
	Landing      vehicle.Landing
	Day          string // of the figures
	Sum          *vehicle.Sum
	Parts        []figures.Part
	Bar          []figures.Segment // on one scale with the other car
	For, Against []message.Text
	Danger       []message.Notice
	Sheet        string // address of the form for its auction sheet; "" without one

	Taxes   *vehicle.Sum
	Year    int
	KM      string // "" when it is not known
	Read    bool   // its auction sheet was read
	Reading bool   // it is being read
	Match   string // key of how sure the match is

	Gravest *figures.Minded // the one doubt; nil for none
}

// criterion is one thing in which the cars were compared, with bars on one scale for all.
type criterion struct {
	vehicle.Criterion

	Bar1, Bar2, Most int64
}

// comparison responds with the comparison of an answer with another one.
func (p *Pages) comparison(w http.ResponseWriter, r *http.Request, found *link) error {
	other, instead, err := p.findOther(r, found)
	if err != nil {
		return err
	}
	if instead != "" {
		http.Redirect(w, r, instead, http.StatusSeeOther)
		return nil
	}
	lang, answers := p.Language(w, r), [2]*link{other, found}
	c, sheets, err := p.judged(r, answers, lang)
	if err != nil {
		return err
	}
	if frame.WantsJSON(r) {
		return frame.SendJSON(w, http.StatusOK, c)
	}
	view := comparison{Cars: p.carsOf(c, sheets, lang), Criteria: criteriaOf(c.Verdict.Criteria), Why: c.Verdict.Text}
	if view.made, err = p.madeOf(r, found); err != nil {
		return err
	}
	view.Old = view.Old || hasExpired(c.Car1) || hasExpired(c.Car2)
	requests := [2]form{{}, view.Request}
	if requests[0], err = formOf(other); err != nil {
		return err
	}
	for i, e := range []*vehicle.Estimate{&c.Car1, &c.Car2} {
		requests[i] = requests[i].ofEstimate(e)
		view.Cars[i].Match, _ = figures.SureOf(e.Matched, requests[i].fields[fieldMatched])
	}
	view.Request = requests[1]
	if err := p.setAnswers(r, answers, requests[0], &view); err != nil {
		return err
	}
	view.Heading = headingOf(c.Verdict, view.Cars)
	view.weigh(c.Verdict)
	if c.Car1.DriveAway != nil && !view.Terms {
		view.Rates = &c.Car1.DriveAway.Exchange
	}
	view.Names = view.Cars[0].Name + " – " + view.Cars[1].Name
	if err := view.share(lang, view.Heading.In(lang)+". "+estimateNote.In(lang), view.headline(lang)...); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "comparison", Title: view.Names, Body: &view, Preview: view.Preview})
}

// findOther finds the answer that another one is compared with. While that is being made, or is
// none, it returns the address of the page that says so.
func (p *Pages) findOther(r *http.Request, found *link) (other *link, instead string, err error) {
	typed := found.terms.Get(termWith)
	own, err := p.ofCar(r.Context(), found, "")
	if err != nil {
		return nil, "", err
	}
	if at := p.ownAnswer(r, typed); at != nil {
		if other, err = p.findAt(r, at); err != nil && !errors.Is(err, errUnknown) {
			return nil, "", err
		}
	}
	if other == nil || !other.isOfCar() {
		return nil, "/c?" + url.Values{"u1": {typed}, "u2": {own}}.Encode(), nil
	}
	var running *job
	if other.Shown == nil {
		running, err = p.settle(r, other.token, other)
	}
	if err == nil && (running != nil || other.Shown.Failed != nil) {
		instead, err = p.ofCar(r.Context(), other, own)
	}
	return other, instead, err
}

// judged compares two answers, with what is read of their sheets.
func (p *Pages) judged(r *http.Request, answers [2]*link, lang string) (c vehicle.Comparison, sheets [2]*linkedSheet, err error) {
	var cars [2]vehicle.Estimate
	var conditions [2]*advice.Condition
	for i, answer := range answers {
		e := &cars[i]
		if err := json.Unmarshal(answer.Shown.Result, e); err != nil {
			return c, sheets, fmt.Errorf("web: estimate: %w", err)
		}
		if answer.Path == pathQuote {
			e.Car.Source = vehicle.FromRequest
		}
		sheets[i] = p.linkedSheetOf(r, answer, e, lang)
		if sheets[i] != nil && sheets[i].report != nil {
			conditions[i] = advice.NewCondition(sheets[i].report, sheet.Compare(sheets[i].report, e.Car))
		}
	}
	pair := advice.Pair{Car1: cars[0], Car2: cars[1], Condition1: conditions[0], Condition2: conditions[1]}
	verdict := advice.Judge(pair)
	c = vehicle.Comparison{Object: vehicle.ObjectComparison, Lang: lang, Verdict: &verdict}
	c.Recommendation = advice.Write(verdict, pair, lang)
	c.Car1, c.Car2 = pair.Cars()
	return c, sheets, nil
}

// setAnswers sets what a comparison of two answers has of each: its address, and its day. Where one
// is of another day, the older is calculated again first: the other one by its request.
func (p *Pages) setAnswers(r *http.Request, answers [2]*link, other form, view *comparison) error {
	for i, answer := range answers {
		at, err := p.ofCar(r.Context(), answer, "")
		if err != nil {
			return err
		}
		view.Cars[i].Answer, view.Cars[i].Day = at, localtime.Of(answer.Made).Format(time.DateOnly)
	}
	view.Change = "/c?" + url.Values{"u1": {view.Cars[0].Answer}, "u2": {view.Cars[1].Answer}}.Encode()
	if view.Cars[0].Day < view.Cars[1].Day {
		view.Request, view.Old, view.Day = other, true, view.Cars[0].Day
		view.Request.fields[termWith] = view.Cars[1].Answer
	}
	return nil
}

// weigh says which car is cheaper, what the difference rests on, and on what the two are not alike.
func (v *comparison) weigh(verdict *vehicle.Verdict) {
	a, b := v.Cars[0], v.Cars[1]
	v.Bases = a.Basis != b.Basis && a.Basis != "" && b.Basis != ""
	v.Terms = a.Rate != b.Rate || a.Landing.From != b.Landing.From || a.Landing.To != b.Landing.To || a.Day != b.Day
	if verdict.DifferenceTZS == nil {
		return
	}
	values := message.Values{"difference": verdict.DifferenceTZS.String()}
	key := "page/compare.overlap"
	if verdict.Cheaper != nil {
		key, values["n"] = "page/compare.cheaper", strconv.Itoa(*verdict.Cheaper)
	}
	v.Cost = message.Say(key, values)
	if v.Bases { // the same freight is in the one's car and in the other's ship
		return
	}
	greatest := int64(0)
	for _, first := range a.Parts {
		i := slices.IndexFunc(b.Parts, func(second figures.Part) bool { return second.Key == first.Key })
		if i < 0 || !first.Known || !b.Parts[i].Known {
			continue
		}
		if apart := max(first.TZS-b.Parts[i].TZS, b.Parts[i].TZS-first.TZS); apart > greatest {
			greatest = apart
			v.Rests = message.SayWith("page/compare.rests", message.Values{
				"value1": strconv.FormatInt(first.TZS, 10), "value2": strconv.FormatInt(b.Parts[i].TZS, 10),
			}, map[string]message.Text{"part": message.Say("page/money."+first.Key, nil)})
		}
	}
}

// headingOf returns the advice in one line: which car, or why none.
func headingOf(v *vehicle.Verdict, cars []compared) message.Text {
	if v.Winner == nil || *v.Winner < 1 || *v.Winner > len(cars) {
		return message.Say("compare/"+string(v.Reason), nil)
	}
	return message.Say("compare/winner", message.Values{"winner": strconv.Itoa(*v.Winner), "name": cars[*v.Winner-1].Name})
}

// carsOf returns the two cars of a comparison.
func (p *Pages) carsOf(c vehicle.Comparison, sheets [2]*linkedSheet, lang string) []compared {
	cars := make([]compared, 0, 2)
	for i, e := range []vehicle.Estimate{c.Car1, c.Car2} {
		called := named(e.Car, e.Matched.ModelBody)
		car := compared{
			Number: i + 1, Advice: c.Verdict.Winner != nil && *c.Verdict.Winner == i+1,
			Name: frame.NameOf(called), Facts: frame.FactsOf(e.Car, lang),
			Link: frame.Followable(e.Input.URL), Sheet: sheetURL(e.Car),
			Year: e.Car.Year, Read: sheets[i] != nil && sheets[i].report != nil,
			Reading: sheets[i] != nil && sheets[i].Reading,
		}
		car.Price, car.Basis = priceOf(e.Car)
		car.Given = givenPrice(e.Car) != ""
		car.Model = strings.TrimSpace(called.Make + " " + called.Model)
		if e.DriveAway != nil {
			car.Rate = e.DriveAway.Exchange.Others.String()
		}
		if e.Summary != nil {
			car.Landing = e.Summary.Landing
			car.Sum, car.Parts = e.Summary.OnTheRoad, figures.PartsOf(e.Summary)
			if taxes := e.Summary.Taxes; taxes != nil {
				car.Taxes = &taxes.Sum
			}
		}
		if e.Car.MileageKM != nil {
			car.KM = "km " + frame.Whole(int64(*e.Car.MileageKM))
		}
		car.Gravest, _, _ = figures.MindedOf(&e, p.Simulated())
		for _, warning := range e.Warnings {
			if warning.Level == message.Danger && (warning.Code != "simulated" || !p.Simulated()) {
				car.Danger = append(car.Danger, warning)
			}
		}
		if arguments := []*vehicle.Arguments{c.Verdict.Arguments1, c.Verdict.Arguments2}[i]; arguments != nil {
			car.For, car.Against = arguments.For, arguments.Against
		}
		cars = append(cars, car)
	}
	whole := max(figures.SumOf(cars[0].Parts), figures.SumOf(cars[1].Parts))
	for i := range cars {
		cars[i].Bar = figures.BarOf(cars[i].Parts, whole)
	}
	return cars
}

// priceOf returns the price of a car and what it is; "" without one.
func priceOf(car vehicle.Car) (price, basis string) {
	switch {
	case car.FOBPriceUSD != nil:
		return frame.InDollars(car.FOBPriceUSD.Decimal().IntPart()), "FOB"
	case car.CFPriceUSD != nil:
		return frame.InDollars(car.CFPriceUSD.Decimal().IntPart()), "C&F"
	}
	return "", ""
}

// criteriaOf returns the criteria with their bars: the widest is that of the greatest
// weight.
func criteriaOf(list []vehicle.Criterion) []criterion {
	greatest := 1
	for _, c := range list {
		greatest = max(greatest, c.Weight)
	}
	bars := make([]criterion, len(list))
	for i, c := range list {
		wide := func(points int) int64 { return int64(points) * figures.BarWidth / int64(greatest) }
		bars[i] = criterion{c, wide(c.Points1), wide(c.Points2), wide(c.Weight)}
	}
	return bars
}

// headline returns what is said of the comparison elsewhere: each car and its number with the
// range and the day, and the gravest doubt about it.
func (v *comparison) headline(lang string) (lines []string) {
	for _, car := range v.Cars {
		lines = append(lines, headlineOf(lang, car.Name, car.Sum, v.Day))
		lines = append(lines, car.Gravest.Lines(lang)...)
	}
	return lines
}
