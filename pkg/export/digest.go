package export

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Bounds of what is remembered of all rows.
const (
	maxCheapest = 20
	maxSources  = 100
)

// digest is what the notes and the picture need of all rows.
type digest struct {
	options  Options
	years    *yearRange // of the cars; nil for none
	cheapest []cheap
	states   map[batch.State]int
	codes    map[string]int // why rows have no estimate
	rates    map[string]bool
	bases    map[string]int
	sources  []source
}

// yearRange are the first and the last year of cars.
type yearRange struct{ first, last int }

// cheap is one of the cheapest.
type cheap struct {
	year, row       int
	tzs             int64
	reference, name string
	maxPrice        *int64
}

// source is where the figures of a line of the cost come from.
type source struct{ line, source, date string }

func newDigest(o Options) *digest {
	return &digest{
		options: o, states: map[batch.State]int{}, codes: map[string]int{},
		rates: map[string]bool{}, bases: map[string]int{},
	}
}

// text returns a text of the tables in their language.
func (d *digest) text(name string) string { return message.Say("export/"+name, nil).In(d.options.Lang) }

func (d *digest) add(l Line) {
	d.states[l.State]++
	if l.Code != "" {
		d.codes[l.Code]++
	}
	if l.Basis != "" {
		d.bases[l.Basis]++
	}
	e := l.Estimate
	if e == nil {
		return
	}
	if e.DriveAway != nil {
		d.rates[e.DriveAway.Exchange.Taxes.String()] = true
		d.addSources(e.DriveAway.Lines, e.Tax.ReferenceNumber)
	}
	if e.Summary == nil || e.Summary.OnTheRoad == nil || e.Car.Year == 0 {
		return
	}
	year := e.Car.Year
	if d.years == nil {
		d.years = &yearRange{year, year}
	}
	d.years.first, d.years.last = min(d.years.first, year), max(d.years.last, year)
	found := cheap{year: year, tzs: e.Summary.OnTheRoad.TZS, row: l.Number, reference: l.Reference, name: l.name()}
	if e.MaxPrice != nil && e.MaxPrice.FOB != nil {
		found.maxPrice = e.MaxPrice.FOB.Likely
	}
	d.cheapest = append(d.cheapest, found)
	slices.SortStableFunc(d.cheapest, func(a, b cheap) int { return cmp.Compare(a.tzs, b.tzs) })
	d.cheapest = d.cheapest[:min(len(d.cheapest), maxCheapest)]
}

// addSources remembers the sources of a cost, each once. The authority's reference is
// another in almost every row, and stands there.
func (d *digest) addSources(lines []vehicle.CostLine, reference string) {
	for _, line := range lines {
		one := source{line.Name.In(d.options.Lang), line.Source, line.Date}
		if line.SourceText != nil {
			one.source = line.SourceText.In(d.options.Lang)
		}
		if reference != "" {
			one.source = strings.ReplaceAll(one.source, reference, "…")
		}
		if len(one.date) > len("2006-01-02") { // of an answer, each with its own second
			one.date = one.date[:len("2006-01-02")]
		}
		if len(d.sources) < maxSources && !slices.Contains(d.sources, one) {
			d.sources = append(d.sources, one)
		}
	}
}

// notes are the assumptions and sources of a workbook: what, and its meaning.
func (d *digest) notes() [][2]string {
	codes := make([][2]string, 0, len(d.codes))
	for _, code := range slices.Sorted(maps.Keys(d.codes)) {
		codes = append(codes, [2]string{"  " + code, strconv.Itoa(d.codes[code])})
	}
	columns := []string{"taxes", "lines", "range", "max_price"}
	if d.bases["hammer"]+d.bases["start"] > 0 {
		columns = append(columns, "auction")
	}
	return slices.Concat(d.rowNotes(), codes, d.termNotes(), d.textNotes(columns), d.sourceNotes())
}

func (d *digest) rowNotes() (notes [][2]string) {
	if d.options.Batch != "" {
		notes = append(notes, [2]string{d.text("batch"), d.options.Batch})
	}
	for _, state := range batch.States() {
		if n := d.states[state]; n > 0 {
			notes = append(notes, [2]string{d.text("rows") + " " + d.text("state_"+string(state)), strconv.Itoa(n)})
		}
	}
	return notes
}

func (d *digest) termNotes() (notes [][2]string) {
	add := func(name, value string) {
		if value != "" {
			notes = append(notes, [2]string{d.text(name), value})
		}
	}
	terms, rates := d.options.Terms, slices.Sorted(maps.Keys(d.rates))
	rate, landing := d.text("rate_default"), d.text("landing_default")
	if terms.Rate != nil {
		rate = terms.Rate.String()
	}
	if terms.Landing != nil {
		landing = terms.Landing.From + " – " + terms.Landing.To
	}
	add("rate", rate)
	add("rate_taxes", strings.Join(rates[:min(len(rates), maxCheapest)], ", "))
	if terms.JPYPerUSD != nil {
		add("rate_yen", terms.JPYPerUSD.String())
	}
	if terms.Target != nil {
		add("target", terms.Target.OnTheRoadTZS.String())
	}
	add("landing", landing)
	return notes
}

// textNotes say what columns mean.
func (d *digest) textNotes(names []string) (notes [][2]string) {
	for _, name := range names {
		notes = append(notes, [2]string{d.text(name), d.text(name + "_note")})
	}
	return notes
}

func (d *digest) sourceNotes() (notes [][2]string) {
	for _, s := range d.sources {
		notes = append(notes, [2]string{d.text("source") + ": " + s.line, strings.TrimSuffix(s.source+", "+s.date, ", ")})
	}
	return notes
}
