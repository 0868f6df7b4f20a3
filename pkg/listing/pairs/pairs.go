package pairs

import (
	"strings"

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
	pairs []Pair
	seen  map[*html.Node]bool // labels that a table or list has paired
}

// In returns the label-value pairs below a node, in document order.
func In(root *html.Node) []Pair {
	f := &pairFinder{seen: map[*html.Node]bool{}}
	for n := range dom.Elements(root) {
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
		if dd := dom.Next(n); dd != nil && dd.DataAtom == atom.Dd {
			names := dom.Text(n)
			f.add(n, dd, names, valueText(claim.FieldOf(names), dd))
		}
	case atom.Li, atom.Dd:
		if !f.leading(n) {
			f.lines(n)
		}
	case atom.P, atom.Div, atom.Pre, atom.Span, atom.B, atom.Strong, atom.Em, atom.Small, atom.Font, atom.I, 0:
		if !f.element(n) {
			f.lines(n)
		}
	case atom.Label, atom.Figcaption, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
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
	p.Struck = value != nil && dom.AnyAncestor(value, dom.IsStruck)
	f.pairs = append(f.pairs, p)
	return true
}

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

// isSentence reports a known label and its value in one text: "Steering: -".
func isSentence(s string) bool {
	own, value, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(value) != "" && claim.FieldOf(own) != ""
}

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

// maxWrapping is how many elements may be wrapped around a label alone.
const maxWrapping = 3

// element pairs an element that contains only a known label with what follows it: the
// rest of its line, or the next element. Labels that follow each other head columns,
// so they are not paired.
func (f *pairFinder) element(n *html.Node) bool {
	if !beginsAsLabel(n) {
		return false
	}
	names := dom.ShortText(n)
	field := claim.FieldOf(names)
	if field == "" || strings.HasSuffix(names, "-") || f.seen[n] || f.hasPair(n.Parent, field) || dom.AnyAncestor(n, isControl) {
		return false
	}
	at := n
	for range maxWrapping {
		if values, value := afterLabel(at); values != "" {
			if isLabel(dom.Prev(at)) || claim.FieldOf(values) != "" || isSentence(values) {
				return false
			}
			return f.add(n, value, names, values)
		}
		if at = at.Parent; at == nil || IsItem(at) || dom.ShortText(at) != names {
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
		e = dom.After(e, n, e == n || e.Type != html.ElementNode || !dom.IsSkipped(e))
	}
	return false
}

// IsItem reports an element that holds a label and its value, or one of them.
func IsItem(n *html.Node) bool {
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
	names := dom.Head(dom.Attr(n, "class")) + dom.Head(dom.Attr(n, "id")) + dom.Head(dom.Attr(n, "action"))
	return strings.Contains(strings.ToLower(names), word)
}

// isLabel reports an element that contains only a known label.
func isLabel(n *html.Node) bool {
	return n != nil && n.DataAtom != atom.Br && claim.FieldOf(dom.ShortText(n)) != ""
}

// afterLabel returns the text after a label: the rest of its line up to a line break
// or the next label, else the next element.
func afterLabel(n *html.Node) (values string, value *html.Node) {
	var line strings.Builder
	below := false
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		switch {
		case s.Type == html.TextNode:
			line.WriteString(s.Data)
			continue
		case s.Type != html.ElementNode:
			continue
		case s.DataAtom == atom.Br && !below && trimValue(line.String()) == "":
			below = true // the value can be in the line below
		case s.DataAtom == atom.Br:
			return trimValue(line.String()), value
		case !isInLine(s):
			if claim.ValueOf(trimValue(line.String())) == "" && !isLabel(s) && isValue(s) {
				return dom.Text(s), s
			}
			return trimValue(line.String()), value
		case !isSilent(s):
			line.WriteString(" " + dom.Text(s))
			value = s
		case value == nil && strings.TrimSpace(line.String()) == "":
			value = s
		}
	}
	return trimValue(line.String()), value
}

// isInLine reports an element that stands in the line of a label and is no label.
func isInLine(n *html.Node) bool {
	return (dom.Inline[n.DataAtom] || n.DataAtom == atom.Label) && !isLabel(n)
}

// isSilent reports an element whose text is no part of a value.
func isSilent(n *html.Node) bool { return dom.IsStruck(n) || dom.IsSkipped(n) }

// isValue reports an element that can be the value of a label: without a list, a
// table or a heading beside other text.
func isValue(n *html.Node) bool {
	visited := 0
	for e := range dom.Elements(n) {
		switch e.DataAtom {
		case atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Script, atom.Form:
			return false
		}
		if visited++; visited > maxBox || dom.HeadingLevel(e) > 0 && dom.Text(e) != dom.Text(n) {
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
	all := linesOf(n)
	if !strings.ContainsAny(all, ":：") {
		return
	}
	if n.DataAtom == atom.Pre {
		all = strings.ReplaceAll(all, "\n", "\x00")
	}
	for line := range strings.SplitSeq(all, "\x00") {
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

// linesOf returns the text of an element with its line breaks as NUL; "" when the
// element contains more than inline elements without pairs of their own.
func linesOf(n *html.Node) string {
	var text strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			text.WriteString(c.Data)
		case c.Type == html.ElementNode && c.DataAtom == atom.Br:
			text.WriteString("\x00")
		case c.Type == html.ElementNode && dom.IsSkipped(c):
		case c.Type == html.ElementNode && !dom.Inline[c.DataAtom]:
			return ""
		case c.Type == html.ElementNode:
			own := dom.Text(c)
			if isSentence(own) {
				return "" // the element has its own labels and values
			}
			text.WriteString(own)
		}
	}
	return text.String()
}

// leading pairs the text at the beginning of a list item with the one element after it:
// "<li>Fuel <b>Petrol</b></li>".
func (f *pairFinder) leading(n *html.Node) bool {
	var text strings.Builder
	at := n.FirstChild
	for ; at != nil; at = at.NextSibling {
		if at.Type == html.TextNode {
			text.WriteString(at.Data)
		} else if at.Type == html.ElementNode && dom.ShortText(at) != "" {
			break
		}
	}
	if at == nil || !claim.MayBeLabel(strings.TrimSpace(text.String())+" ") {
		return false
	}
	names := claim.Clean(text.String())
	values := dom.Text(at)
	if claim.FieldOf(names) == "" || claim.FieldOf(values) != "" || isSentence(values) {
		return false
	}
	for rest := at.NextSibling; rest != nil; rest = rest.NextSibling {
		if rest.Type == html.ElementNode && !dom.IsSkipped(rest) ||
			rest.Type == html.TextNode && strings.TrimSpace(rest.Data) != "" {
			return false
		}
	}
	return f.add(n, at, names, values)
}

// hasColon reports a colon in the text of an element, which the lines of labels and
// values need.
func hasColon(n *html.Node) bool {
	for e, steps := n, 0; e != nil && steps < dom.MaxSteps; steps++ {
		if e.Type == html.TextNode && (strings.IndexByte(e.Data, ':') >= 0 || strings.Contains(e.Data, "：")) {
			return true
		}
		e = dom.After(e, n, e == n || dom.Inline[e.DataAtom])
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

// maxBox bounds the elements of a box that are visited.
const maxBox = 200

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
