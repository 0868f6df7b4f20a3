package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
)

// Pair is a known label and the text beside it.
type Pair struct {
	Field, Label, Value string
	Group               *html.Node // the table or list that holds it
}

// maxPairs bounds the memory that one page can use.
const maxPairs = 2000

// PairsIn returns the label-value pairs below a node, in document order.
func PairsIn(root *html.Node) (pairs []Pair) {
	for n := range Elements(root) {
		var names, values string
		switch n.DataAtom {
		case atom.Tr:
			pairs = append(pairs, strip(n)...)
			continue
		case atom.Th, atom.Td:
			names, values = cell(n)
		case atom.Dt:
			if dd := next(n); dd != nil && dd.DataAtom == atom.Dd {
				names, values = Text(n), Text(dd)
			}
		case atom.Li:
			names, values = item(n)
		case atom.P, atom.Div:
			names, values = sentence(n)
		default:
			continue
		}
		if field := claim.FieldOf(names); field != "" && len(pairs) < maxPairs {
			pairs = append(pairs, Pair{field, names, values, group(n)})
		}
	}
	return pairs
}

// cell pairs a label cell with the next cell. Counting columns would break on
// rowspan. A cell may also hold its own label: "Model: ROCKY".
func cell(n *html.Node) (names, values string) {
	names = Text(n)
	value := next(n)
	switch {
	case claim.FieldOf(names) == "", isSentence(names):
		return sentence(n)
	case value == nil || value.DataAtom != atom.Td:
		return "", ""
	}
	if values = Text(value); n.DataAtom == atom.Td && claim.FieldOf(values) != "" || isSentence(values) {
		return "", "" // a row of labels, or of cells with their own
	}
	return names, values
}

// isSentence reports a known label and its value in one text: "Steering: -".
func isSentence(s string) bool {
	own, value, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(value) != "" && claim.FieldOf(own) != ""
}

// strip pairs a row that holds nothing but labels with the row below it, column
// by column.
func strip(row *html.Node) (pairs []Pair) {
	below := next(row)
	labels, values := cells(row), cells(below)
	if len(labels) < 2 || len(labels) != len(values) {
		return nil
	}
	for _, l := range labels {
		if claim.FieldOf(l) == "" {
			return nil
		}
	}
	for i, l := range labels {
		if own, _, _ := strings.Cut(values[i], ":"); claim.FieldOf(own) != "" {
			return nil // labels again, alone or with their values
		}
		pairs = append(pairs, Pair{claim.FieldOf(l), l, values[i], group(row)})
	}
	return pairs
}

// cells returns the texts of a row, nil when there is none.
func cells(row *html.Node) (texts []string) {
	if row == nil || row.DataAtom != atom.Tr {
		return nil
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
			texts = append(texts, Text(c))
		}
	}
	return texts
}

// item reads a list item: two elements, label and value, or a sentence.
func item(n *html.Node) (names, values string) {
	var parts []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			parts = append(parts, c)
		} else if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return sentence(n)
		}
	}
	if len(parts) == 2 && flat(parts[0]) && flat(parts[1]) {
		return Text(parts[0]), Text(parts[1])
	}
	return sentence(n)
}

// flat reports an element that can be half of a list item: a label or a value.
func flat(n *html.Node) bool {
	return inline[n.DataAtom] || n.DataAtom == atom.P || n.DataAtom == atom.Div
}

// sentence reads "Label: value" from an element that holds only text.
func sentence(n *html.Node) (names, values string) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !inline[c.DataAtom] && c.DataAtom != atom.Br {
			return "", ""
		}
	}
	names, values, ok := strings.Cut(Text(n), ":")
	if !ok {
		return "", ""
	}
	return names, strings.TrimSpace(values)
}

// group returns the table or list around a node, else its parent.
func group(n *html.Node) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Table, atom.Dl, atom.Ul, atom.Ol:
			return p
		}
	}
	return n.Parent
}
