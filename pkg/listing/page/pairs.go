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
	pairs []Pair
	seen  map[*html.Node]bool // labels that a table or list has paired
}

// PairsIn returns the label-value pairs below a node, in document order.
func PairsIn(root *html.Node) []Pair {
	f := &pairFinder{seen: map[*html.Node]bool{}}
	for n := range Elements(root) {
		f.read(n)
		if len(f.pairs) >= maxPairs {
			f.pairs = f.pairs[:maxPairs]
			break
		}
	}
	f.groupLoose()
	return f.pairs
}

// read adds the pairs that begin at an element.
func (f *pairFinder) read(n *html.Node) {
	switch n.DataAtom {
	case atom.Tr:
		f.strip(n)
	case atom.Th, atom.Td:
		if !f.cell(n) {
			f.lines(n)
		}
	case atom.Dt:
		if dd := next(n); dd != nil && dd.DataAtom == atom.Dd {
			names := Text(n)
			f.add(n, dd, names, valueText(claim.FieldOf(names), dd))
		}
	case atom.Li, atom.Dd:
		f.lines(n)
	case atom.P, atom.Div:
		if !f.element(n) {
			f.lines(n)
		}
	case atom.Span, atom.B, atom.Strong, atom.Em, atom.Label, atom.Small, atom.Font, atom.I,
		atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		f.element(n)
	}
}

// add adds a pair when the label is known. A value that is struck out is marked.
func (f *pairFinder) add(label, value *html.Node, names, values string) bool {
	field := claim.FieldOf(names)
	if field == "" || f.seen[label] {
		return false
	}
	f.seen[label] = true
	table := group(label)
	p := Pair{Field: field, Label: names, Value: values, Node: label, Group: table, Loose: table == nil}
	p.Struck = value != nil && AnyAncestor(value, IsStruck)
	f.pairs = append(f.pairs, p)
	return true
}

// cell pairs a label cell with the next cell. Counting columns would break on
// rowspan. The label may be in a td and the value in a th.
func (f *pairFinder) cell(n *html.Node) bool {
	names := Text(n)
	value := next(n)
	field := claim.FieldOf(names)
	if field == "" || isSentence(names) {
		return false
	}
	if value == nil || value.DataAtom != atom.Td && (value.DataAtom != atom.Th || n.DataAtom != atom.Td) {
		return true
	}
	values := valueText(field, value)
	if n.DataAtom == atom.Td && claim.FieldOf(values) != "" || isSentence(values) {
		return true // a row of labels, or of cells with their own
	}
	added := f.add(n, value, names, values)
	if third := next(value); added && third != nil && third.DataAtom == atom.Td && third.DataAtom == value.DataAtom {
		f.pairs[len(f.pairs)-1].Beside = Text(third)
	}
	return added
}

// isSentence reports a known label and its value in one text: "Steering: -".
func isSentence(s string) bool {
	own, value, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(value) != "" && claim.FieldOf(own) != ""
}

// strip pairs a row that holds nothing but labels with the row below it, column by
// column. Labels above several rows of values head a list of cars.
func (f *pairFinder) strip(row *html.Node) {
	below := next(row)
	labels, values := cells(row), cells(below)
	if len(labels) < 2 || len(labels) != len(values) {
		return
	}
	for _, l := range labels {
		if claim.FieldOf(Text(l)) == "" {
			return
		}
	}
	if isValueRow(cells(next(below)), len(labels)) {
		return
	}
	for i, l := range labels {
		value := Text(values[i])
		if own, _, _ := strings.Cut(value, ":"); claim.FieldOf(own) != "" {
			return // labels again, alone or with their values
		}
		f.add(l, values[i], Text(l), value)
	}
}

// isValueRow reports a row of the same length without labels.
func isValueRow(row []*html.Node, length int) bool {
	if len(row) != length {
		return false
	}
	for _, c := range row {
		if own, _, _ := strings.Cut(Text(c), ":"); claim.FieldOf(own) != "" {
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

// maxWrapping is how many elements may be wrapped around a label alone.
const maxWrapping = 3

// element pairs an element that contains only a known label with what follows it: the
// rest of its line, or the next element. Labels that follow each other head columns,
// so they are not paired.
func (f *pairFinder) element(n *html.Node) bool {
	if !beginsAsLabel(n) {
		return false
	}
	names := shortText(n)
	field := claim.FieldOf(names)
	if field == "" || strings.HasSuffix(names, "-") || f.seen[n] || f.hasPair(n.Parent, field) || AnyAncestor(n, isControl) {
		return false
	}
	at := n
	for range maxWrapping {
		if values, value := afterLabel(at); values != "" {
			if isLabel(prev(at)) || claim.FieldOf(values) != "" || isSentence(values) {
				return false
			}
			return f.add(n, value, names, values)
		}
		if at = at.Parent; at == nil || isItem(at) || shortText(at) != names {
			return false
		}
	}
	return false
}

// beginsAsLabel reports whether the first text of an element can begin a known label;
// that of most elements cannot.
func beginsAsLabel(n *html.Node) bool {
	for e, steps := n, 0; e != nil && steps < maxBox; steps++ {
		if e.Type == html.TextNode {
			if text := strings.TrimLeft(e.Data, " \t\r\n"); text != "" {
				return claim.MayBeLabel(text)
			}
		}
		e = After(e, n, e == n || e.Type != html.ElementNode || !isSkipped(e))
	}
	return false
}

// isItem reports an element that holds a label and its value, or one of them.
func isItem(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Td, atom.Th, atom.Li, atom.Dd, atom.Dt, atom.Tr:
		return true
	}
	return false
}

// isControl reports an element that a visitor operates; its words are not labels.
func isControl(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Button, atom.Select, atom.Form, atom.Nav, atom.Option:
		return n.DataAtom != atom.Form || hasClassLike(n, "search")
	}
	return false
}

func hasClassLike(n *html.Node, word string) bool {
	return strings.Contains(strings.ToLower(Head(Attr(n, "class"))+Head(Attr(n, "id"))+Head(Attr(n, "action"))), word)
}

// isLabel reports an element that contains only a known label.
func isLabel(n *html.Node) bool {
	return n != nil && n.DataAtom != atom.Br && claim.FieldOf(shortText(n)) != ""
}

// afterLabel returns the text after a label: the rest of its line up to a line break
// or the next label, else the next element.
func afterLabel(n *html.Node) (values string, value *html.Node) {
	var line strings.Builder
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		switch {
		case s.Type == html.TextNode:
			line.WriteString(s.Data)
			continue
		case s.Type != html.ElementNode:
			continue
		case s.DataAtom == atom.Br:
			return trimValue(line.String()), value
		case !inline[s.DataAtom] && s.DataAtom != atom.Label, isLabel(s):
			if claim.ValueOf(trimValue(line.String())) == "" && !isLabel(s) && isValue(s) {
				return Text(s), s
			}
			return trimValue(line.String()), value
		case IsStruck(s) || isSkipped(s):
			if value == nil && strings.TrimSpace(line.String()) == "" {
				value = s
			}
		default:
			line.WriteString(" " + Text(s))
			value = s
		}
	}
	return trimValue(line.String()), value
}

// isValue reports an element that can be the value of a label: without a list, a
// table or a heading beside other text.
func isValue(n *html.Node) bool {
	visited := 0
	for e := range Elements(n) {
		switch e.DataAtom {
		case atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Script, atom.Form:
			return false
		}
		if visited++; visited > maxBox || headingLevel(e) > 0 && Text(e) != Text(n) {
			return false
		}
	}
	return true
}

// trimValue cleans a value and removes the separator between label and value.
func trimValue(s string) string {
	return strings.TrimSpace(strings.TrimLeft(claim.Clean(s), ":：=- \u2013"))
}

// lineSeparators separate facts that stand in one line.
var lineSeparators = strings.NewReplacer(" | ", "\n", " • ", "\n", " · ", "\n", "; ", "\n")

// lines reads "Label: value" from the lines of an element that contains only inline
// elements and text.
func (f *pairFinder) lines(n *html.Node) {
	if !hasColon(n) {
		return
	}
	var text strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			text.WriteString(c.Data)
		case c.Type == html.ElementNode && c.DataAtom == atom.Br:
			text.WriteString("\x00")
		case c.Type == html.ElementNode && isSkipped(c):
		case c.Type == html.ElementNode && !inline[c.DataAtom]:
			return
		case c.Type == html.ElementNode:
			text.WriteString(Text(c))
		}
	}
	if !strings.ContainsAny(text.String(), ":：") {
		return
	}
	for line := range strings.SplitSeq(text.String(), "\x00") {
		for fact := range strings.SplitSeq(lineSeparators.Replace(claim.Clean(line)), "\n") {
			names, values, ok := strings.Cut(strings.Replace(fact, "：", ":", 1), ":")
			field := claim.FieldOf(names)
			if !ok || field == "" || f.hasPair(n, field) {
				continue
			}
			table := group(n)
			f.pairs = append(f.pairs, Pair{
				Field: field, Label: names, Value: strings.TrimSpace(values), Node: n, Group: table, Loose: table == nil,
			})
		}
	}
}

// hasColon reports a colon in the text of an element, which the lines of labels and
// values need.
func hasColon(n *html.Node) bool {
	for e, steps := n, 0; e != nil && steps < maxSteps; steps++ {
		if e.Type == html.TextNode && (strings.IndexByte(e.Data, ':') >= 0 || strings.Contains(e.Data, "：")) {
			return true
		}
		e = After(e, n, e == n || inline[e.DataAtom])
	}
	return false
}

// hasPair reports whether the element or an element in it has given the field.
func (f *pairFinder) hasPair(n *html.Node, field string) bool {
	for i := len(f.pairs) - 1; i >= 0 && i >= len(f.pairs)-20; i-- {
		if p := f.pairs[i]; p.Field == field && (p.Node == n || p.Node.Parent == n) {
			return true
		}
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
	count := countPairs(f.pairs)
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
