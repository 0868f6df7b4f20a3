package match

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"ushuru/pkg/tra"
)

// LoadCatalogueCSV reads a catalogue from comma-separated text with a header
// row. The columns make and label are needed, others are ignored, and so are
// lines that begin with #. The makes are numbered from 1 in their order: such
// numbers mean nothing to the authority.
func LoadCatalogueCSV(in io.Reader) (*tra.Catalogue, error) {
	buffered := bufio.NewReader(in)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3)
	}
	r := csv.NewReader(buffered)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("match: catalogue: header: %w", err)
	}
	mk, label := slices.Index(header, "make"), slices.Index(header, "label")
	if mk < 0 || label < 0 {
		return nil, errors.New("match: catalogue: the header needs the columns make and label")
	}
	var makes []tra.MakeLabels
	index := map[string]int{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return tra.NewCatalogue(makes), nil
		}
		if err != nil {
			return nil, fmt.Errorf("match: catalogue: %w", err)
		}
		if len(row) <= max(mk, label) || row[mk] == "" || row[label] == "" {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("match: catalogue: line %d has no make or no label", line)
		}
		i, known := index[row[mk]]
		if !known {
			i = len(makes)
			index[row[mk]] = i
			makes = append(makes, tra.MakeLabels{Make: tra.Make{ID: i + 1, Name: row[mk]}})
		}
		makes[i].Labels = append(makes[i].Labels, row[label])
	}
}
