// Package dom reads the tree of an HTML page: its elements in order, their visible text,
// and what is hidden or struck out. It bounds what a hostile page can cost.
package dom

import (
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
)

// MaxSteps bounds the nodes that are visited for one text.
const MaxSteps = 2000

// Elements walks the elements of a subtree in document order, without
// recursion.
func Elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root; n != nil; n = After(n, root, true) {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

// MaxBox bounds the elements of a box that are visited.
const MaxBox = 200

// HasElement reports whether one of the first elements of a box meets a condition.
func HasElement(box *html.Node, meets func(*html.Node) bool) bool {
	visited := 0
	for n := range Elements(box) {
		if visited++; visited > MaxBox || meets(n) {
			return visited <= MaxBox
		}
	}
	return false
}

// After returns the node that follows n in document order and still belongs to
// root; inside says whether n's own children come first.
func After(n, root *html.Node, inside bool) *html.Node {
	if inside && n.FirstChild != nil {
		return n.FirstChild
	}
	for ; n != nil && n != root; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

// Text returns the visible text of an element: line breaks and block borders as
// spaces, without scripts and without struck-out or hidden parts.
func Text(root *html.Node) string {
	if root == nil {
		return ""
	}
	if only := root.FirstChild; only != nil && only.Type == html.TextNode && only.NextSibling == nil {
		return claim.Clean(only.Data)
	}
	return claim.Clean(VisibleText(root, ' '))
}

// VisibleText returns the visible text of an element with a rune for each line break.
func VisibleText(root *html.Node, lineBreak rune) string {
	text := make([]byte, 0, 2*claim.MaxText)
	for n, steps := root, 0; n != nil && len(text) < claim.MaxText && steps < MaxSteps; steps++ {
		inside := true
		switch {
		case n.Type == html.TextNode:
			text = appendWords(text, n.Data)
		case n.Type == html.ElementNode && n.DataAtom == atom.Br:
			text = utf8.AppendRune(text, lineBreak)
		case n.Type == html.ElementNode:
			if !IsInline(n) {
				text = append(text, ' ')
			}
			inside = n == root || !IsSkipped(n)
		}
		n = After(n, root, inside)
	}
	return string(text)
}

// appendWords appends a text with one space for each run of white space, of which the
// templates of some sites write more than words.
func appendWords(text []byte, words string) []byte {
	for at := 0; at < len(words); {
		from := at
		for at < len(words) && !isSpace(words[at]) {
			at++
		}
		text = append(text, words[from:at]...)
		if at < len(words) && len(text) > 0 && text[len(text)-1] != ' ' {
			text = append(text, ' ')
		}
		for at < len(words) && isSpace(words[at]) {
			at++
		}
	}
	return text
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// maxLabel is the maximum length of a label or a heading in bytes.
const maxLabel = 80

// maxShort bounds the nodes that are visited for a label or a heading.
const maxShort = 200

// ShortText returns the visible text of an element, "" when it is longer than maxLabel:
// most elements of a page are, and reading them to the end would be costly.
func ShortText(root *html.Node) string {
	if !IsShort(root, maxLabel) {
		return ""
	}
	return Text(root)
}

// IsShort reports an element whose visible text has at most so many bytes.
func IsShort(root *html.Node, most int) bool {
	length := 0
	for n, steps := root, 0; n != nil; steps++ {
		inside := true
		switch n.Type {
		case html.TextNode:
			length += len(strings.TrimSpace(n.Data))
		case html.ElementNode:
			inside = n == root || !IsSkipped(n)
		}
		if length > most || steps > maxShort {
			return false
		}
		n = After(n, root, inside)
	}
	return true
}

// IsInline reports an element that does not separate words.
func IsInline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.B, atom.Em, atom.Font, atom.I, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.U, atom.Small, atom.Wbr,
		atom.S, atom.Del, atom.Strike, atom.Ins, atom.Mark, atom.Time, atom.Data, atom.Abbr, atom.Big, atom.Bdi:
		return true
	}
	return false
}

// IsSkipped reports an element whose text is not visible, or no longer holds.
func IsSkipped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Select, atom.Textarea,
		atom.Svg, atom.Iframe:
		return true
	}
	return IsHidden(n) || IsStruck(n)
}

// Attr returns an attribute of an element, "" when there is none.
func Attr(n *html.Node, key string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// Head returns the beginning of an attribute that is examined repeatedly.
func Head(s string) string { return s[:min(len(s), 200)] }

// IsNamed reports an element whose class or id has one of the words.
func IsNamed(n *html.Node, words *claim.Words) bool {
	return words.In(Head(Attr(n, "class"))) || words.In(Head(Attr(n, "id")))
}

// HasAttr reports whether an element has an attribute, also an empty one.
func HasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// HasClass reports whether an element has a class.
func HasClass(n *html.Node, class string) bool {
	classes := Attr(n, "class")
	if !strings.Contains(classes, class) {
		return false
	}
	for name := range strings.FieldsSeq(classes) {
		if name == class {
			return true
		}
	}
	return false
}

// AnyAncestor reports whether n or an element around it meets the condition.
func AnyAncestor(n *html.Node, meets func(*html.Node) bool) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && meets(n) {
			return true
		}
	}
	return false
}

// Next returns the next sibling that is an element, nil for none: comments and white space
// stand between cells.
func Next(n *html.Node) *html.Node {
	for n != nil {
		if n = n.NextSibling; n != nil && n.Type == html.ElementNode {
			break
		}
	}
	return n
}

// OwnText returns the text of an element that contains only text and inline elements,
// "" for any other element and for a text longer than limit bytes.
func OwnText(n *html.Node, limit int) string {
	length := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !IsInline(c) && c.DataAtom != atom.Br {
			return ""
		}
		if length += len(c.Data); length > 2*limit {
			return ""
		}
	}
	if s := Text(n); len(s) <= limit {
		return s
	}
	return ""
}

// Prev returns the previous sibling that is an element.
func Prev(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode {
			return n
		}
	}
	return nil
}

// IsTemplate reports an element whose content is not part of the page.
func IsTemplate(el *html.Node) bool { return el.DataAtom == atom.Template }

// HeadingLevel returns 1 to 6 for h1 to h6, 0 for any other element.
func HeadingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return int(n.Data[1] - '0')
	}
	return 0
}

// Contains reports whether inner is outer or inside it.
func Contains(outer, inner *html.Node) bool {
	return AnyAncestor(inner, func(n *html.Node) bool { return n == outer })
}
