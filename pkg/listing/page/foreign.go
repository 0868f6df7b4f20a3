package page

import (
	"iter"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"

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

// othersHeading matches the headings of sections about other cars. Words that also
// head other sections need a word for cars beside them.
var othersHeading = claim.NewPhrases(
	`\b(?:similar|related|recently (?:viewed|sold|added|listed)|`+
		`also (?:like|viewed|bought|interest)|interested in|`+
		`other (?:cars?|vehicles?|stock|listings?|models|used)|more (?:cars?|vehicles?|stock|listings?|used|from|like)|`+
		`(?:cars?|vehicles?|offers?|deals?) of the (?:day|week|month)|`+
		`same (?:seller|model|make|price|class)|people also|customers also|others? (?:viewed|bought))`,
	`\b(?:recommended|recommendations|suggested|suggestions|featured|new arrivals?|`+
		`(?:best|hot|top|great) (?:deals?|offers?|sellers?|buys?)|`+
		`special offers?|latest arrivals?|you (?:may|might|could) like|just (?:in|arrived|listed))`+
		`(?:\W+(?:of|for|this|the|today|now|week|month|you))*\W*$`,
	`\b(?:recommended|suggested|featured|popular|latest|new|best|hot|top|special)\b.{0,20}`+
		`\b(?:cars|vehicles|listings|stock|models|for you)\b`,
	`magari mengine|yanayofanana|similaires|semelhantes|relacionad|parecid|autres (?:voitures|véhicules|annonces)`+
		`|похожие|другие (?:авто|машины)|ähnliche|weitere (?:fahrzeuge|autos)|関連|おすすめ|オススメ|類似|その他の(?:車|在庫)|مشابه|คล้าย|비슷한|추천`,
)

// maxHeading is the maximum length in bytes of a heading.
const maxHeading = 80

// markSections marks what follows a heading about other cars, up to the next heading
// of the same or a higher level. A heading inside such a section is in a part of it.
func (d *Document) markSections(headed map[*html.Node]bool) {
	var inside bool
	body := Body(d)
	for n := body; n != nil; n = dom.After(n, body, inside) {
		d.budget.Spend(1)
		inside = n.Type == html.ElementNode && !d.foreign[n]
		if inside && canHead(n) && !headed[n] && othersHeading.In(dom.ShortText(n)) {
			d.markAfter(n, headed)
		}
	}
}

// canHead reports an element that can be a heading: a heading element, or one that
// contains only inline text.
func canHead(n *html.Node) bool {
	if dom.HeadingLevel(n) > 0 {
		return true
	}
	switch n.DataAtom {
	case atom.Div, atom.P, atom.Strong, atom.B, atom.Span, atom.Dt, atom.Legend, atom.Caption, atom.Th, atom.Summary, atom.Center:
	default:
		return false
	}
	length := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !dom.IsInline(c) || length > maxHeading {
			return false
		}
		if c.Type == html.TextNode {
			length += len(c.Data)
		}
	}
	return n.FirstChild != nil
}

// maxHeadingDepth is how many elements may be wrapped around a heading alone.
const maxHeadingDepth = 4

// markAfter marks the siblings after a heading, or after the elements that contain
// only the heading.
func (d *Document) markAfter(heading *html.Node, headed map[*html.Node]bool) {
	level := dom.HeadingLevel(heading)
	n := heading
	for range maxHeadingDepth {
		if n == nil || n.DataAtom == atom.Body {
			return
		}
		found := false
		for s := dom.Next(n); s != nil; s = dom.Next(s) {
			if headed[s] || d.foreign[s] || endsSection(s, level) {
				return
			}
			d.foreign[s] = true
			found = found || !dom.IsShort(s, maxHeading)
		}
		if found {
			return
		}
		n = n.Parent
	}
}

// endsSection reports a heading that begins another section, also one of other cars.
func endsSection(n *html.Node, level int) bool {
	own := dom.HeadingLevel(n)
	return own > 0 && (level == 0 || own <= level)
}

// minRepeated is the number of equal boxes that makes a list of cars.
const minRepeated = 3

// markRepeated marks lists of cars: three or more boxes of the same shape, each with a
// price or the same labels, and with a link, a picture or the name of a make.
func (d *Document) markRepeated(headed map[*html.Node]bool, fields map[*html.Node]uint64) {
	body := Body(d)
	var inside bool
	for n := body; n != nil; n = dom.After(n, body, inside) {
		d.budget.Spend(1)
		isLeaf := n.FirstChild == nil || n.FirstChild == n.LastChild && n.FirstChild.Type == html.TextNode
		inside = !isLeaf && n.Type == html.ElementNode && !d.foreign[n] && !IsAside(n)
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
	shapes, order := map[shape][]*html.Node{}, []shape(nil)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && canBeBox(c.DataAtom) && !headed[c] {
			own := shape{c.DataAtom, dom.Head(dom.Attr(c, "class"))}
			if shapes[own] == nil {
				order = append(order, own)
			}
			shapes[own] = append(shapes[own], c)
		}
	}
	for _, own := range order {
		d.markBoxes(shapes[own], fields)
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
	priced, needed := 0, max(minRepeated, (len(boxes)+1)/2)
	for i, box := range boxes {
		if priced == needed {
			break
		}
		if priced+len(boxes)-i < needed {
			return
		}
		text, common := dom.Text(box), bits.OnesCount64(fields[box]&fields[boxes[0]])
		if (hasAmount(text) || common >= minCommon) && (hasLinkOrPicture(box) || NamesMake(text)) {
			priced++
		}
	}
	if priced < needed {
		return
	}
	for _, box := range boxes {
		d.foreign[box] = true
	}
	d.Cards = append(d.Cards, boxes...)
}

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

// amountMarks are the currencies of amounts of money, and the words for a price that is not given.
var amountMarks = claim.NewWords("$", "¥", "€", "£", "usd", "jpy", "tzs", "kes", "万円", "円", "ask", "sold")

var amountShown = regexp.MustCompile(`(?i)(?:US ?\$|A\$|USD|JPY|EUR|GBP|TZS|TSh|KES|KSh|ZAR|[$¥€£])\s?\d[\d,.\x{a0} ]*\d|` +
	`\d[\d,.]*\s?(?:USD|JPY|EUR|TZS|KES|万円|円|€)`)

// AmountIn returns the first amount of money in a text as it is written, "" for none.
func AmountIn(s string) string { return strings.TrimSpace(amountShown.FindString(s)) }

// hasAmount reports a text with an amount of money, or the word for a price that is not
// given.
func hasAmount(s string) bool {
	return amountMarks.Any(s, func(mark, before, after string) bool {
		amount := strings.TrimSuffix(before, " ")
		isAfter := amount != "" && amount[len(amount)-1]-'0' <= 9
		switch mark {
		case "ask", "sold":
			return (before == "" || !claim.IsWordByte(before[len(before)-1])) && (after == "" || !claim.IsWordByte(after[0]))
		case "円", "万円":
			return isAfter
		case "usd", "jpy":
			if isAfter {
				return true
			}
		}
		after = strings.TrimPrefix(after, " ")
		return after != "" && after[0]-'0' <= 9
	})
}

// hasCarWords reports whether a box looks as if it were about a car: with a price, a
// year or a make.
func hasCarWords(box *html.Node) bool {
	s := dom.Text(box)
	return hasAmount(s) || claim.YearIn(s) != "" || NamesMake(s)
}

func hasLinkOrPicture(box *html.Node) bool {
	return dom.HasElement(box, func(n *html.Node) bool { return n.DataAtom == atom.A || n.DataAtom == atom.Img })
}
