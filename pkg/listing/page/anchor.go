package page

import (
	"golang.org/x/net/html"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/pairs"
)

// IsAnchored reports whether what stands at an element is said of the page's own car: the
// smallest box around it that also holds the heading of that car, or most of its facts,
// has no box of another car between the two.
func (d *Document) IsAnchored(n *html.Node) bool {
	if d.headed == nil { // a part of a page, about one car
		return true
	}
	if n == nil || d.IsForeign(n) {
		return false
	}
	box := n
	for box.Parent != nil && !d.headed[box.Parent] {
		box = box.Parent
	}
	if box.Parent == nil {
		return false
	}
	return d.headed[box] || d.isFacts(box.Parent) || d.isBeside(box, dom.Prev) || d.isBeside(box, dom.Next)
}

// isFacts reports a box with most of the car's facts that are in no box inside it.
func (d *Document) isFacts(box *html.Node) bool {
	for c := box.FirstChild; c != nil; c = c.NextSibling {
		if d.headed[c] {
			return false
		}
	}
	return true
}

// isBeside reports that the next box in one direction which is about a car is about the
// page's own.
func (d *Document) isBeside(box *html.Node, next func(*html.Node) *html.Node) bool {
	for s := next(box); s != nil; s = next(s) {
		d.budget.Spend(1)
		if d.headed[s] {
			return true
		}
		if d.others[s] || IsAside(s) {
			return false
		}
	}
	return false
}

// withholdsPrice reports that the page withholds the price of its own car: no other sum on
// it is the price then.
func (d *Document) withholdsPrice(own []pairs.Pair, main *card) (value string, is bool) {
	for _, p := range own {
		if p.IsWithheld() && (p.Group == main.group || d.IsAnchored(p.Node)) {
			return p.Value, main.first[claim.FieldPrice] == ""
		}
	}
	return "", false
}
