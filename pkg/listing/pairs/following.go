package pairs

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

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
