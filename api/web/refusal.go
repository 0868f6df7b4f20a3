package web

import (
	"cmp"
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"ushuru/api/web/frame"
	"ushuru/pkg/datatable"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// state is how a page shows an error code: the sentence that it prints and the next steps that it
// offers.
type state struct {
	Key   string // of the heading and of the sentence: page/state.<key>
	Own   bool   // the sentence of the code says more than the page's
	Again bool   // to try again may help
	Hand  bool   // the car can be described
	Offer bool   // the extension for browsers can read the page
}

//go:embed states.csv
var stateTable string

// states are the codes that need a page of their own.
var states = func() map[string]state {
	all := map[string]state{}
	for _, row := range datatable.Rows(stateTable) {
		has := func(mark string) bool { return strings.Contains(row[2], mark) }
		all[row[0]] = state{Key: row[1], Own: has("own"), Again: has("again"), Hand: has("hand"), Offer: has("offer")}
	}
	return all
}()

// refused is the page of work that ended without a result.
type refused struct {
	state
	entries       // that the car may be
	vehicle.Error // why

	Said       message.Text // the sentence of the code
	Link       string       // of the listing
	Request    form
	Missing    string // which field is to be filled in: year, fuel or engine
	With       string // address of the answer that the car is to be compared with; "" for none
	Change     string // address of the form with other links; "" when that does not help
	ChangeText string // what that is
	PressAgain bool   // the button of the extension may help
	ByHand     string // address of the form by hand; "" when it does not help
	Choose     string // address of the list of the authority's entries; "" without a make
}

// Fuels returns the fuels that a visitor can name.
func (*refused) Fuels() []string { return fuels }

// refusal responds with why there is no result, and what to do next.
func (p *Pages) refusal(w http.ResponseWriter, r *http.Request, found *link) error {
	why, err := found.failure()
	if err != nil {
		return err
	}
	view := refused{
		state: stateOf(why.Code), Error: why, Said: frame.TextOf(frame.NoticeOf(why)), Request: found.form(),
		Link: frame.Followable(found.Fields.Get("u")),
	}
	with := found.terms.Get(termWith)
	switch kindOf(found.Path, found.terms) {
	case kindSheet: // the reason says what to send instead
		view.Change, view.ChangeText = "/s", "sheet.other"
		retryable := why.Retryable != nil && *why.Retryable
		view.state = state{Key: "sheet", Own: true, Again: retryable && found.Fields.Has("u")}
		if why.Code == errUnknown.Code {
			view.state = state{Key: "expired"}
		}
		return p.Render(w, r, http.StatusOK, frame.Screen{Name: "refusal", Body: &view})
	case kindComparison:
		view.Change, view.ChangeText = frame.Address("/c", url.Values{"u1": {with}, "u2": found.Fields["u"]}), "compare.change"
		if other := p.ownAnswer(r, with); other != nil {
			view.With = other.RequestURI()
		}
	case kindBid:
		view.Change, view.ChangeText = frame.Address("/bid", view.Request.Fields), "bid.change"
	case kindBill:
		view.Change, view.ChangeText = frame.Address("/bill", view.Request.Fields), "bill.another"
	}
	if view.Request.Sent {
		view.sent()
	}
	if view.Hand {
		view.ByHand = byHandOf(why.Car, found.terms)
	}
	if view.Car != nil {
		if err := p.offer(r, found, &view); err != nil {
			return err
		}
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "refusal", Body: &view})
}

// sent changes what is offered for a page that the visitor's browser sent: it is not kept, so the button
// sends it again.
func (v *refused) sent() {
	v.PressAgain, v.Again, v.Offer = v.Again, false, false
	if v.Car != nil {
		v.Request = v.Request.describing(*v.Car, "")
		v.Hand = v.Hand || v.Key == "incomplete" && missingOf(*v.Car) != ""
	}
}

// offer adds what helps with a car that was read: its entries, or the field that is missing.
func (p *Pages) offer(r *http.Request, found *link, v *refused) error {
	car := *v.Car
	if car.Make != "" && (v.Key == "ambiguous" || v.Key == "no_match") {
		v.Choose = found.with(r.URL.Path + "/choose")
	}
	if v.Key == "incomplete" && !v.Request.Sent {
		v.Missing = missingOf(car)
	}
	if model := v.Request.Fields.Get("model"); found.Path == pathQuote && model != "" {
		if list := remaining(v.Candidates, model, car); len(list) > 0 { // the visitor has chosen the model
			v.Candidates, v.ByHand, v.state = list, byHandOf(v.Car, found.terms), state{Key: "remain"}
		}
	}
	if len(v.Candidates) == 0 {
		return nil
	}
	for _, c := range v.Candidates {
		v.Entries = append(v.Entries, entry{
			ModelBody: c.ModelBody, EngineCC: c.EngineCC, Fuel: c.Fuel, From: c.YearFrom, To: c.YearTo, Taxes: c.TotalTaxesInTZS,
		})
	}
	car.Make = cmp.Or(v.Candidates[0].Make, car.Make)
	return p.priceEntries(r, found, car, &v.entries)
}

// remaining returns the entries of a model that a car may be: by its year, engine and fuel, as far
// as these are known.
func remaining(all []vehicle.Candidate, model string, car vehicle.Car) (list []vehicle.Candidate) {
	const tolerance = 60 // cc by which engines are rounded
	for _, c := range all {
		name, _, _ := strings.Cut(c.ModelBody, " - ")
		apart := c.EngineCC - car.EngineCC
		switch {
		case !strings.EqualFold(name, model),
			car.Year > 0 && c.YearFrom > 0 && car.Year < c.YearFrom, car.Year > 0 && c.YearTo > 0 && car.Year > c.YearTo,
			car.EngineCC > 0 && c.EngineCC > 0 && max(apart, -apart) > tolerance,
			!sameFuel(c.Fuel, car.Fuel):
			continue
		}
		list = append(list, c)
	}
	return list
}

// sameFuel reports whether two names may be of one fuel: a hybrid is also called petrol.
func sameFuel(a, b string) bool {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", " ") }
	return strings.Contains(plain(a), plain(b)) || strings.Contains(plain(b), plain(a))
}

// byHandOf returns the address of the form by hand, with what was read of the car and the terms.
func byHandOf(car *vehicle.Car, terms url.Values) string {
	known := url.Values{}
	if car != nil {
		known = frame.Without(frame.FieldsOf(*car), termPrice, termBasis)
		known.Set("q", firstWord(car.Model))
	}
	maps.Copy(known, terms)
	return frame.Address("/hand", known)
}

// stateOf returns how a code is shown.
func stateOf(code string) state {
	if s, known := states[code]; known {
		return s
	}
	return state{Key: "fault", Again: true}
}

// missingOf returns the first field that the authority needs and the page of a car does
// not give.
func missingOf(car vehicle.Car) string {
	switch {
	case car.Year == 0:
		return "year"
	case car.Fuel == "":
		return "fuel"
	case car.EngineCC == 0:
		return "cc"
	}
	return ""
}
