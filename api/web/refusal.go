package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"ushuru/api/web/asset"
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
	"not_a_listing": {Key: "not_car", Hand: true}, "url_unsupported": {Key: "not_car", Hand: true},
	"page_unreadable": {Key: "not_car", Hand: true, Offer: true}, "fetch_too_large": {Key: "not_car", Hand: true},
	"url_forbidden": {Key: "not_car", Hand: true}, "url_invalid": {Key: "not_car", Hand: true},
	"host_busy": {Key: "site_busy", Again: true, Hand: true}, "fetch_timeout": {Key: "site_busy", Again: true, Hand: true},
	"fetch_failed":    {Key: "site_busy", Own: true, Again: true, Hand: true},
	"ambiguous_match": {Key: "ambiguous", Own: true},
	"no_match":        {Key: "no_match", Own: true, Hand: true}, "not_listed": {Key: "no_match", Own: true, Hand: true},
	"no_capacity_band": {Key: "no_match", Own: true}, "fuel_conflict": {Key: "no_match", Own: true},
	"listing_incomplete": {Key: "incomplete", Own: true}, "request_incomplete": {Key: "incomplete", Own: true},
	"authority_unavailable": {Key: "authority", Own: true, Again: true},
	"authority_refused":     {Key: "authority", Own: true, Again: true},
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
	Candidates []vehicle.Candidate
	ByHand     string // address of the form by hand; "" when it does not help
	PressAgain bool   // the button of the extension may help
	Choose     string // address of the list of the authority's entries; "" without a make
}

// Fuels returns the fuels that a visitor can name.
func (refused) Fuels() []string { return fuels }

// refusal responds with why there is no result, and what to do next.
func (p *Pages) refusal(w http.ResponseWriter, r *http.Request, found *link) error {
	var why vehicle.Error
	if err := json.Unmarshal(found.Shown.Failed, &why); err != nil {
		return fmt.Errorf("web: error of a link: %w", err)
	}
	request, err := formOf(found.Path, found.Body)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		asset.Send(w, r, http.StatusOK, "application/json", found.Shown.Failed, nil)
		return nil
	}
	said := noticeOf(why)
	view := refused{
		state: stateOf(why.Code), Code: why.Code, Said: textOf(said), Link: followable(request.URL), Request: request,
		Car: why.Car, Candidates: why.Candidates,
	}
	if why.Car != nil {
		view.Name, view.Facts = nameOf(*why.Car), factsOf(*why.Car, p.language(w, r))
		if why.Car.Make != "" && (view.Key == "ambiguous" || view.Key == "no_match") {
			view.Choose = r.URL.Path + "/choose"
		}
		if view.Key == "incomplete" {
			view.Missing = missingOf(*why.Car)
		}
		view.Request = request.describing(*why.Car, "")
	}
	if request.Sent { // the page is not kept: the button sends it again
		view.PressAgain, view.Again, view.Offer = view.Again, false, false
		view.Hand, view.Missing = view.Hand || view.Missing != "", ""
	}
	if view.Hand {
		view.ByHand = byHandOf(why.Car)
	}
	return p.render(w, r, http.StatusOK, screen{Name: "refusal", Title: "state." + view.Key, Body: view})
}

// byHandOf returns the address of the form by hand, with what was read of the car.
func byHandOf(car *vehicle.Car) string {
	if car == nil {
		return "/hand"
	}
	return handURL(map[string]string{
		"make": car.Make, "q": firstWord(car.Model), "year": strconv.Itoa(car.Year), "cc": strconv.Itoa(car.EngineCC),
	})
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
