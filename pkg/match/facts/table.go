package facts

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"ushuru/pkg/tra/catalogue"
)

// LoadCSV reads a catalogue from comma-separated text with a header
// row, and what it says of the labels' cars. The columns make and label are
// needed; cc, fuel, year_from and year_to give facts where the header has
// them; others are ignored, and so are lines that begin with #. The makes are
// numbered from 1 in their order: such numbers mean nothing to the authority.
func LoadCSV(in io.Reader) (*catalogue.Catalogue, Facts, error) {
	buffered := bufio.NewReader(in)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("match: catalogue: header: %w", err)
	}
	table := catalogueTable{header: header, index: map[string]int{}, facts: Facts{}}
	if !slices.Contains(header, "make") || !slices.Contains(header, "label") {
		return nil, nil, errors.New("match: catalogue: the header needs the columns make and label")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return catalogue.New(table.makes), table.facts, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("match: catalogue: %w", err)
		}
		if !table.add(row) {
			line, _ := r.FieldPos(0)
			return nil, nil, fmt.Errorf("match: catalogue: line %d has no make or no label", line)
		}
	}
}

// catalogueTable is a catalogue that is being read.
type catalogueTable struct {
	header []string
	makes  []catalogue.MakeLabels
	index  map[string]int // of a make in makes
	facts  Facts
}

// add takes a row; it reports false for one without make or label.
func (t *catalogueTable) add(row []string) bool {
	cell := func(name string) string {
		if i := slices.Index(t.header, name); i >= 0 && i < len(row) {
			return row[i]
		}
		return ""
	}
	mk, label := cell("make"), cell("label")
	if mk == "" || label == "" {
		return false
	}
	i, known := t.index[mk]
	if !known {
		i = len(t.makes)
		t.index[mk] = i
		t.makes = append(t.makes, catalogue.MakeLabels{Make: catalogue.Make{ID: i + 1, Name: mk}})
	}
	t.makes[i].Labels = append(t.makes[i].Labels, label)
	fact := readFact(cell("cc"), cell("fuel"), cell("year_from"), cell("year_to"))
	if key := (Key{mk, label}); fact != (Fact{}) {
		if other, twice := t.facts[key]; twice {
			fact = common(fact, other)
		}
		t.facts[key] = fact
	}
	return true
}
