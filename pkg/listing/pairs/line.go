package pairs

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

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
				Field: field, Label: names, Value: claim.ValueUnder(names, strings.TrimSpace(values)),
				Node: n, Group: table, Loose: table == nil,
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
		case c.Type == html.ElementNode && !dom.IsInline(c):
			return ""
		case c.Type == html.ElementNode:
			own := dom.Text(c)
			if isSentence(own) {
				return "" // the element has its own labels and values
			}
			text.WriteString(own)
			if isProperty(c) {
				text.WriteString("\x00") // a cell of its own
			}
		}
	}
	return text.String()
}

// hasColon reports a colon in the text of an element, which the lines of labels and
// values need.
func hasColon(n *html.Node) bool {
	for e, steps := n, 0; e != nil && steps < dom.MaxSteps; steps++ {
		if e.Type == html.TextNode && (strings.IndexByte(e.Data, ':') >= 0 || strings.Contains(e.Data, "：")) {
			return true
		}
		e = dom.After(e, n, e == n || dom.IsInline(e))
	}
	return false
}

// leading pairs the text at the beginning of a list item with the one element after it:
// "<li>Fuel <b>Petrol</b></li>".
func (f *pairFinder) leading(n *html.Node) bool {
	if !hasOwnText(n) {
		return false
	}
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
	if claim.FieldOf(names) == "" {
		return false
	}
	values := dom.Text(at)
	if claim.FieldOf(values) != "" || isSentence(values) || !isLast(at) {
		return false
	}
	return f.add(n, at, names, values)
}

// isLast reports an element with nothing visible after it in the same element.
func isLast(n *html.Node) bool {
	for rest := n.NextSibling; rest != nil; rest = rest.NextSibling {
		if rest.Type == html.ElementNode && !dom.IsSkipped(rest) ||
			rest.Type == html.TextNode && strings.TrimSpace(rest.Data) != "" {
			return false
		}
	}
	return true
}

// hasOwnText reports an element with text beside the elements in it.
func hasOwnText(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return true
		}
	}
	return false
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
	if field == "" || strings.HasSuffix(names, "-") || f.seen[n] || f.hasPair(n.Parent, field) {
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
	for e, steps := n, 0; e != nil && steps < dom.MaxBox; steps++ {
		if e.Type == html.TextNode {
			if text := strings.TrimLeft(e.Data, " \t\r\n"); text != "" {
				return claim.MayBeLabel(text)
			}
		}
		e = dom.After(e, n, e == n || e.Type != html.ElementNode || !dom.IsSkipped(e))
	}
	return false
}

// isControl reports an element that a visitor operates; its words are not labels.
func isControl(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Button, atom.Select, atom.Form, atom.Nav, atom.Option:
		return n.DataAtom != atom.Form || dom.IsNamed(n, searchWords) || searchWords.In(dom.Head(dom.Attr(n, "action")))
	}
	return false
}

// searchWords are in the classes, ids and addresses of forms in which a visitor searches.
var searchWords = claim.NewWords("search")

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
			return lineOr(s, trimValue(line.String()), value)
		case !dom.IsSkipped(s):
			line.WriteString(" " + dom.Text(s))
			if value = s; isProperty(s) {
				return trimValue(line.String()), value
			}
		case value == nil && isStruckAlone(s, line.String()):
			value = s
		}
	}
	return trimValue(line.String()), value
}

// lineOr returns the rest of a label's line, or the element below it where nothing is in the line.
func lineOr(below *html.Node, line string, value *html.Node) (string, *html.Node) {
	if claim.ValueOf(line) == "" && !isLabel(below) && isValue(below) {
		return dom.Text(below), below
	}
	return line, value
}

// isProperty reports an element with a property of schema.org: a cell of its own, with which
// the value of a label ends.
func isProperty(n *html.Node) bool { return dom.HasAttr(n, "itemprop") || dom.HasAttr(n, "property") }

// isStruckAlone reports an element that is struck out where a label's line begins.
func isStruckAlone(n *html.Node, line string) bool {
	return !dom.IsHidden(n) && strings.TrimSpace(line) == ""
}

// isInLine reports an element that stands in the line of a label and is no label.
func isInLine(n *html.Node) bool {
	return (dom.IsInline(n) || n.DataAtom == atom.Label) && !isLabel(n)
}

// isValue reports an element that can be the value of a label: without a list, a
// table or a heading beside other text.
func isValue(n *html.Node) bool {
	visited := 0
	for e := range dom.Elements(n) {
		switch e.DataAtom {
		case atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Script, atom.Form:
			return false
		}
		if visited++; visited > dom.MaxBox || dom.HeadingLevel(e) > 0 && dom.Text(e) != dom.Text(n) {
			return false
		}
	}
	return true
}

// trimValue cleans a value and removes the separator between label and value.
func trimValue(s string) string {
	return strings.TrimSpace(strings.TrimLeft(claim.Clean(s), ":：=- \u2013"))
}
