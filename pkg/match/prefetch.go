package match

import (
	"context"

	"ushuru/pkg/tra"
)

// foreseen is the most likely way through a label's lists.
type foreseen struct {
	yom     int
	country string
	fuels   []string // the authority's words, the likeliest first; empty when none can be foreseen
}

// authorityWords are the authority's words for the fuels, as far as they have
// been seen.
var authorityWords = map[fuelClass]string{
	petrol: "PETROL", diesel: "DIESEL", dieselHybrid: "DIESEL", hybrid: "PETROL & ELECTRIC",
}

// foresee expects the listed year, Japan, and the authority's word for the
// car's fuel as far as that word has been seen.
func (w *walk) foresee() foreseen {
	f := foreseen{yom: w.car.Year, country: japan}
	if word, ok := authorityWords[wantedClass(w.car, w.code, w.label)]; ok {
		f.fuels = []string{word}
	}
	return f
}

// foreseeAgain expects, once the year turned out to be another, the petrol car
// and its hybrid both: a further round would cost more than the call.
func (w *walk) foreseeAgain() foreseen {
	f := w.foresee()
	f.yom = w.tuple.YOM
	if class := wantedClass(w.car, w.code, w.label); class == petrol || class == hybrid || class == "" {
		f.fuels = []string{authorityWords[petrol], authorityWords[hybrid]}
	}
	return f
}

// ahead is a Lister that asks questions before they are put to it. A question
// that was foreseen waits for its answer; any other is asked then.
type ahead struct {
	Lister
	begun map[listKey]*answerTo
}

// listKey is a question about one of the three lists that depend on a year.
type listKey struct {
	yom           int
	country, fuel string // both empty: the countries; fuel empty: the fuels
}

// expect asks countries, fuels and bands of the foreseen way at once. It turns
// four calls in a row into one round where the year, the country and the fuel
// are as foreseen, and costs calls in vain where they are not. What is still
// being asked ends with the context.
func (a *ahead) expect(ctx context.Context, label tra.Label, f foreseen) {
	a.begin(listKey{yom: f.yom}, func() ([]string, error) { return a.Lister.Countries(ctx, label.Make, label.Text, f.yom) })
	a.begin(listKey{f.yom, f.country, ""}, func() ([]string, error) {
		return a.Lister.Fuels(ctx, label.Make, label.Text, f.yom, f.country)
	})
	for _, fuel := range f.fuels {
		a.begin(listKey{f.yom, f.country, fuel}, func() ([]string, error) {
			return a.Lister.Capacities(ctx, label.Make, label.Text, f.yom, f.country, fuel)
		})
	}
}

// begin starts a call that was not started yet. An answer that nobody waits
// for is dropped, its error too.
func (a *ahead) begin(question listKey, call func() ([]string, error)) {
	if _, begun := a.begun[question]; begun {
		return
	}
	coming := &answerTo{done: make(chan struct{})}
	a.begun[question] = coming
	go func() {
		defer close(coming.done)
		coming.list, coming.err = call()
	}()
}

// answerTo is an answer that is on its way until done is closed.
type answerTo struct {
	done chan struct{}
	list []string
	err  error
}

func (a *answerTo) wait() ([]string, error) {
	<-a.done
	return a.list, a.err
}

// Countries are the label's countries, asked already or now.
func (a *ahead) Countries(ctx context.Context, mk tra.Make, modelBody string, yom int) ([]string, error) {
	if answer, begun := a.begun[listKey{yom: yom}]; begun {
		return answer.wait()
	}
	return a.Lister.Countries(ctx, mk, modelBody, yom)
}

// Fuels are the label's fuels, asked already or now.
func (a *ahead) Fuels(ctx context.Context, mk tra.Make, modelBody string, yom int, country string) ([]string, error) {
	if answer, begun := a.begun[listKey{yom, country, ""}]; begun {
		return answer.wait()
	}
	return a.Lister.Fuels(ctx, mk, modelBody, yom, country)
}

// Capacities are the label's bands, asked already or now.
func (a *ahead) Capacities(ctx context.Context, mk tra.Make, modelBody string, yom int, country, fuel string) ([]string, error) {
	if answer, begun := a.begun[listKey{yom, country, fuel}]; begun {
		return answer.wait()
	}
	return a.Lister.Capacities(ctx, mk, modelBody, yom, country, fuel)
}
