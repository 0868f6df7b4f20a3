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
	pending map[listKey]*future
}

// listKey identifies a call for one of the three lists that depend on a year.
type listKey struct {
	yom           int
	country, fuel string // both empty: the countries; fuel empty: the fuels
}

// prefetch requests the countries, fuels and bands of a prediction at once. It
// turns four consecutive calls into one round when the prediction is right,
// and makes needless calls when it is not. Running calls end with the context.
func (p *prefetcher) prefetch(ctx context.Context, label tra.Label, f prediction) {
	p.start(listKey{yom: f.yom}, func() ([]string, error) { return p.Lister.Countries(ctx, label.Make, label.Text, f.yom) })
	p.start(listKey{f.yom, f.country, ""}, func() ([]string, error) {
		return p.Lister.Fuels(ctx, label.Make, label.Text, f.yom, f.country)
	})
	for _, fuel := range f.fuels {
		p.start(listKey{f.yom, f.country, fuel}, func() ([]string, error) {
			return p.Lister.Capacities(ctx, label.Make, label.Text, f.yom, f.country, fuel)
		})
	}
}

// start starts a call unless it was started before. A result that is never
// waited for is discarded together with its error.
func (p *prefetcher) start(key listKey, call func() ([]string, error)) {
	if _, ok := p.pending[key]; ok {
		return
	}
	result := &future{done: make(chan struct{})}
	p.pending[key] = result
	go func() {
		defer close(result.done)
		result.list, result.err = call()
	}()
}

// future is the result of a running call. Its list and error are set when done
// is closed.
type future struct {
	done chan struct{}
	list []string
	err  error
}

func (f *future) wait() ([]string, error) {
	<-f.done
	return f.list, f.err
}

// Countries returns the label's countries, from the prefetched call if there is one.
func (p *prefetcher) Countries(ctx context.Context, mk tra.Make, modelBody string, yom int) ([]string, error) {
	if answer, ok := p.pending[listKey{yom: yom}]; ok {
		return answer.wait()
	}
	return p.Lister.Countries(ctx, mk, modelBody, yom)
}

// Fuels returns the label's fuels, from the prefetched call if there is one.
func (p *prefetcher) Fuels(ctx context.Context, mk tra.Make, modelBody string, yom int, country string) ([]string, error) {
	if answer, ok := p.pending[listKey{yom, country, ""}]; ok {
		return answer.wait()
	}
	return p.Lister.Fuels(ctx, mk, modelBody, yom, country)
}

// Capacities returns the label's bands, from the prefetched call if there is one.
func (p *prefetcher) Capacities(
	ctx context.Context, mk tra.Make, modelBody string, yom int, country, fuel string,
) ([]string, error) {
	if answer, ok := p.pending[listKey{yom, country, fuel}]; ok {
		return answer.wait()
	}
	return p.Lister.Capacities(ctx, mk, modelBody, yom, country, fuel)
}
