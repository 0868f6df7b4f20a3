package tratest

import (
	"bytes"
	_ "embed" // for catalogue.csv
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// CHASSIS_LISTS is the directory of the two lists that internal/gen reads.
//
//go:generate go run ./internal/gen -from $CHASSIS_LISTS -to catalogue.csv

// The catalogue: chassis codes are real (Source: MLIT, 自動車燃費一覧, edited;
// and general knowledge), years and values are invented.
//
//go:embed catalogue.csv
var catalogueCSV []byte

// entry is one label with what can be asked about it.
type entry struct {
	label                   string
	fuels, bands, countries []string
	years                   []int
	asNew                   decimal.Decimal // CIF in USD of the car as new
}

// index is the catalogue under the make ids of one seed.
type index struct {
	names  []string // in the order of the file
	ids    map[string]int
	labels map[int][]*entry // in the order of the file
}

// newIndex numbers the makes with seven digits, as the authority does, and
// differently for each seed: ids are nothing to remember.
func newIndex(seed uint64) (*index, error) {
	reader := csv.NewReader(bytes.NewReader(catalogueCSV))
	reader.Comment = '#'
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("tratest: catalogue: %w", err)
	}
	ix := &index{ids: map[string]int{}, labels: map[int][]*entry{}}
	random := rand.New(rand.NewPCG(seed, 0x7261))
	for _, record := range records[1:] {
		name := record[0]
		if ix.ids[name] == 0 {
			id := 1_000_000 + random.IntN(9_000_000)
			for ix.name(id) != "" {
				id++
			}
			ix.ids[name] = id
			ix.names = append(ix.names, name)
		}
		if record[1] == "" { // a make without vehicles
			continue
		}
		e, err := newEntry(record[1:])
		if err != nil {
			return nil, fmt.Errorf("tratest: catalogue: %s: %w", record[1], err)
		}
		ix.labels[ix.ids[name]] = append(ix.labels[ix.ids[name]], e)
	}
	return ix, nil
}

func newEntry(fields []string) (*entry, error) {
	e := &entry{
		label: fields[0], fuels: strings.Split(fields[1], "|"), bands: strings.Split(fields[2], "|"),
		countries: strings.Split(fields[3], "|"),
	}
	for run := range strings.SplitSeq(fields[4], "|") {
		from, to, isRange := strings.Cut(run, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("years %q", run)
		}
		for year := first; year <= last; year++ {
			e.years = append(e.years, year)
		}
	}
	var err error
	e.asNew, err = money.ParseDecimal(fields[5])
	return e, err
}

// name is the make of an id, "" when there is none.
func (ix *index) name(id int) string {
	for name, known := range ix.ids {
		if known == id {
			return name
		}
	}
	return ""
}

// find returns nil for a label that the make does not have.
func (ix *index) find(id int, label string) *entry {
	for _, e := range ix.labels[id] {
		if e.label == label {
			return e
		}
	}
	return nil
}

// writtenOff is the share of the value as new that is written off at an age in
// years, in percent: the steps of the authority's method of 2011, as copied in
// forums. Over ten years copies differ: 75 is used up to 15 years, then 80.
var writtenOff = []int64{10, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70}

// cif is the customs value in whole USD at an age in years.
func (e *entry) cif(age int) decimal.Decimal {
	off := int64(75)
	switch {
	case age < len(writtenOff):
		off = writtenOff[age]
	case age > 15:
		off = 80
	}
	return e.asNew.Mul(decimal.New(100-off, -2)).Round(0)
}
