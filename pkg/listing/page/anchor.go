package page

import (
	"regexp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

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

// withheld matches the words that stand in place of a price.
var withheld = regexp.MustCompile(`(?i)^\W*(?:ask|poa|p\.o\.a\.?|tba|call|contact|enquire|inquire|` +
	`on (?:request|application)|please\b|price on|sold|under offer|reserved)\b|` +
	`お?問い?合わ?せ|応談|по запросу|sur demande|auf anfrage|consultar|uliza`)

// isWithheld reports a label of a price with words, a dash or an empty cell in place of it.
func isWithheld(p pairs.Pair) bool {
	if p.Field != claim.FieldPrice {
		return false
	}
	value := claim.ValueOf(p.Value)
	_, isPrice := claim.ParsePrice(value)
	if p.Value == "" && (p.Loose || p.Struck) {
		return false // the value may stand elsewhere
	}
	return value == "" || value == "0" || soldWords.In(value) || !isPrice && withheld.MatchString(value)
}

// withholdsPrice reports that the page withholds the price of its own car: no other sum on
// it is the price then.
func (d *Document) withholdsPrice(own []pairs.Pair, main *card) (value string, is bool) {
	for _, p := range own {
		if isWithheld(p) && (p.Group == main.group || d.IsAnchored(p.Node)) {
			return p.Value, main.first[claim.FieldPrice] == ""
		}
	}
	return "", false
}

// filterWords are words of the classes and ids of boxes in which a visitor chooses cars.
var filterWords = claim.NewWords("filter", "search", "slider", "range", "refine", "facet", "finder", "budget", "calculator")

// isOfFilter reports a price that is the end of a range from which a visitor chooses: it
// stands in such a box, or another sum of its currency follows it.
func isOfFilter(p pairs.Pair) bool {
	if p.Field != claim.FieldPrice || p.Node == nil {
		return false
	}
	for at, up := p.Node, 0; at != nil && at.DataAtom != atom.Body && up < maxHeadingDepth; at, up = at.Parent, up+1 {
		if filterWords.In(dom.Head(dom.Attr(at, "class"))) || filterWords.In(dom.Head(dom.Attr(at, "id"))) {
			return true
		}
	}
	return isRange(p)
}

// isRange reports a price that another sum of its currency follows.
func isRange(p pairs.Pair) bool {
	value := dom.Next(p.Node)
	if value == nil || dom.IsStruck(value) {
		return false
	}
	after := dom.Next(value)
	if after == nil || dom.IsStruck(after) || !dom.IsShort(after, maxAfter) {
		return false
	}
	one, isOne := claim.ParsePrice(p.Value)
	two, isTwo := claim.ParsePrice(dom.Text(after))
	return isOne && isTwo && one.Currency == two.Currency && !one.Amount.Decimal().Equal(two.Amount.Decimal())
}
