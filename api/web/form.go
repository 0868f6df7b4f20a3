package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// form has the fields that repeat a request, and where they go.
type form struct {
	URL    string // of the listing or of the sheet; "" for what has none
	Action string
	Sent   bool // a page that the visitor's browser sent, and that is not kept
	fields map[string]string
}

// formOf returns the form that repeats a request.
func formOf(of *link) (f form, err error) {
	var request struct {
		quoteFields

		URL   string      `json:"url"`
		Known quoteFields `json:"known"`

		Upload string `json:"upload"` // hash of the page
		Text   string `json:"text"`   // the bill
	}
	if err := json.Unmarshal(of.Body, &request); err != nil {
		return f, fmt.Errorf("web: request: %w", err)
	}
	f = form{URL: request.URL, Action: "/go", Sent: request.Upload != "", fields: map[string]string{"u": request.URL}}
	known := request.Known
	switch of.Path {
	case pathReport:
		f.Action = "/s"
		return f, nil
	case pathBill:
		f.Action, f.fields["text"] = "/bill", request.Text
		return f, nil
	case pathQuote:
		known, f.Action, f.fields["make"] = request.quoteFields, "/hand", request.Make
		f.fields[fieldMatched] = request.Matched
	}
	f.fields["modelBody"], f.fields["year"], f.fields["cc"] = request.ModelBody, string(known.Year), string(known.EngineCC)
	f.fields["model"], f.fields["code"], f.fields["fuel"] = request.Model, request.ModelCode, known.Fuel
	for name := range of.terms {
		f.fields[name] = of.terms.Get(name)
	}
	if f.fields[termLanding] < time.Now().In(localtime.Zone).Format(time.DateOnly) {
		delete(f.fields, termLanding) // the past, for what is asked again
	}
	if of.terms.Has(termPrice) && !of.terms.Has(termBasis) { // which the form by hand asks for
		f.fields[termBasis] = "fob"
	}
	if of.terms.Has(termTarget) {
		f.Action = "/bid"
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
		"make": car.Make, "modelBody": label, "fuel": car.Fuel, termPrice: f.fields[termPrice], termBasis: f.fields[termBasis],
		termTarget: f.fields[termTarget], termWith: f.fields[termWith], fieldMatched: label,
	}}
	for _, name := range keptTerms {
		described.fields[name] = f.fields[name]
	}
	for name, value := range map[string]int{"year": car.Year, "cc": car.EngineCC} {
		if value > 0 {
			described.fields[name] = strconv.Itoa(value)
		}
	}
	switch {
	case car.CFPriceUSD != nil:
		described.fields["price"], described.fields["basis"] = car.CFPriceUSD.String(), "cf"
	case car.FOBPriceUSD != nil:
		described.fields["price"], described.fields["basis"] = car.FOBPriceUSD.String(), "fob"
	}
	return described
}

// ofEstimate returns the form that asks for the car of an estimate again.
func (f form) ofEstimate(e *vehicle.Estimate) form {
	read := e.Car
	read.Make = e.Matched.Make
	return f.describing(read, e.Matched.ModelBody)
}

// Fields returns the hidden fields of a form that repeats the request, but for those
// that the form has itself.
func (f form) Fields(without ...string) (hidden [][2]string) {
	for name, value := range f.fields {
		if value != "" && !slices.Contains(without, name) {
			hidden = append(hidden, [2]string{name, value})
		}
	}
	slices.SortFunc(hidden, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return hidden
}

// at returns an address with the fields in its query.
func (f form) at(path string, without ...string) string {
	query := url.Values{}
	for _, field := range f.Fields(without...) {
		query.Set(field[0], field[1])
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// withoutTarget returns the form of the estimate alone.
func (f form) withoutTarget() form {
	f.Action = "/go"
	if f.fields["make"] != "" {
		f.Action = "/hand"
	}
	return f
}

// quoteFields are what a request says of a car.
type quoteFields struct {
	Make      string      `json:"make"`
	Model     string      `json:"model"`
	ModelCode string      `json:"modelCode"`
	ModelBody string      `json:"modelBody"`
	Matched   string      `json:"matched"`
	Year      json.Number `json:"year"`
	EngineCC  json.Number `json:"engine_cc"`
	Fuel      string      `json:"fuel"`
}
