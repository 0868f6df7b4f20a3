package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// maxEntries is how many entries of the authority's list a page shows.
const maxEntries = 40

// Taxes returns what the authority's known answers say a car is taxed as some entries of
// a make, by the entry. It never asks the authority.
type Taxes func(ctx context.Context, car vehicle.Car, labels []string) (map[string]money.Amount, error)

// choice is the page where a visitor chooses another entry of the authority's list.
type choice struct {
	Name    string
	Back    string // address of the answer
	Here    string // address of this page
	Query   string
	Total   int // entries that fit the query
	Shown   int
	Current string
	Entries []entry
	Request form
}

// entry is one entry of the authority's list.
type entry struct {
	ModelBody string        `json:"modelBody"`
	Taxes     *money.Amount `json:"-"` // nil when the authority has not been asked yet
}

// choose responds with the entries of the car's make that fit what the visitor typed, at
// first the name of the model. The taxes of each stand beside it where they are known.
func (p *Pages) choose(w http.ResponseWriter, r *http.Request) error {
	token := mux.Vars(r)["token"]
	found, err := p.links.find(r.Context(), token)
	if err != nil {
		return err
	}
	car, current, err := carOf(found)
	if err != nil {
		return err
	}
	request, err := formOf(found.Path, found.Body)
	if err != nil {
		return err
	}
	view := choice{
		Name: nameOf(car), Back: "/e/" + token, Here: r.URL.Path, Current: current, Request: request.describing(car, current),
		Query: firstWord(car.Model),
	}
	if query := r.URL.Query(); query.Has("q") {
		view.Query = query.Get("q")[:min(len(query.Get("q")), 100)]
	}
	if err := p.entries(r.Context(), car, &view); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, screen{Name: "choose", Title: "choose.title", Body: view})
}

// entries fills in the entries of a make.
func (p *Pages) entries(ctx context.Context, car vehicle.Car, view *choice) error {
	var list struct {
		Total    int     `json:"total"`
		Vehicles []entry `json:"vehicles"`
	}
	query := url.Values{"make": {car.Make}, "q": {view.Query}, "limit": {strconv.Itoa(maxEntries)}}
	if err := p.api.get(ctx, "/v1/vehicles?"+query.Encode(), &list); err != nil {
		return err
	}
	labels := make([]string, len(list.Vehicles))
	for i, e := range list.Vehicles {
		labels[i] = e.ModelBody
	}
	taxes, err := p.options.Taxes(ctx, car, labels)
	if err != nil {
		return err
	}
	for i, e := range list.Vehicles {
		if amount, known := taxes[e.ModelBody]; known {
			list.Vehicles[i].Taxes = &amount
		}
	}
	view.Total, view.Shown, view.Entries = list.Total, len(list.Vehicles), list.Vehicles
	return nil
}

// carOf returns the car of a link as far as it was read, and the entry that was used.
func carOf(found *link) (car vehicle.Car, current string, err error) {
	if found.Shown == nil {
		return car, "", errUnknown
	}
	if found.Shown.Failed != nil {
		var why vehicle.Error
		if err := json.Unmarshal(found.Shown.Failed, &why); err != nil {
			return car, "", fmt.Errorf("web: error of a link: %w", err)
		}
		if why.Car == nil || why.Car.Make == "" {
			return car, "", errUnknown
		}
		return *why.Car, "", nil
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(found.Shown.Result, &estimate); err != nil {
		return car, "", fmt.Errorf("web: estimate: %w", err)
	}
	car = estimate.Car
	car.Make = estimate.Matched.Make
	return car, estimate.Matched.ModelBody, nil
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word
}
