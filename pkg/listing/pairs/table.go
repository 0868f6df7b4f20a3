package pairs

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// cell pairs a label cell with the next cell. Counting columns would break on
// rowspan. The label may be in a td and the value in a th.
func (f *pairFinder) cell(n *html.Node) bool {
	names := dom.Text(n)
	value := dom.Next(n)
	field := claim.FieldOf(names)
	if field == "" || isSentence(names) {
		return false
	}
	if value != nil && isSeparator(dom.ShortText(value)) {
		value = dom.Next(value)
	}
	if value == nil || !mayBeside(n, value) {
		return true
	}
	values := valueText(field, value)
	if n.DataAtom == atom.Td && claim.FieldOf(values) != "" || isSentence(values) {
		return true // a row of labels, or of cells with their own
	}
	added := f.add(n, value, names, values)
	if third := dom.Next(value); added && third != nil && third.DataAtom == atom.Td && third.DataAtom == value.DataAtom {
		f.pairs[len(f.pairs)-1].Beside = dom.Text(third)
	}
	return added
}

// mayBeside reports whether the kind of a cell can be that of the value of a label's
// cell.
func mayBeside(label, value *html.Node) bool {
	return value.DataAtom == atom.Td || value.DataAtom == atom.Th && label.DataAtom == atom.Td
}

// isSeparator reports the content of a cell between a label and its value.
func isSeparator(s string) bool { return s == ":" || s == "：" || s == "=" }

// strip pairs a row that holds nothing but labels with the row below it, column by
// column. Labels above several rows of values head a list of cars.
func (f *pairFinder) strip(row *html.Node) {
	below := dom.Next(row)
	labels, values := cells(row), cells(below)
	if len(labels) < 2 || len(labels) != len(values) {
		return
	}
	for _, l := range labels {
		if claim.FieldOf(dom.Text(l)) == "" {
			return
		}
	}
	if isValueRow(cells(dom.Next(below)), len(labels)) {
		return
	}
	for i, l := range labels {
		value := dom.Text(values[i])
		if own, _, _ := strings.Cut(value, ":"); claim.FieldOf(own) != "" {
			return // labels again, alone or with their values
		}
		f.add(l, values[i], dom.Text(l), value)
	}
}

// isValueRow reports a row of the same length without labels.
func isValueRow(row []*html.Node, length int) bool {
	if len(row) != length {
		return false
	}
	for _, c := range row {
		if own, _, _ := strings.Cut(dom.Text(c), ":"); claim.FieldOf(own) != "" {
			return false
		}
	}
	return true
}

// cells returns the cells of a row, nil when there are none.
func cells(row *html.Node) (found []*html.Node) {
	if row == nil || row.DataAtom != atom.Tr {
		return nil
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
			found = append(found, c)
		}
	}
	return found
}
