package match

import (
	"context"

	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra/catalogue"
)

// fuelNames are the authority's names of the fuels, as far as they have been
// observed.
var fuelNames = map[facts.Fuel]string{
	facts.Petrol: "PETROL", facts.Diesel: "DIESEL", facts.DieselHybrid: "DIESEL", facts.Hybrid: "PETROL & ELECTRIC",
}

// expected returns the authority's names of the fuels that the car may have, as far as they are
// known. In a second round, of another year or country, they are both petrol and hybrid: another
// round costs more than one call.
func (r *resolver) expected(second bool) (fuels []string) {
	class := wantedClass(r.car, r.code, r.label)
	if second && (class == facts.Petrol || class == facts.Hybrid || class == "") {
		return []string{fuelNames[facts.Petrol], fuelNames[facts.Hybrid]}
	}
	if name, known := fuelNames[class]; known {
		fuels = append(fuels, name)
	}
	return fuels
}

// prefetcher is a Lister that starts predicted calls early. A predicted call
// waits for its result; any other call is made when it is needed.
type prefetcher struct {
	Lister
	started map[catalogue.Vehicle]chan fetched
}

// fetched is the result of a call.
type fetched struct {
	values []string
	err    error
}

// prefetch requests the countries, fuels and bands of a label at once, for a predicted year,
// country and some fuels. It turns four consecutive calls into one round when the prediction is
// right, and makes needless calls when it is not. Running calls end with the context.
func (p *prefetcher) prefetch(ctx context.Context, label catalogue.Label, yom int, country string, fuels []string) {
	v := catalogue.Vehicle{MakeID: label.Make.ID, ModelBody: label.Text, YOM: yom}
	p.start(ctx, label.Make, v)
	v.Country = country
	p.start(ctx, label.Make, v)
	for _, v.FuelType = range fuels {
		p.start(ctx, label.Make, v)
	}
}

// start starts a call unless it was started before. A result that is never
// waited for is discarded together with its error.
func (p *prefetcher) start(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) {
	if p.started[v] == nil {
		result := make(chan fetched, 1)
		p.started[v] = result
		go func() {
			values, err := p.Lister.List(ctx, mk, v)
			result <- fetched{values, err}
		}()
	}
}

// List returns the next list of a vehicle, from the prefetched call if there is one. It is called
// once for a vehicle.
func (p *prefetcher) List(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	if result := p.started[v]; result != nil {
		got := <-result
		return got.values, got.err
	}
	return p.Lister.List(ctx, mk, v)
}
