package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// state is how the page shows a code: which of its sentences it says, and which steps it
// offers.
type state struct {
	Key   string // of the heading and of the sentence: page/state.<key>
	Own   bool   // the sentence of the code says more than the page's
	Again bool   // to try again may help
	Hand  bool   // the car can be described
	Offer bool   // the extension for browsers can read the page
}

// states are the codes that need a page of their own. Others are shown as a fault of
// ours.
var states = map[string]state{
	"listing_blocked":  {Key: "blocked", Hand: true, Offer: true},
	"robots_forbidden": {Key: "blocked", Hand: true, Offer: true},
	"listing_gone":     {Key: "gone"}, "listing_sold": {Key: "sold"},
	"several_cars":  {Key: "several"},
	"not_a_listing": {Key: "not_car", Hand: true}, "url_unsupported": {Key: "not_car", Hand: true},
	"page_unreadable": {Key: "not_car", Hand: true, Offer: true}, "fetch_too_large": {Key: "not_car", Hand: true},
	"url_forbidden": {Key: "not_car", Hand: true}, "url_invalid": {Key: "not_car", Hand: true},
	"host_busy": {Key: "site_busy", Again: true, Hand: true}, "fetch_timeout": {Key: "site_busy", Again: true, Hand: true},
	"fetch_failed":    {Key: "site_busy", Own: true, Again: true, Hand: true},
	"ambiguous_match": {Key: "ambiguous", Own: true},
	"no_match":        {Key: "no_match", Own: true, Hand: true}, "not_listed": {Key: "no_match", Own: true, Hand: true},
	"year_not_listed":  {Key: "no_match", Own: true, Hand: true},
	"no_capacity_band": {Key: "no_match", Own: true}, "fuel_conflict": {Key: "no_match", Own: true},
	"listing_incomplete": {Key: "incomplete", Own: true}, "request_incomplete": {Key: "incomplete", Own: true},
	"authority_unavailable": {Key: "authority", Own: true, Again: true},
	"authority_refused":     {Key: "authority", Own: true, Again: true},
	"authority_implausible": {Key: "authority", Own: true, Again: true},
	"unknown":               {Key: "expired", Again: true},
}

// refused is the page of work that ended without a result.
type refused struct {
	state

	Code       string
	Said       message.Text // the sentence of the code
	Link       string       // of the listing
	Request    form
	Car        *vehicle.Car
	Name       string
	Facts      string
	Missing    string // which field is to be filled in: year, fuel or engine
	Candidates []candidate
	Cars       []vehicle.ListedCar // that the page lists
	Axis       *axis
	With       string // address of the answer that the car is to be compared with; "" for none
	Change     string // address of the form with other links; "" when that does not help
	ChangeText string // what that is
	PressAgain bool   // the button of the extension may help
	ByHand     string // address of the form by hand; "" when it does not help
	Choose     string // address of the list of the authority's entries; "" without a make
}

// candidate is an entry that the car may be, with what it costs as this one.
type candidate struct {
	vehicle.Candidate
	asEntry
}

// Unknown reports whether no candidate has a cost that is known.
func (v *refused) Unknown() bool {
	return !slices.ContainsFunc(v.Candidates, func(c candidate) bool { return c.sum() != nil || c.TotalTaxesInTZS != nil })
}

// Fuels returns the fuels that a visitor can name.
func (*refused) Fuels() []string { return fuels }

// refusal responds with why there is no result, and what to do next.
func (p *Pages) refusal(w http.ResponseWriter, r *http.Request, found *link) error {
	var why vehicle.Error
	if err := json.Unmarshal(found.Shown.Failed, &why); err != nil {
		return fmt.Errorf("web: error of a link: %w", err)
	}
	request, err := formOf(found)
	if err != nil {
		return err
	}
	if frame.WantsJSON(r) {
		frame.Send(w, http.StatusOK, "application/json", found.Shown.Failed)
		return nil
	}
	view := refused{
		state: stateOf(why.Code), Code: why.Code, Said: frame.TextOf(frame.NoticeOf(why)), Link: frame.Followable(request.URL),
		Request: request, Car: why.Car, Cars: why.Cars,
	}
	if why.Car != nil {
		view.Name, view.Facts = frame.NameOf(*why.Car), frame.FactsOf(*why.Car, p.Language(w, r))
	}
	switch found.Path {
	case pathReport:
		view.ofSheet(why)
	default:
		switch kindOf(found.Path, found.terms) {
		case kindComparison:
			both := url.Values{"u1": {found.terms.Get(termWith)}, "u2": {request.URL}}
			view.Change, view.ChangeText = "/c?"+both.Encode(), "compare.change"
			if other := p.ownAnswer(r, found.terms.Get(termWith)); other != nil {
				view.With = other.RequestURI()
			}
		case kindBid:
			view.Change, view.ChangeText = request.at("/bid"), "bid.change"
		case kindBill:
			view.Change, view.ChangeText = request.at("/bill"), "bill.another"
		}
		view.sent(why)
		if err := p.offer(r, found, &view, why); err != nil {
			return err
		}
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "refusal", Title: "state." + view.Key, Body: &view})
}

// ofSheet shows why a sheet was not read. The reason says what to send instead.
func (v *refused) ofSheet(why vehicle.Error) {
	retryable := why.Retryable != nil && *why.Retryable
	v.state = state{Key: "sheet", Own: true, Again: retryable && v.Request.URL != ""}
	if why.Code == "unknown" {
		v.state = state{Key: "expired"}
	}
	v.Change, v.ChangeText = "/s", "sheet.other"
}

// sent changes what is offered for a page that the visitor's browser sent: it is not kept,
// so the button sends it again.
func (v *refused) sent(why vehicle.Error) {
	if why.Car != nil {
		v.Request = v.Request.describing(*why.Car, "")
	}
	if !v.Request.Sent {
		return
	}
	v.PressAgain, v.Again, v.Offer = v.Again, false, false
	v.Hand = v.Hand || v.Key == "incomplete" && why.Car != nil && missingOf(*why.Car) != ""
}

// offer adds what helps with one car: its entries, the field that is missing, the form by
// hand.
func (p *Pages) offer(r *http.Request, found *link, v *refused, why vehicle.Error) error {
	if v.Hand {
		v.ByHand = byHandOf(why.Car, found.terms)
	}
	if why.Car == nil {
		return nil
	}
	if why.Car.Make != "" && (v.Key == "ambiguous" || v.Key == "no_match") {
		v.Choose = found.with(r.URL.Path + "/choose")
	}
	if v.Key == "incomplete" && !v.Request.Sent {
		v.Missing = missingOf(*why.Car)
	}
	if model := v.Request.fields["model"]; found.Path == pathQuote && model != "" {
		if list := remaining(why.Candidates, model, *why.Car); len(list) > 0 { // the visitor has chosen the model
			why.Candidates, v.Hand, v.ByHand, v.state = list, false, byHandOf(why.Car, found.terms), state{Key: "remain"}
		}
	}
	v.Candidates = make([]candidate, len(why.Candidates))
	labels, costs := make([]string, len(why.Candidates)), make([]*asEntry, len(why.Candidates))
	for i, c := range why.Candidates {
		v.Candidates[i].Candidate, labels[i], costs[i] = c, c.ModelBody, &v.Candidates[i].asEntry
	}
	if len(labels) == 0 {
		return nil
	}
	car := *why.Car
	car.Make = cmp.Or(why.Candidates[0].Make, car.Make)
	var err error
	v.Axis, err = p.costsOf(r, found, car, labels, costs)
	return err
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
	known := map[string]string{}
	if car != nil {
		known = map[string]string{
			"make": car.Make, "q": firstWord(car.Model), "year": strconv.Itoa(car.Year), "cc": strconv.Itoa(car.EngineCC),
			"fuel": car.Fuel,
		}
	}
	for name := range terms {
		known[name] = terms.Get(name)
	}
	return handURL(known)
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
