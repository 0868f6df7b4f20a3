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
