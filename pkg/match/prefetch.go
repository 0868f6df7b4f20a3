package match

import (
	"context"

	"ushuru/pkg/tra"
)

// prediction is the most likely path through the authority's lists of a label.
type prediction struct {
	yom     int
	country string
	fuels   []string // the authority's names, the most likely first; empty when the fuel is not known
}

// fuelNames are the authority's names of the fuels, as far as they have been
// observed.
var fuelNames = map[fuelClass]string{
	petrol: "PETROL", diesel: "DIESEL", dieselHybrid: "DIESEL", hybrid: "PETROL & ELECTRIC",
}

// predict expects the listed year, Japan, and the authority's name of the
// car's fuel.
func (r *resolver) predict() prediction {
	f := prediction{yom: r.car.Year, country: japan}
	if word, ok := fuelNames[wantedClass(r.car, r.code, r.label)]; ok {
		f.fuels = []string{word}
	}
	return f
}

// predictForYear expects, when the authority's year differs from the listed
// one, both petrol and hybrid, because another round costs more than one call.
func (r *resolver) predictForYear() prediction {
	f := r.predict()
	f.yom = r.tuple.YOM
	if class := wantedClass(r.car, r.code, r.label); class == petrol || class == hybrid || class == "" {
		f.fuels = []string{fuelNames[petrol], fuelNames[hybrid]}
	}
	return f
}

// prefetcher is a Lister that starts predicted calls early. A predicted call
// waits for its result; any other call is made when it is needed.
type prefetcher struct {
	Lister
	pending map[tra.Vehicle]*future
}

// future is the result of a running call. Its list and error are set when done
// is closed.
type future struct {
	done chan struct{}
	list []string
	err  error
}

// prefetch requests the countries, fuels and bands of a prediction at once. It
// turns four consecutive calls into one round when the prediction is right,
// and makes needless calls when it is not. Running calls end with the context.
func (p *prefetcher) prefetch(ctx context.Context, label tra.Label, f prediction) {
	v := tra.Vehicle{MakeID: label.Make.ID, ModelBody: label.Text, YOM: f.yom}
	p.start(ctx, label.Make, v)
	v.Country = f.country
	p.start(ctx, label.Make, v)
	for _, v.FuelType = range f.fuels {
		p.start(ctx, label.Make, v)
	}
}

// start starts a call unless it was started before. A result that is never
// waited for is discarded together with its error.
func (p *prefetcher) start(ctx context.Context, mk tra.Make, v tra.Vehicle) {
	if _, ok := p.pending[v]; ok {
		return
	}
	result := &future{done: make(chan struct{})}
	p.pending[v] = result
	go func() {
		defer close(result.done)
		result.list, result.err = p.Lister.List(ctx, mk, v)
	}()
}

// List returns the next list of a vehicle, from the prefetched call if there is one.
func (p *prefetcher) List(ctx context.Context, mk tra.Make, v tra.Vehicle) ([]string, error) {
	if answer, ok := p.pending[v]; ok {
		<-answer.done
		return answer.list, answer.err
	}
	return p.Lister.List(ctx, mk, v)
}
