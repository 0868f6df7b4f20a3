package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
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
func (h hand) Kept(without ...string) [][2]string { return keptOf(h.Filled, without...) }

// described are the fields of a form that say what is known of a car.
var described = []string{"make", "modelBody", "year", "cc", "fuel", "price", "basis"}

// keptOf returns what is known of a car as hidden fields.
func keptOf(filled url.Values, without ...string) [][2]string {
	f := form{fields: map[string]string{}}
	for _, name := range described {
		f.fields[name] = filled.Get(name)
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
		err := p.api.Get(r.Context(), "/v1/vehicles?"+query.Encode(), &list)
		var why *problem.Problem
		switch {
		case errors.As(err, &why) && why.Status == http.StatusNotFound: // no such make
			view.Make = ""
			err = p.api.Get(r.Context(), "/v1/vehicles?limit="+strconv.Itoa(maxMakes), &list)
		case err != nil:
			return err
		}
		if err != nil {
			return err
		}
	}
	view.Makes, view.Entries, view.Total, view.Shown = list.Makes, list.Vehicles, list.Total, len(list.Vehicles)
	return p.Render(w, r, status, frame.Screen{Name: "hand", Title: "hand.title", Body: view})
}

// submitHand starts the estimate of a described car, and leads to the page of its answer.
func (p *Pages) submitHand(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	request, err := plainjson.Encode(quoteRequest(r.PostForm))
	if err != nil {
		return err
	}
	address, err := p.start(r, work{pathQuote, request, termsIn(r.PostForm)})
	var why *problem.Problem
	switch {
	case err == nil:
		http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // a path of ours
		return nil
	case errors.As(err, &why) && why.Status < http.StatusInternalServerError:
		why.SetHeader(w.Header())
		return p.renderHand(w, r, statusOf(why), hand{Filled: r.PostForm, Problem: sentenceOf(why)})
	}
	return err
}

// quoteRequest returns the body of a request to /v1/quote from the fields of a form.
func quoteRequest(form url.Values) map[string]any {
	body := map[string]any{"make": form.Get("make"), "modelBody": form.Get("modelBody"), "byMonth": true}
	maps.Copy(body, knownOf(form))
	return body
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
