package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/pairs"
)

// asideWords are parts of the classes and ids of areas that show other cars.
var asideWords = claim.NewWords(
	"similar", "related", "recommend", "recently", "suggest", "also-like", "alsolike", "other-car", "othercar",
	"more-from", "morefrom", "new-arrival", "sponsor", "upsell", "cross-sell",
)

// IsAside reports an element that contains no part of the page's own car.
func IsAside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Aside, atom.Nav, atom.Footer:
		return true
	}
	return isNamedAside(n)
}

// isNamedAside reports an element whose class or id is that of an area with other cars.
func isNamedAside(n *html.Node) bool {
	return asideWords.In(dom.Head(dom.Attr(n, "class"))) || asideWords.In(dom.Head(dom.Attr(n, "id")))
}

// IsForeign reports whether an element is in a part of the page about other cars: an
// aside, a section under a heading such as "Similar cars", a card that links to
// another listing, or one of several cards of the same shape.
func (d *Document) IsForeign(n *html.Node) bool {
	return dom.AnyAncestor(n, func(e *html.Node) bool { return d.foreign[e] || IsAside(e) })
}

// findForeign marks the parts of the page about other cars. all are all labels of the
// page with their values.
func (d *Document) findForeign(all []pairs.Pair) {
	d.foreign = map[*html.Node]bool{}
	headed := d.ancestorsOf(d.Tags[atom.H1])
	count := pairs.Count(all)
	for n, own := range count {
		if 2*own > len(all) {
			headed[n] = true // most of the page's facts are in it
		}
	}
	d.markSections(headed)
	d.markCards(headed, count, len(all))
	d.markRepeated(headed)
	d.headed, d.others = headed, map[*html.Node]bool{}
	for n := range d.foreign {
		for ; n != nil && !d.others[n]; n = n.Parent {
			d.others[n] = true
		}
	}
}

// ancestorsOf returns the elements around some elements, with these.
func (d *Document) ancestorsOf(nodes []*html.Node) map[*html.Node]bool {
	around := map[*html.Node]bool{}
	for _, n := range nodes {
		for ; n != nil && !around[n]; n = n.Parent {
			around[n] = true
		}
	}
	return around
}
