package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// pair is the form for the links of two cars.
type pair struct {
	Links   [2]string    // what the visitor typed
	Problem message.Text // why that is no answer; empty for none
	Wrong   string       // the field that is to blame: u1 or u2; "" for none
}

// Fields returns the links with the names of their fields.
func (p pair) Fields() [][2]string { return [][2]string{{"u1", p.Links[0]}, {"u2", p.Links[1]}} }

// compare responds with the form for two links. Those in the query fill it.
func (p *Pages) compare(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	return p.Render(w, r, http.StatusOK, compareScreen(pair{Links: [2]string{linkIn(query.Get("u1")), linkIn(query.Get("u2"))}}))
}

func compareScreen(body pair) frame.Screen {
	return frame.Screen{Name: "compare", Title: "compare.title", Body: body}
}

// submitCompare starts the comparison of two cars, and leads to its page.
func (p *Pages) submitCompare(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	links := [2]string{typedLink(r.PostForm, "u1"), typedLink(r.PostForm, "u2")}
	request, err := plainjson.Encode(map[string]any{"url1": links[0], "url2": links[1], "lang": p.Language(w, r)})
	if err != nil {
		return err
	}
	return p.begin(w, r, work{path: pathCompare, body: request}, func(said message.Text, why *problem.Problem) frame.Screen {
		body := pair{Links: links, Problem: said}
		if why.Code == "url_missing" {
			body.Problem = message.Say("page/compare.no_link", nil)
		}
		if number, found := strings.CutPrefix(why.Param, "url"); found && why.Code != "same_listing" {
			body.Wrong = "u" + number
			body.Problem = message.Say("page/compare.bad_link", message.Values{"n": number})
		}
		return compareScreen(body)
	})
}

// comparison is the page of two cars.
type comparison struct {
	made

	Heading, Why, Cost message.Text // Cost is empty when a cost is not known
	Cars               []compared
	Criteria           []criterion
	Warnings           []message.Notice
	Rates              *vehicle.ExchangeRates
	Names              string // of both cars
}

// compared is one of two cars.
type compared struct {
	Number       int
	Advice       bool // it is the one to buy
	Name, Facts  string
	Link         string
	Sum          *vehicle.Sum
	Parts        []part
	Bar          []segment // on one scale with the other car
	For, Against []message.Text
	Danger       []message.Notice
	Sheet        string // address of the form for its auction sheet; "" without one

	Taxes *vehicle.Sum
	Year  int
	KM    string // "" when it is not known
	Read  bool   // its auction sheet was read
	Match vehicle.Confidence

	Gravest *minded // the one doubt; nil for none
}

// criterion is one thing in which the cars were compared, with bars on one scale for all.
type criterion struct {
	vehicle.Criterion

	Bar1, Bar2, Most int64
}

// comparison responds with a comparison.
func (p *Pages) comparison(w http.ResponseWriter, r *http.Request, found *link) error {
	var c vehicle.Comparison
	if err := json.Unmarshal(found.Shown.Result, &c); err != nil {
		return fmt.Errorf("web: comparison: %w", err)
	}
	if c.Verdict == nil || len(c.Verdict.Criteria) == 0 {
		return errors.New("web: a comparison without its verdict")
	}
	lang := p.Language(w, r)
	view := comparison{Cars: p.carsOf(c, lang), Criteria: criteriaOf(c.Verdict.Criteria), Why: c.Verdict.Text}
	var err error
	if view.made, err = p.madeOf(r, found); err != nil {
		return err
	}
	view.Old = view.Old || hasExpired(c.Car1) || hasExpired(c.Car2)
	view.Heading = headingOf(c.Verdict, view.Cars)
	if c.Verdict.DifferenceTZS != nil {
		view.Cost = c.Verdict.Criteria[0].Text
	}
	view.Warnings = slices.Concat(sorted(c.Warnings, p.Simulated()))
	if c.Car1.DriveAway != nil {
		view.Rates = &c.Car1.DriveAway.Exchange
	}
	view.Names = view.Cars[0].Name + " – " + view.Cars[1].Name
	if err := view.share(lang, view.Heading.In(lang)+". "+estimateNote.In(lang), view.headline(lang)...); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "comparison", Title: view.Names, Body: &view, Preview: view.Preview})
}

// headingOf returns the advice in one line: which car, or why none.
func headingOf(v *vehicle.Verdict, cars []compared) message.Text {
	if v.Winner == nil || *v.Winner < 1 || *v.Winner > len(cars) {
		return message.Say("compare/"+string(v.Reason), nil)
	}
	return message.Say("compare/winner", message.Values{"winner": strconv.Itoa(*v.Winner), "name": cars[*v.Winner-1].Name})
}

// carsOf returns the two cars of a comparison.
func (p *Pages) carsOf(c vehicle.Comparison, lang string) []compared {
	cars := make([]compared, 0, 2)
	for i, e := range []vehicle.Estimate{c.Car1, c.Car2} {
		car := compared{
			Number: i + 1, Advice: c.Verdict.Winner != nil && *c.Verdict.Winner == i+1,
			Name: frame.NameOf(e.Car), Facts: frame.FactsOf(e.Car, lang),
			Link: frame.Followable(e.Input.URL), Sheet: sheetURL(e.Car),
			Year: e.Car.Year, Match: e.Matched.Confidence, Read: []*string{c.CondReport1, c.CondReport2}[i] != nil,
		}
		if e.Summary != nil {
			car.Sum, car.Parts = e.Summary.OnTheRoad, partsOf(e.Summary)
			if taxes := e.Summary.Taxes; taxes != nil {
				car.Taxes = &taxes.Sum
			}
		}
		if e.Car.MileageKM != nil {
			car.KM = "km " + frame.Whole(int64(*e.Car.MileageKM))
		}
		car.Gravest, _, _ = mindedOf(&e, p.Simulated())
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
	whole := max(sumOf(cars[0].Parts), sumOf(cars[1].Parts))
	for i := range cars {
		cars[i].Bar = barOf(cars[i].Parts, whole)
	}
	return cars
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
		wide := func(points int) int64 { return int64(points) * barWidth / int64(greatest) }
		bars[i] = criterion{c, wide(c.Points1), wide(c.Points2), wide(c.Weight)}
	}
	return bars
}

// headline returns what is said of the comparison elsewhere: each car and its number with the
// range and the day, and the gravest doubt about it.
func (v *comparison) headline(lang string) (lines []string) {
	for _, car := range v.Cars {
		lines = append(lines, headlineOf(lang, car.Name, car.Sum, v.Day))
		lines = append(lines, car.Gravest.lines(lang)...)
	}
	return lines
}

// Change returns the address of the form with the links of the comparison.
func (v *comparison) Change() string { return v.Request.at("/c") }

// alone returns the links of two cars that could not be compared.
func alone(f form) []string {
	var list []string
	for _, name := range []string{"u1", "u2"} {
		if link := f.fields[name]; link != "" {
			list = append(list, link)
		}
	}
	return list
}
