// Package pairs finds the labels of a page with the values beside them, in any markup:
// tables, lists, rows of boxes, lines of text.
package pairs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// Pair is a known label and the text beside it.
type Pair struct {
	Field, Label, Value string
	Node                *html.Node // the element of the label
	Group               *html.Node // the table, list or box that holds it
	Row                 *html.Node // of a loose pair: the largest element with no other pair
	Loose               bool       // the label is outside a table or list
	Struck              bool       // the value is struck out
	Beside              string     // the text of the cell after the value, "" for none
}

// maxPairs bounds the memory that one page can use.
const maxPairs = 2000

// pairFinder collects the pairs of a page.
type pairFinder struct {
	budget *dom.Budget
	pairs  []Pair
	seen   map[*html.Node]bool // labels that a table or list has paired
	stock  bool                // a table has a car in each row
}

// In returns the label-value pairs below a node, in document order, and whether a table
// there has a car in each row. Each element is a step of the reading.
func In(budget *dom.Budget, root *html.Node) (found []Pair, hasStock bool) {
	f := &pairFinder{budget: budget, seen: map[*html.Node]bool{}}
	if root != nil {
		f.walk(root, dom.AnyAncestor(root, isControl))
	}
	f.pairs = f.pairs[:min(len(f.pairs), maxPairs)]
	f.groupLoose()
	return f.pairs, f.stock
}

// walk reads an element and those in it. An HTML parser bounds the depth.
func (f *pairFinder) walk(n *html.Node, inControl bool) {
	f.budget.Spend(1)
	inControl = inControl || isControl(n)
	f.read(n, inControl)
	for c := n.FirstChild; c != nil && len(f.pairs) < maxPairs; c = c.NextSibling {
		if c.Type == html.ElementNode && !dom.IsHidden(c) {
			f.walk(c, inControl)
		}
	}
}

// read adds the pairs that begin at an element.
func (f *pairFinder) read(n *html.Node, inControl bool) {
	switch n.DataAtom {
	case atom.Tr:
		f.strip(n)
	case atom.Th, atom.Td:
		if !f.cell(n) {
			f.lines(n)
		}
	case atom.Dt:
		if dd := dom.Next(n); dd != nil && dd.DataAtom == atom.Dd {
			names := dom.Text(n)
			f.add(n, dd, names, valueText(claim.FieldOf(names), dd))
		}
	case atom.Li, atom.Dd:
		if !f.leading(n) {
			f.lines(n)
		}
	case atom.P, atom.Div, atom.Pre, atom.Span, atom.B, atom.Strong, atom.Em, atom.Small, atom.Font, atom.I, 0:
		if inControl || !f.element(n) && !f.paragraph(n) {
			f.lines(n)
		}
	case atom.Label, atom.Figcaption, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if !inControl {
			f.element(n)
		}
	}
}

// add adds a pair when the label is known. A value that is struck out is marked.
func (f *pairFinder) add(label, value *html.Node, names, values string) bool {
	field := claim.FieldOf(names)
	if field == "" || f.seen[label] || value != nil && dom.IsHidden(value) {
		return false
	}
	f.seen[label] = true
	table := group(label)
	p := Pair{Field: field, Label: names, Value: claim.ValueUnder(names, values), Node: label, Group: table, Loose: table == nil}
	p.Struck = value != nil && (dom.AnyAncestor(value, dom.IsStruck) || values == "" && dom.HasElement(value, dom.IsStruck))
	f.pairs = append(f.pairs, p)
	return true
}

// paragraph pairs the text at the beginning of a paragraph with the element after it.
func (f *pairFinder) paragraph(n *html.Node) bool { return n.DataAtom == atom.P && f.leading(n) }

// hasPair reports whether the element or an element in it has given the field.
func (f *pairFinder) hasPair(n *html.Node, field string) bool {
	for i := len(f.pairs) - 1; i >= 0 && i >= len(f.pairs)-20; i-- {
		if p := f.pairs[i]; p.Field == field && (p.Node == n || p.Node.Parent == n) {
			return true
		}
	}
	return false
}

// isLabel reports an element that contains only a known label.
func isLabel(n *html.Node) bool {
	return n != nil && n.DataAtom != atom.Br && claim.FieldOf(dom.ShortText(n)) != ""
}

// isSentence reports a known label and its value in one text: "Steering: -".
func isSentence(s string) bool {
	own, value, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(value) != "" && claim.FieldOf(own) != ""
}

// IsItem reports an element that holds a label and its value, or one of them.
func IsItem(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Td, atom.Th, atom.Li, atom.Dd, atom.Dt, atom.Tr:
		return true
	}
	return false
}

// group returns the table or list around a node, nil when there is none.
func group(n *html.Node) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Table, atom.Dl, atom.Ul, atom.Ol:
			return p
		}
	}
	return nil
}

// groupLoose groups the pairs outside tables and lists: a row is the largest element
// with one pair, and its parent holds the rows that belong together.
func (f *pairFinder) groupLoose() {
	count := Count(f.pairs)
	for i := range f.pairs {
		p := &f.pairs[i]
		if p.Group != nil {
			continue
		}
		row := p.Node
		for up := row.Parent; up != nil && up.Type == html.ElementNode && up.DataAtom != atom.Body; up = up.Parent {
			if count[up] != count[row] {
				break
			}
			row = up
		}
		p.Row, p.Group = row, row.Parent
		if count[row] > 1 {
			p.Group = row
		}
	}
}

// Count returns the number of label-value pairs in each element.
func Count(pairs []Pair) map[*html.Node]int {
	count := map[*html.Node]int{}
	for _, p := range pairs {
		for n := p.Node; n != nil; n = n.Parent {
			count[n]++
		}
	}
	return count
}

// Fields returns the fields of the pairs in each element, as a set of bits.
func Fields(pairs []Pair) map[*html.Node]uint64 {
	bits, sets := map[string]uint64{}, map[*html.Node]uint64{}
	for _, p := range pairs {
		if bits[p.Field] == 0 {
			bits[p.Field] = 1 << (len(bits) % 64)
		}
		for n := p.Node; n != nil; n = n.Parent {
			sets[n] |= bits[p.Field]
		}
	}
	return sets
}

// breakable are the fields whose values pages break by <br>: codes and numbers.
var breakable = map[string]bool{
	claim.FieldCode: true, claim.FieldChassis: true, claim.FieldFrame: true, claim.FieldEngine: true, claim.FieldPrice: true,
	claim.FieldCF: true, claim.FieldMileage: true,
}

// brokenLine stands for a line break inside a value.
const brokenLine = '\u2424'

// valueText returns the text of the value of a field. A code or a number that a line
// break divides is joined: half of it would be another value.
func valueText(field string, value *html.Node) string {
	if !breakable[field] || !hasBreak(value) {
		return dom.Text(value)
	}
	parts := strings.Split(claim.Clean(dom.VisibleText(value, brokenLine)), string(brokenLine))
	joined := strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		part = strings.TrimSpace(part)
		if !isBroken(field, joined, part) {
			joined += " "
		}
		joined += part
	}
	return claim.Clean(joined)
}

func hasBreak(n *html.Node) bool {
	return dom.HasElement(n, func(e *html.Node) bool { return e.DataAtom == atom.Br })
}

// isBroken reports that two lines are the halves of one code or number.
func isBroken(field, before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	switch field {
	case claim.FieldCode, claim.FieldChassis, claim.FieldFrame:
		own := before[strings.LastIndexByte(before, '-')+1:]
		isEnd := strings.IndexFunc(after, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 && len(after) <= 3
		return last == '-' || first == '-' || first == '*' ||
			unicode.IsDigit(first) && (isEnd || !strings.ContainsFunc(own, unicode.IsDigit))
	}
	return (unicode.IsDigit(last) || last == ',') && (unicode.IsDigit(first) || first == ',')
}
