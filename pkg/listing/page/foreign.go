package page

import (
	"net/url"
	"path"
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

// othersHeading matches the headings of sections about other cars. Words that also
// head other sections need a word for cars beside them.
var othersHeading = regexp.MustCompile(`\b(?:similar|related|recently (?:viewed|sold|added|listed)|` +
	`also (?:like|viewed|bought|interest)|interested in|` +
	`other (?:cars?|vehicles?|stock|listings?|models|used)|more (?:cars?|vehicles?|stock|listings?|used|from|like)|` +
	`same (?:seller|model|make|price|class)|people also|customers also|others? (?:viewed|bought))` +
	`|\b(?:recommended|recommendations|suggested|suggestions|featured|new arrivals?|` +
	`(?:best|hot|top|great) (?:deals?|offers?|sellers?|buys?)|` +
	`special offers?|latest arrivals?|you (?:may|might|could) like|just (?:in|arrived|listed))` +
	`(?:\W+(?:of|for|this|the|today|now|week|month|you))*\W*$` +
	`|\b(?:recommended|suggested|featured|popular|latest|new|best|hot|top|special)\b.{0,20}` +
	`\b(?:cars|vehicles|listings|stock|models|for you)\b` +
	`|magari mengine|yanayofanana|similaires|semelhantes|relacionad|parecid|autres (?:voitures|véhicules|annonces)` +
	`|похожие|другие (?:авто|машины)|ähnliche|weitere (?:fahrzeuge|autos)|関連|おすすめ|オススメ|類似|その他の(?:車|在庫)|مشابه|คล้าย|비슷한|추천`)

// othersWords are words of which each such heading has one; the search for them is
// much quicker than the expression.
var othersWords = claim.NewWords(
	"simila", "relat", "relac", "recent", "recommend", "suggest", "also", "other", "more ", "same ", "feature", "arrival",
	"best ", "hot ", "special", "latest", "popular", "top ", "new ", "like", "mengine", "yanayo", "semelh", "parecid", "autres",
	"interested", "great ", "just ", "похож", "друг", "ähnlich", "weitere",
	"関連", "おすすめ", "オススメ", "類似", "その他", "مشابه", "คล้าย", "비슷한", "추천",
)

// headsOthers reports the text of a heading about other cars.
func headsOthers(s string) bool {
	return othersWords.In(s) && othersHeading.MatchString(strings.ToLower(s))
}

// maxHeading is the maximum length in bytes of a heading.
const maxHeading = 80

// markSections marks what follows a heading about other cars, up to the next heading
// of the same or a higher level.
func (d *Document) markSections(headed map[*html.Node]bool) {
	for n := range dom.Elements(Body(d)) {
		if canHead(n) && headsOthers(dom.ShortText(n)) && !headed[n] {
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
		marked := 0
		for s := dom.Next(n); s != nil; s = dom.Next(s) {
			if headed[s] || endsSection(s, level) {
				return
			}
			d.foreign[s] = true
			marked += len(dom.Text(s))
		}
		if marked > maxHeading {
			return
		}
		n = n.Parent
	}
}

// endsSection reports a heading that begins another section.
func endsSection(n *html.Node, level int) bool {
	own := dom.HeadingLevel(n)
	return own > 0 && (level == 0 || own <= level) && !headsOthers(dom.Text(n))
}

// ownURL returns the page's own URL: the one that was read, or the canonical one when
// that has no path.
func (d *Document) ownURL() *url.URL {
	if strings.Trim(d.URL.Path, "/") == "" {
		return d.Resolve(d.Canonical)
	}
	return d.URL
}

// notPages are the endings of files that are no pages.
var notPages = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".pdf", ".css", ".js", ".ico", ".mp4"}

// isOtherListing reports a link to the page of another car: on the same site, with
// ids in the same places of the path or parameters as the page's own URL.
func isOtherListing(link, own *url.URL) bool {
	isPage := link.Scheme == "" || link.Scheme == "http" || link.Scheme == "https"
	if !isPage || !sameHost(link, own) || slices.Contains(notPages, strings.ToLower(path.Ext(link.Path))) {
		return false
	}
	to, from := strings.Trim(link.Path, "/"), strings.Trim(own.Path, "/")
	switch {
	case to == "":
		return false
	case from == "":
		return longID.MatchString(to) || longID.MatchString(link.RawQuery)
	case to == from:
		return differentID(link.Query(), own.Query())
	}
	return hasID(to) && sameShape(to, from)
}

// sameHost reports URLs of one host; a URL without a host is on any.
func sameHost(a, b *url.URL) bool {
	one, two := strings.TrimPrefix(a.Host, "www."), strings.TrimPrefix(b.Host, "www.")
	return one == "" || two == "" || strings.EqualFold(one, two)
}

// longID matches the id of a car where the page's own URL is not known.
var longID = regexp.MustCompile(`\d{4,}`)

// differentID reports that two queries have different ids under the same name.
func differentID(a, b url.Values) bool {
	for name, values := range a {
		if other, ok := b[name]; ok && hasID(values[0]) && other[0] != values[0] {
			return true
		}
	}
	return false
}

// sameShape reports paths of equally many segments, with ids in the same ones.
func sameShape(a, b string) bool {
	for {
		one, restA, moreA := strings.Cut(a, "/")
		two, restB, moreB := strings.Cut(b, "/")
		if hasID(one) != hasID(two) || moreA != moreB {
			return false
		}
		if !moreA {
			return true
		}
		a, b = restA, restB
	}
}

// hasID reports a text with two digits that follow each other.
func hasID(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i]-'0' <= 9 && s[i-1]-'0' <= 9 {
			return true
		}
	}
	return false
}

// maxLinks bounds the links that are compared with the page's own URL.
const maxLinks = 3000

// markCards marks the boxes around links to other listings.
func (d *Document) markCards(headed map[*html.Node]bool, count map[*html.Node]int, total int) {
	own := d.ownURL()
	links, mixed := d.otherLinks(own)
	if len(links) == 0 || strings.Trim(own.Path, "/") == "" && !mixed[Body(d)] {
		return // the only listing that a page without a URL links to may be itself
	}
	stop := func(n *html.Node) bool { return mixed[n] || headed[n] }
	for _, a := range links {
		if d.IsForeign(a) {
			continue
		}
		if card := cardAround(a, stop, count, total); hasCarWords(card) {
			d.foreign[card] = true
		}
	}
}

// otherLinks returns the links to other listings than the page's own, and the elements
// with links to several of them.
func (d *Document) otherLinks(own *url.URL) (links []*html.Node, mixed map[*html.Node]bool) {
	mixed = map[*html.Node]bool{}
	targets := map[string]string{}   // link as written → the other listing, "" for anything else
	under := map[*html.Node]string{} // element → the first listing that it links to
	for _, a := range d.Tags[atom.A] {
		href := strings.TrimSpace(dom.Attr(a, "href"))
		if !hasID(href) || strings.HasPrefix(href, "#") || len(links) >= maxLinks {
			continue
		}
		target, known := targets[href]
		if !known {
			if link := d.Resolve(href); isOtherListing(link, own) {
				target = link.Path + "?" + link.RawQuery
			}
			targets[href] = target
		}
		if target == "" {
			continue
		}
		links = append(links, a)
		for n := a; n != nil && !mixed[n]; n = n.Parent {
			if first, seen := under[n]; !seen {
				under[n] = target
			} else if first != target {
				mixed[n] = true
			}
		}
	}
	return links, mixed
}

// cardAround returns the largest element around a link that is about the linked car
// only. An element with the majority of the other labels of the page is about the
// page's own car.
func cardAround(a *html.Node, stop func(*html.Node) bool, count map[*html.Node]int, total int) *html.Node {
	card := a
	for p := a.Parent; p != nil && p.Type == html.ElementNode; p = p.Parent {
		if p.DataAtom == atom.Body || p.DataAtom == atom.Html || p.DataAtom == atom.Main || stop(p) {
			break
		}
		if added := count[p] - count[card]; 2*added > total-count[card] {
			break
		}
		card = p
	}
	return card
}

// amountBefore are the marks of currencies before an amount, amountAfter those after it,
// and noAmount the words for a price that is not given.
var (
	amountBefore = []string{"us$", "usd", "$", "¥", "€", "£", "jpy", "tzs", "kes"}
	amountAfter  = []string{"usd", "円", "万円", "jpy"}
	noAmount     = []string{"ask", "sold"}
	amountMarks  = claim.NewWords("$", "¥", "€", "£", "usd", "jpy", "tzs", "kes", "円", "ask", "sold")
)

// hasAmount reports a text with an amount of money, or the word for a price that is not
// given.
func hasAmount(s string) bool {
	if !amountMarks.In(s) {
		return false
	}
	s = strings.ToLower(s)
	return slices.ContainsFunc(amountBefore, func(mark string) bool {
		return anyFollowed(s, mark, func(_, after string) bool { return startsWithDigit(strings.TrimPrefix(after, " ")) })
	}) || slices.ContainsFunc(amountAfter, func(mark string) bool {
		return anyFollowed(s, mark, func(before, _ string) bool { return endsWithDigit(strings.TrimSuffix(before, " ")) })
	}) || slices.ContainsFunc(noAmount, func(word string) bool {
		return anyFollowed(s, word, func(before, after string) bool { return !endsWithWord(before) && !startsWithWord(after) })
	})
}

// anyFollowed reports whether a mark occurs in a text between texts that meet a condition.
func anyFollowed(s, mark string, meets func(before, after string) bool) bool {
	for from := 0; ; {
		at := strings.Index(s[from:], mark)
		if at < 0 {
			return false
		}
		if meets(s[:from+at], s[from+at+len(mark):]) {
			return true
		}
		from += at + len(mark)
	}
}

func startsWithDigit(s string) bool { return s != "" && s[0]-'0' <= 9 }

func endsWithDigit(s string) bool { return s != "" && s[len(s)-1]-'0' <= 9 }

func startsWithWord(s string) bool { return s != "" && isWordByte(s[0]) }

func endsWithWord(s string) bool { return s != "" && isWordByte(s[len(s)-1]) }

func isWordByte(c byte) bool { return c-'0' <= 9 || c-'a' <= 'z'-'a' || c == '_' }

// hasCarWords reports whether a box looks as if it were about a car: with a price, a
// year or a make.
func hasCarWords(box *html.Node) bool {
	s := dom.Text(box)
	if hasAmount(s) || claim.YearIn(s) != "" {
		return true
	}
	return namesMake(s)
}

// minRepeated is the number of equal boxes that makes a list of cars.
const minRepeated = 3

// markRepeated marks lists of cars: three or more boxes of the same shape, each with a
// link or a picture and a price.
func (d *Document) markRepeated(headed map[*html.Node]bool) {
	body := Body(d)
	var inside bool
	for n := body; n != nil; n = dom.After(n, body, inside) {
		inside = n.Type == html.ElementNode && !d.foreign[n] && !IsAside(n)
		if inside && isList(n) && hasElements(n, minRepeated) {
			d.markList(n, headed)
		}
	}
}

func isList(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Tbody, atom.Tr:
		return true
	}
	return false
}

// markList marks the boxes of one list.
func (d *Document) markList(n *html.Node, headed map[*html.Node]bool) {
	shapes := map[shape][]*html.Node{}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !headed[c] {
			own := shape{c.DataAtom, dom.Head(dom.Attr(c, "class"))}
			shapes[own] = append(shapes[own], c)
		}
	}
	for _, boxes := range shapes {
		d.markBoxes(boxes)
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

func (d *Document) markBoxes(boxes []*html.Node) {
	if len(boxes) < minRepeated {
		return
	}
	priced := 0
	for _, box := range boxes {
		if hasLinkOrPicture(box) && hasAmount(dom.Text(box)) {
			priced++
		}
	}
	if priced < minRepeated || 2*priced < len(boxes) {
		return
	}
	for _, box := range boxes {
		d.foreign[box] = true
	}
}

// maxBox bounds the elements of a box that are visited.
const maxBox = 200

func hasLinkOrPicture(box *html.Node) bool {
	visited := 0
	for n := range dom.Elements(box) {
		if n.DataAtom == atom.A || n.DataAtom == atom.Img {
			return true
		}
		if visited++; visited > maxBox {
			break
		}
	}
	return false
}
