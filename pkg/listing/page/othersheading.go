package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

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
		inside = !d.foreign[n]
		if inside && n.Type == html.ElementNode && canHead(n) && !headed[n] && othersHeading.In(dom.ShortText(n)) {
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
