package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// maxMakes is how many makes a page lists.
const maxMakes = 200

// hand is the page where a visitor describes a car: the make, then TRA's entry, then what
// else is needed. Each step is a form of its own.
type hand struct {
	Makes   []string // at the first step
	Make    string
	Query   string // at the second step: what the entries are searched for
	Total   int
	Shown   int
	Entries []entry
	Label   string // the entry, at the last step
	Problem message.Text
	Filled  url.Values // what is known already
}

// Value returns what is known of a field.
func (h hand) Value(name string) string { return h.Filled.Get(name) }

// Fuels returns the fuels that a visitor can name.
func (hand) Fuels() []string { return fuels }

// Kept returns what is known as hidden fields, for the next step.
func (h hand) Kept(without ...string) [][2]string {
	f := form{fields: map[string]string{}}
	for _, name := range []string{"make", "modelBody", "year", "cc", "fuel", "price", "basis"} {
		f.fields[name] = h.Filled.Get(name)
	}
	return f.Fields(without...)
}

// byHand responds with the step that comes next.
func (p *Pages) byHand(w http.ResponseWriter, r *http.Request) error {
	return p.renderHand(w, r, http.StatusOK, hand{Filled: r.URL.Query()})
}

// renderHand responds with the step that comes next after what is known.
func (p *Pages) renderHand(w http.ResponseWriter, r *http.Request, status int, view hand) error {
	view.Make, view.Label, view.Query = view.Value("make"), view.Value("modelBody"), view.Value("q")
	var list struct {
		Total    int      `json:"total"`
		Makes    []string `json:"makes"`
		Vehicles []entry  `json:"vehicles"`
	}
	query := url.Values{"limit": {strconv.Itoa(maxMakes)}}
	if view.Make != "" {
		query = url.Values{"make": {view.Make}, "q": {view.Query}, "limit": {strconv.Itoa(maxEntries)}}
	}
	if view.Label == "" {
		err := p.api.get(r.Context(), "/v1/vehicles?"+query.Encode(), &list)
		var why *problem.Problem
		switch {
		case errors.As(err, &why) && why.Status == http.StatusNotFound: // no such make
			view.Make = ""
			err = p.api.get(r.Context(), "/v1/vehicles?limit="+strconv.Itoa(maxMakes), &list)
		case err != nil:
			return err
		}
		if err != nil {
			return err
		}
	}
	view.Makes, view.Entries, view.Total, view.Shown = list.Makes, list.Vehicles, list.Total, len(list.Vehicles)
	return p.render(w, r, status, screen{Name: "hand", Title: "hand.title", Body: view})
}

// submitHand starts the estimate of a described car, and leads to the page of its answer.
func (p *Pages) submitHand(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	body := map[string]any{"make": r.PostForm.Get("make"), "modelBody": r.PostForm.Get("modelBody")}
	maps.Copy(body, knownOf(r.PostForm))
	request, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	token, err := p.start(r, "/v1/quote", request)
	var why *problem.Problem
	switch {
	case err == nil:
		http.Redirect(w, r, "/e/"+token, http.StatusSeeOther)
		return nil
	case errors.As(err, &why) && why.Code == errPuzzle.Code:
		return p.puzzle(w, r, why.RetryAfter)
	case errors.As(err, &why) && why.Status < http.StatusInternalServerError:
		why.SetHeader(w.Header())
		return p.renderHand(w, r, statusOf(why), hand{Filled: r.PostForm, Problem: p.sentence(why)})
	}
	return err
}

// handURL returns the address of the form by hand with what is known of a car.
func handURL(known map[string]string) string {
	query := url.Values{}
	for name, value := range known {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return "/hand"
	}
	return "/hand?" + query.Encode()
}

// fuels are those that a visitor can name.
var fuels = []string{"petrol", "petrol_hybrid", "diesel", "electric"}

// form has the fields that repeat a request, and where they go.
type form struct {
	URL    string // of the listing; "" for a described car
	Action string
	Sent   bool // a page that the visitor's browser sent, and that is not kept
	fields map[string]string
}

// formOf returns the form that repeats a request.
func formOf(path string, body []byte) (f form, err error) {
	var request struct {
		quoteFields

		URL   string      `json:"url"`
		Known quoteFields `json:"known"`

		Upload string `json:"upload"` // hash of the page
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return f, fmt.Errorf("web: request: %w", err)
	}
	f = form{
		URL: request.URL, Action: "/go", Sent: request.Upload != "",
		fields: map[string]string{"u": request.URL, "modelBody": request.ModelBody},
	}
	known := request.Known
	if path == "/v1/quote" {
		known, f.Action, f.fields["make"] = request.quoteFields, "/hand", request.Make
	}
	f.fields["year"], f.fields["cc"] = string(known.Year), string(known.EngineCC)
	f.fields["fuel"], f.fields["price"] = known.Fuel, string(known.FOB)
	if known.CF != "" {
		f.fields["price"], f.fields["basis"] = string(known.CF), "cf"
	}
	return f, nil
}

// describing returns the form that asks for a car as it was read: a page that was sent
// cannot be read again. Other requests stay as they are.
func (f form) describing(car vehicle.Car, label string) form {
	if !f.Sent {
		return f
	}
	described := form{URL: f.URL, Action: "/hand", Sent: true, fields: map[string]string{
		"make": car.Make, "modelBody": label, "fuel": car.Fuel,
	}}
	for name, value := range map[string]int{"year": car.Year, "cc": car.EngineCC} {
		if value > 0 {
			described.fields[name] = strconv.Itoa(value)
		}
	}
	switch {
	case car.CFPriceUSD != nil:
		described.fields["price"], described.fields["basis"] = car.CFPriceUSD.String(), "cf"
	case car.FOBPriceUSD != nil:
		described.fields["price"] = car.FOBPriceUSD.String()
	}
	return described
}

// quoteFields are what a request says of a car.
type quoteFields struct {
	Make      string      `json:"make"`
	ModelBody string      `json:"modelBody"`
	Year      json.Number `json:"year"`
	EngineCC  json.Number `json:"engine_cc"`
	Fuel      string      `json:"fuel"`
	FOB       json.Number `json:"fobPriceUSD"`
	CF        json.Number `json:"cfPriceUSD"`
}
