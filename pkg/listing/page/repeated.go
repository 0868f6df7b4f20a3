package page

import (
	"math/bits"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
)

// minRepeated is the number of equal boxes that makes a list of cars.
const minRepeated = 3

// markRepeated marks lists of cars: three or more boxes of the same shape, each with a
// price or the same labels, and with a link, a picture or the name of a make.
func (d *Document) markRepeated(headed map[*html.Node]bool, fields map[*html.Node]uint64) {
	body := Body(d)
	var inside bool
	for n := body; n != nil; n = dom.After(n, body, inside) {
		d.budget.Spend(1)
		inside = n.Type == html.ElementNode && !d.foreign[n] && !IsAside(n)
		if inside && isList(n) && hasElements(n, minRepeated) {
			d.markList(n, headed, fields)
		}
	}
}

func isList(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Tbody, atom.Tr, atom.Main, atom.Body:
		return true
	}
	return false
}

// canBeBox reports the tag of an element that can be about a car: it shows text, and is no menu.
func canBeBox(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Select, atom.Svg, atom.Iframe, atom.Nav:
		return false
	}
	return true
}

// markList marks the boxes of one list.
func (d *Document) markList(n *html.Node, headed map[*html.Node]bool, fields map[*html.Node]uint64) {
	shapes := map[shape][]*html.Node{}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && canBeBox(c.DataAtom) && !headed[c] {
			own := shape{c.DataAtom, dom.Head(dom.Attr(c, "class"))}
			shapes[own] = append(shapes[own], c)
		}
	}
	for _, boxes := range shapes {
		d.markBoxes(boxes, fields)
	}
}

// shape is what boxes of one list have in common.
type shape struct {
	tag     atom.Atom
	classes string
}

// hasElements reports whether an element has at least so many elements in it.
func hasElements(n *html.Node, least int) bool {
	for c := n.FirstChild; c != nil && least > 0; c = c.NextSibling {
		if c.Type == html.ElementNode {
			least--
		}
	}
	return least == 0
}

// minCommon is the number of labels that the cards of a list have in common.
const minCommon = 2

func (d *Document) markBoxes(boxes []*html.Node, fields map[*html.Node]uint64) {
	if len(boxes) < minRepeated {
		return
	}
	priced := 0
	for i, box := range boxes {
		if possible := priced + len(boxes) - i; possible < minRepeated || 2*possible < len(boxes) {
			return
		}
		text, common := dom.Text(box), bits.OnesCount64(fields[box]&fields[boxes[0]])
		if (hasAmount(text) || common >= minCommon) && (hasLinkOrPicture(box) || NamesMake(text)) {
			priced++
		}
	}
	if priced < minRepeated || 2*priced < len(boxes) {
		return
	}
	for _, box := range boxes {
		d.foreign[box] = true
	}
	d.Cards = append(d.Cards, boxes...)
}
