package match

import (
	"context"
	"sync"

	"ushuru/pkg/tra"
)

// foreseen is the most likely way through a label's lists.
type foreseen struct {
	yom           int
	country, fuel string // fuel is empty when it cannot be foreseen
}

// authorityWords are the authority's words for the fuels, as far as they have
// been seen.
var authorityWords = map[fuelClass]string{
	petrol: "PETROL", diesel: "DIESEL", dieselHybrid: "DIESEL", hybrid: "PETROL & ELECTRIC",
}

// foresee expects the listed year, Japan, and the authority's word for the
// car's fuel as far as that word has been seen.
func (w *walk) foresee() foreseen {
	return foreseen{w.car.Year, japan, authorityWords[wantedClass(w.car, w.code, w.label)]}
}

// ahead is a Lister that has asked the foreseen questions already. A question
// that was foreseen waits for its answer; any other is asked then.
type ahead struct {
	Lister
	foreseen
	countries, fuels, capacities func() ([]string, error)
}

// askAhead asks countries, fuels and bands of the foreseen way at once, beside
// the years. It turns four calls in a row into one round where the year, the
// country and the fuel are as foreseen, and costs up to three calls in vain
// where they are not. What is still being asked ends with the context.
func askAhead(ctx context.Context, label tra.Label, f foreseen, lists Lister) Lister {
	a := &ahead{Lister: lists, foreseen: f}
	a.countries = begin(func() ([]string, error) { return lists.Countries(ctx, label.Make, label.Text, f.yom) })
	a.fuels = begin(func() ([]string, error) { return lists.Fuels(ctx, label.Make, label.Text, f.yom, f.country) })
	if f.fuel != "" {
		a.capacities = begin(func() ([]string, error) {
			return lists.Capacities(ctx, label.Make, label.Text, f.yom, f.country, f.fuel)
		})
	}
	return a
}

// begin starts a call; the function returned waits for its answer. An answer
// that nobody waits for is dropped, its error too.
func begin(call func() ([]string, error)) func() ([]string, error) {
	answer := sync.OnceValues(call)
	go func() { _, _ = answer() }()
	return answer
}

func (a *ahead) Countries(ctx context.Context, mk tra.Make, modelBody string, yom int) ([]string, error) {
	if yom == a.yom {
		return a.countries()
	}
	return a.Lister.Countries(ctx, mk, modelBody, yom)
}

func (a *ahead) Fuels(ctx context.Context, mk tra.Make, modelBody string, yom int, country string) ([]string, error) {
	if yom == a.yom && country == a.country {
		return a.fuels()
	}
	return a.Lister.Fuels(ctx, mk, modelBody, yom, country)
}

func (a *ahead) Capacities(ctx context.Context, mk tra.Make, modelBody string, yom int, country, fuel string) ([]string, error) {
	if a.capacities != nil && yom == a.yom && country == a.country && fuel == a.fuel {
		return a.capacities()
	}
	return a.Lister.Capacities(ctx, mk, modelBody, yom, country, fuel)
}
