package web

import (
	"errors"
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
	"ushuru/pkg/plainjson"
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
}

// changesOf returns the form for an answer: what the visitor has entered stands in it.
func changesOf(view *result, entered url.Values, lang string) changes {
	form := changes{Basis: entered.Get(termBasis)}
	if form.Basis == "" && view.Car.FOBPriceUSD == nil && view.Car.CFPriceUSD != nil {
		form.Basis = "cf" // as the price of the page
	}
	line := func(code string) (now string, source message.Text) {
		at := slices.IndexFunc(view.DriveAway.Lines, func(l vehicle.CostLine) bool { return l.Code == code })
		if at < 0 {
			return "", message.Text{}
		}
		l := view.DriveAway.Lines[at]
		now = frame.InDollars(l.AmountUSD.Decimal().Round(0).IntPart())
		if l.PaidIn == "TZS" {
			now = "TSh " + frame.Whole(l.AmountTZS.Decimal().Round(0).IntPart())
		}
		return now, message.Say("page/money.standing_"+string(l.Standing), nil)
	}
	landing, _ := frame.Say(lang, "change.days", "from", view.Summary.Landing.From, "to", view.Summary.Landing.To)
	for _, f := range []struct{ name, kind, now, line string }{
		{termPrice, "", "", "car_price"},
		{termFreight, "", "", "freight"},
		{termInsurance, "", "", "insurance"},
		{termYear, "numeric", strconv.Itoa(view.Car.Year), ""},
		{termLanding, "date", landing, ""},
		{termRate, "", view.DriveAway.Exchange.Others.String(), ""},
		{termAgent, "", "", "clearing_agent"},
	} {
		field := changed{Name: f.name, Kind: f.kind, Value: entered.Get(f.name), Now: f.now, Given: view.terms.Has(f.name)}
		switch {
		case f.line != "":
			field.Now, field.Source = line(f.line)
		case f.name == termYear:
			field.Given = view.Car.SourceOf("year") == vehicle.FromRequest
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// refuse says why what was entered does not do, and marks the field that is to blame.
func (c *changes) refuse(why *problem.Problem) {
	c.Problem = sentenceOf(why)
	name := termOf(why.Param)
	if name == "" {
		return
	}
	c.Problem = message.Say("page/change.bad_"+name, nil)
	for i := range c.Fields {
		c.Fields[i].Wrong = c.Fields[i].Name == name
	}
}

// Changed reports whether the answer is on figures of the visitor, besides the price.
func (v *result) Changed() bool {
	return slices.Contains(v.Car.Given, termYear) || slices.ContainsFunc(keptTerms, v.terms.Has)
}

// Back returns the address of the answer on the page's own figures; "" when that has no address
// or no page.
func (v *result) Back() string {
	if v.Link == "" || len(v.terms) == 0 || slices.Contains(v.Car.Given, termYear) {
		return ""
	}
	return v.path
}

// Own returns the form that asks for the page's own figures in place of those of another year; nil
// when the answer is for the year of the page, or when the page is not kept.
func (v *result) Own() *form {
	if v.Link == "" || v.Request.Sent || !slices.Contains(v.Car.Given, termYear) {
		return nil
	}
	return &form{URL: v.Request.URL, Action: v.Request.Action, fields: map[string]string{
		"u": v.Request.fields["u"], "modelBody": v.Request.fields["modelBody"],
	}}
}

// Marked returns the fields whose figure the visitor has given.
func (c *changes) Marked() []changed {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(f changed) bool { return !f.Given })
}

// change answers the form: it leads to the answer on other terms, or shows the form again and
// what is wrong. A link of another site fills it in and no more. A browser that does not say whose
// link it is changes the terms, and starts no work.
func (p *Pages) change(w http.ResponseWriter, r *http.Request) error {
	entered, token := r.URL.Query(), mux.Vars(r)["token"]
	found, err := p.linkAt(r.Context(), token)
	if err != nil {
		return err
	}
	if kindOf(found.Path, nil) != kindAnswer || found.Shown == nil || found.Shown.Failed != nil {
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
	car, label, _, err := carOf(found)
	if err != nil {
		return "", err
	}
	year := strings.TrimSpace(entered.Get(termYear))
	if year == "" || year == strconv.Itoa(car.Year) {
		if _, err := p.options.Terms(terms, found.Made); err != nil { // as its page will read them
			return "", err
		}
		return p.addressOf(r.Context(), found.Path, mux.Vars(r)["token"], terms)
	}
	if !mayStart {
		return "", nil
	}
	repeated, err := formOf(found)
	if err != nil {
		return "", err
	}
	if repeated = repeated.describing(car, label); repeated.Sent && !terms.Has(termPrice) { // nobody can read it again
		terms.Set(termPrice, repeated.fields[termPrice])
		terms.Set(termBasis, repeated.fields[termBasis])
		terms = termsIn(terms)
	}
	fields := url.Values{termYear: {year}}
	for _, field := range repeated.Fields(termYear, termPrice, termBasis) {
		fields.Set(field[0], field[1])
	}
	path, body := pathEstimate, estimateRequest(fields)
	if repeated.Action == "/hand" {
		path, body = pathQuote, quoteRequest(fields)
	}
	request, err := plainjson.Encode(body)
	if err != nil {
		return "", err
	}
	return p.start(r, work{path, request, terms})
}

// termOf returns the field of the form that a parameter of the API stands for; "" for none.
func termOf(param string) string {
	param = strings.ToLower(param)
	for _, name := range []string{termPrice, termFreight, termInsurance, termYear, termLanding, termRate, termAgent} {
		if strings.Contains(param, name) {
			return name
		}
	}
	return ""
}
