package page

import (
	"iter"
	"maps"
	"slices"

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
	return dom.IsNamed(n, asideWords)
}

// IsForeign reports whether an element is in a part of the page about other cars: an
// aside, a section under a heading such as "Similar cars", a card that links to
// another listing, or one of several cards of the same shape.
func (d *Document) IsForeign(n *html.Node) bool {
	return dom.AnyAncestor(n, func(e *html.Node) bool { return d.foreign[e] || IsAside(e) })
}

// maxCardDepth is how many elements a card wraps around its link.
const maxCardDepth = 8

// CardOf returns the part of the page about another car in which a link stands: the element that
// markup declares as such, else the largest element around the link that links to no other car;
// nil when that element describes no car.
func (d *Document) CardOf(link *html.Node) (card *html.Node) {
	own, isOne := d.Absolute(dom.Attr(link, "href")), true
	n := link
	for range maxCardDepth {
		if n == nil || n.DataAtom == atom.Body {
			break
		}
		if d.foreign[n] {
			return n
		}
		if isOne = isOne && !d.hasHeading(n) && !d.linksElsewhere(n, own); isOne {
			card = n
		}
		n = n.Parent
	}
	if card == nil || !hasCarWords(card) {
		return nil
	}
	return card
}

// linksElsewhere reports a part with a link to the page of another car than one, or one that
// is too large for a card.
func (d *Document) linksElsewhere(part *html.Node, one string) bool {
	visited := 0
	for n := range d.elements(part) {
		if n.DataAtom == atom.A {
			if to := d.Resolve(dom.Attr(n, "href")); d.mayBeListing(to) && absolute(to) != one {
				return true
			}
		}
		if visited++; visited > dom.MaxBox {
			return true
		}
	}
	return false
}

// findForeign marks the parts of the page about other cars. all are all labels of the
// page with their values.
func (d *Document) findForeign(all []pairs.Pair) {
	d.foreign = map[*html.Node]bool{}
	headed := ancestorsOf(slices.Values(d.Tags[atom.H1]))
	count := pairs.Count(all)
	for n, own := range count {
		if 2*own > len(all) {
			headed[n] = true // most of the page's facts are in it
		}
	}
	d.markSections(headed)
	d.markCards(headed, count, len(all))
	d.markRepeated(headed, pairs.Fields(all))
	d.headed, d.others = headed, ancestorsOf(maps.Keys(d.foreign))
}

// ancestorsOf returns the elements around some elements, with these.
func ancestorsOf(nodes iter.Seq[*html.Node]) map[*html.Node]bool {
	around := map[*html.Node]bool{}
	for n := range nodes {
		for ; n != nil && !around[n]; n = n.Parent {
			around[n] = true
		}
	}
	return around
}
