package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// paramChange is in the address to which the form leads that changes what an answer rests on.
const paramChange = "change"

// changes is that form: the terms of the answer's address and the year of manufacture.
type changes struct {
	Fields  []changed
	Basis   string       // cf when the price in the form has the freight in it
	Open    bool         // the visitor is filling it in
	Problem message.Text // why what was entered does not do; empty for none
}

// changed is one field of the form.
type changed struct {
	Name, Kind string       // Kind is the inputmode, numeric; or date; "" for a sum as people say it
	Value      string       // what the visitor has entered
	Now        string       // what the answer rests on, as people read it
	Given      bool         // that is the visitor's own figure
	Wrong      bool         // what was entered does not do
	Source     message.Text // whose figure it is

	line string // of the cost that it is; "" for none
}

// changesOf returns the form for an answer: what the visitor has entered stands in it. Why says what
// is wrong with that; nil for nothing.
func changesOf(view *result, entered url.Values, why *problem.Problem, lang string) changes {
	form := changes{Basis: entered.Get(termBasis), Open: entered.Has(paramChange)}
	if form.Basis == "" && view.Car.FOBPriceUSD == nil && view.Car.CFPriceUSD != nil {
		form.Basis = "cf" // as the price of the page
	}
	landing, _ := frame.Say(lang, "change.days", "from", view.Summary.Landing.From, "to", view.Summary.Landing.To)
	form.Fields = []changed{
		{Name: termPrice, line: "car_price"},
		{Name: termFreight, line: "freight"},
		{Name: termInsurance, line: "insurance"},
		{Name: termYear, Kind: "numeric", Now: strconv.Itoa(view.Car.Year)},
		{Name: termLanding, Kind: "date", Now: landing},
		{Name: termRate, Now: view.DriveAway.Exchange.Others.String()},
		{Name: termAgent, line: "clearing_agent"},
	}
	for i := range form.Fields {
		f := &form.Fields[i]
		f.Value, f.Given = entered.Get(f.Name), view.found.terms.Has(f.Name)
		if f.Name == termYear {
			f.Given = view.Car.SourceOf("year") == vehicle.FromRequest
		}
		for _, l := range view.DriveAway.Lines {
			if l.Code != f.line {
				continue
			}
			f.Now = frame.InDollars(l.AmountUSD.Decimal().Round(0).IntPart())
			f.Source = message.Say("page/money.standing_"+string(l.Standing), nil)
			if l.PaidIn == "TZS" {
				f.Now = "TSh " + frame.Whole(l.AmountTZS.Decimal().Round(0).IntPart())
			}
			break
		}
	}
	if why != nil {
		form.Problem = sentenceOf(why)
		isBlamed := func(f changed) bool { return strings.Contains(strings.ToLower(why.Param), f.Name) }
		if at := slices.IndexFunc(form.Fields, isBlamed); at >= 0 {
			form.Fields[at].Wrong, form.Problem = true, message.Say("page/change.bad_"+form.Fields[at].Name, nil)
		}
	}
	return form
}

// Marked returns the fields whose figure the visitor has given.
func (c *changes) Marked() []changed {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(f changed) bool { return !f.Given })
}

// isOfYear reports whether the answer is for a year that the visitor gave.
func (v *result) isOfYear() bool { return slices.Contains(v.Car.Given, termYear) }

// Changed reports whether the answer is on figures of the visitor, besides the price.
func (v *result) Changed() bool {
	return v.isOfYear() || slices.ContainsFunc(keptTerms, v.found.terms.Has)
}

// Back returns the address of the answer on the page's own figures; "" when that has no address
// or no page.
func (v *result) Back() string {
	if v.Link() == "" || len(v.found.terms) == 0 || v.isOfYear() {
		return ""
	}
	return v.path
}

// Own returns the form that asks for the page's own figures in place of those of another year; nil
// when the answer is for the year of the page, or when the page is not kept.
func (v *result) Own() *form {
	if v.Link() == "" || v.Request.Sent || !v.isOfYear() {
		return nil
	}
	own := v.Request
	own.Fields = url.Values{"u": own.Fields["u"], "modelBody": own.Fields["modelBody"]}
	return &own
}

// change answers the form: it leads to the answer on other terms, or shows the form again and
// what is wrong. A link of another site fills it in and no more. A browser that does not say whose
// link it is changes the terms, and starts no work.
func (p *Pages) change(w http.ResponseWriter, r *http.Request) error {
	entered := r.URL.Query()
	found, err := p.linkAt(r.Context(), mux.Vars(r)["token"])
	if err != nil {
		return err
	}
	if !found.isOfCar() || found.shown().Result == nil {
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther) //nolint:gosec // a path of ours
		return nil
	}
	address := ""
	if site := r.Header.Get("Sec-Fetch-Site"); site == "" || site == "same-origin" {
		address, err = p.changedAddress(r, found, entered, site != "")
	}
	var why *problem.Problem
	switch {
	case address != "" && err == nil:
		http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // a path of ours
		return nil
	case err != nil && !errors.As(err, &why):
		return err
	}
	return p.answerWith(w, r, found, entered, why) //nolint:contextcheck // the request has it
}

// changedAddress returns the address of an answer on the terms that were entered. For another
// year of manufacture the authority is asked again, if that may start work; else there is none.
func (p *Pages) changedAddress(r *http.Request, found *link, entered url.Values, mayStart bool) (string, error) {
	terms := termsIn(entered)
	if _, err := p.options.Terms(terms, time.Now()); err != nil {
		return "", err
	}
	car, label, _, err := found.car()
	if err != nil {
		return "", err
	}
	year := strings.TrimSpace(entered.Get(termYear))
	if year == "" || year == strconv.Itoa(car.Year) {
		if _, err := p.options.Terms(terms, found.Made); err != nil { // as its page will read them
			return "", err
		}
		return p.addressOf(r.Context(), found.Path, found.token, terms)
	}
	if !mayStart {
		return "", nil
	}
	again := found.form().describing(car, label)
	if !again.Sent || terms.Has(termPrice) { // else nobody can read the price again
		again.Fields = frame.Without(again.Fields, termPrice, termBasis)
	}
	maps.Copy(again.Fields, terms)
	again.Fields.Set(termYear, year)
	return p.start(r, linkOf(found.Path, again.Fields))
}
