package web

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
)

// maxMakes is how many makes a page lists.
const maxMakes = 200

// hand is the page where a visitor describes a car: the make, then the model, then the year,
// the engine and the fuel. Each step is a form of its own. Which chassis code it is, the page of
// the answer asks, and only if several remain.
type hand struct {
	Makes   []string // at the first step
	Models  []string // at the second
	Query   string   // what they are searched for
	Last    bool     // the car is named
	Filled  url.Values
	Problem message.Text
	Wrong   string // name of the field that is to blame; "" for none
}

// Value returns what is known of a field.
func (h *hand) Value(name string) string { return h.Filled.Get(name) }

// Fuels returns the fuels that a visitor can name.
func (*hand) Fuels() []string { return fuels }

// Kept returns what is known as hidden fields, for the next step.
func (h *hand) Kept(without ...string) [][2]string { return keptOf(h.Filled, without...) }

// Back returns the address of an earlier step with what is known, but for some fields.
func (h *hand) Back(without ...string) string {
	known := map[string]string{}
	for _, field := range h.Kept(without...) {
		known[field[0]] = field[1]
	}
	return handURL(known)
}

// described are the fields of a form that say what is known of a car.
var described = []string{"make", "model", "code", "modelBody", fieldMatched, "year", "cc", "fuel", "price", "basis"}

// keptTerms are the terms that a form about the car does not ask for.
var keptTerms = []string{termFreight, termInsurance, termAgent, termRate, termLanding}

// keptOf returns what is known of a car, and the terms of its answer, as hidden fields.
func keptOf(filled url.Values, without ...string) [][2]string {
	f := form{fields: map[string]string{}}
	for _, name := range slices.Concat(described, keptTerms, []string{termWith}) {
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
	view.Query = view.Value("q")
	view.Last = view.Value("make") != "" && (view.Value("model") != "" || view.Value("modelBody") != "")
	if !view.Last && view.Value("make") != "" {
		var models []string
		var code string
		err := p.inTurn(r.Context(), r, func(ctx context.Context) (err error) {
			models, code, err = p.options.Models(ctx, view.Value("make"), view.Query)
			return err
		})
		if err != nil {
			return err
		}
		if code != "" {
			view.Filled.Set("code", code)
		}
		if view.Models = models; len(models) == 1 && view.Query != "" {
			view.Last = true
			view.Filled.Set("model", models[0])
		}
	}
	if view.Value("make") == "" {
		if err := p.fillMakes(r, &view); err != nil {
			return err
		}
	}
	return p.Render(w, r, status, frame.Screen{Name: "hand", Title: "hand.title", Body: &view})
}

// fillMakes sets the makes: those that have what is searched for, or all.
func (p *Pages) fillMakes(r *http.Request, view *hand) (err error) {
	if view.Query != "" {
		err = p.inTurn(r.Context(), r, func(ctx context.Context) (err error) {
			view.Makes, _, err = p.options.Names(ctx, view.Query)
			return err
		})
		if err != nil || len(view.Makes) > 0 {
			return err
		}
	}
	var list struct {
		Makes []string `json:"makes"`
	}
	err = p.api.Get(r.Context(), "/v1/vehicles?limit="+strconv.Itoa(maxMakes), &list)
	view.Makes = list.Makes
	return err
}

// submitHand starts the estimate of a described car, and leads to the page of its answer.
func (p *Pages) submitHand(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	view := hand{Filled: r.PostForm}
	switch {
	case !readSum(r.PostForm, termPrice, "USD"):
		view.blame("price")
	case r.PostForm.Get(termPrice) != "" && r.PostForm.Get(termBasis) == "": // which decides thousands of dollars
		view.blame("basis")
	}
	if view.Wrong != "" {
		return p.renderHand(w, r, http.StatusUnprocessableEntity, view)
	}
	request, err := plainjson.Encode(quoteRequest(r.PostForm))
	if err != nil {
		return err
	}
	address, err := p.start(r, work{pathQuote, request, termsIn(r.PostForm)})
	var why *problem.Problem
	switch {
	case err == nil:
		http.Redirect(w, r, address, http.StatusSeeOther)
		return nil
	case errors.As(err, &why):
		why.SetHeader(w.Header())
		if view.Problem = sentenceOf(why); why.Status == http.StatusBadRequest {
			view.blame(fieldOf(why.Param))
		}
		return p.renderHand(w, r, statusOf(why), view)
	}
	return err
}

// blame says which field is wrong, and what it should be.
func (h *hand) blame(field string) {
	if slices.Contains(described, field) {
		h.Wrong, h.Problem = field, message.Say("page/wrong."+field, nil)
	}
}

// fieldOf returns the field of a form for a field of the API.
func fieldOf(param string) string {
	switch param = strings.TrimPrefix(param, "known."); param {
	case "engine_cc":
		return "cc"
	case "fobPriceUSD", "cfPriceUSD":
		return "price"
	case "modelCode":
		return "code"
	}
	return param
}

// fieldMatched has the entry that we matched with a page that was sent. A request with it says so
// of its entry; the API does not get that.
const fieldMatched = "matched"

// quoteRequest returns the body of a request to /v1/quote from the fields of a form.
func quoteRequest(form url.Values) map[string]any {
	body := map[string]any{"make": form.Get("make"), "byMonth": true}
	for name, field := range map[string]string{"modelBody": "modelBody", "model": "model", "modelCode": "code"} {
		if value := form.Get(field); value != "" {
			body[name] = value
		}
	}
	if label := form.Get(fieldMatched); label != "" && label == form.Get("modelBody") {
		body[fieldMatched] = label
	}
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
