package listing

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// beforward reads detail pages of www.beforward.jp, as seen in September 2026.
var beforward = adapter{
	name:  "BE FORWARD",
	least: 20_000,
	shape: func(doc *document) bool {
		return doc.find(atom.Table, "specification") != nil && doc.ids["bread"] != nil
	},
	read:      readBeForward,
	canonical: canonicalBeForward,
	ask: func(u *url.URL) {
		if beForwardDetail.MatchString(u.Path) {
			u.RawQuery = "tp_country_id=" + tanzania
		}
	},
}

func readBeForward(doc *document, c *claims) {
	readBread(doc, c)
	table := doc.find(atom.Table, "specification")
	for _, p := range doc.pairs {
		if p.group == table {
			c.add(p.field, p.value)
		}
	}
	c.addCode(text(doc.find(atom.Div, "detail-specs-text")))
	readBeForwardPrice(doc, c)
	readBeForwardTotal(doc, c)
	c.addImages(beForwardImages(doc, c))
	if shown(doc.find(atom.Div, "list-detail-box-underoffer")) || shown(doc.find(atom.P, "sold-text")) {
		c.sold = true
	}
}

// readBread reads the trail of links, told apart by the filter that each sets:
// make, make and body, make and model. The model stands clean nowhere else.
func readBread(doc *document, c *claims) {
	for n := range elements(doc.ids["bread"]) {
		if n.DataAtom != atom.A {
			continue
		}
		link := attr(n, "href")
		switch {
		case !strings.Contains(link, "/make="), strings.Contains(link, "mfg_year"):
		case strings.Contains(link, "/model="):
			c.add(fieldModel, text(n))
		case strings.Contains(link, "/veh_type="):
			c.add(fieldBody, text(n))
		default:
			c.add(fieldMake, text(n))
		}
	}
}

// readBeForwardPrice claims the price that is shown. The page holds two more
// that are close to it (fbq_vc_value, fob-price-not-adjustment), a struck one
// and a coupon's.
func readBeForwardPrice(doc *document, c *claims) {
	looked := 0
	for _, p := range doc.tags[atom.P] {
		if !hasClass(p, "vehicle-price") {
			continue
		}
		if looked++; looked > 20 {
			break
		}
		if hasClass(p, "save-price") || hasClass(p, "original-vehicle-price") || !shown(p) {
			continue
		}
		if amount := inCurrency(doc, text(p)); amount != "" {
			c.add(fieldPrice, amount)
			break
		}
	}
	if box := doc.find(atom.Div, "list-detail-box"); box != nil {
		c.add(fieldPrice, inCurrency(doc, attr(box, "data-display-current-price")))
	}
}

// inCurrency returns an amount of the page under the currency that the visitor
// has chosen: "$" may be any dollar. "" when there is no amount.
func inCurrency(doc *document, amount string) string {
	p, ok := readPrice(amount)
	if chosen := doc.value("id-selected-currency"); ok && chosen != "" {
		p.currency = chosen
	}
	if !ok || p.currency == "" {
		return ""
	}
	return p.String()
}

// beForwardImages returns the gallery in the large size. The name of a picture
// differs between sizes, so one cannot be made of another.
func beForwardImages(doc *document, c *claims) (links []string) {
	for _, input := range doc.tags[atom.Input] {
		if hasClass(input, "fn-images-pc") {
			links = append(links, doc.absolute(attr(input, "data-path")))
		}
	}
	if len(links) == 0 {
		links = galleryLinks(doc)
	}
	if total := digits(text(doc.ids["fn-slider-total"])); total != 0 && total != len(links) {
		c.note("The gallery counts other pictures than it lists.")
	}
	return links
}

func galleryLinks(doc *document) (links []string) {
	gallery := doc.ids["gallery"]
	if gallery == nil {
		return nil
	}
	for n := range elements(gallery) {
		if n.DataAtom == atom.A && hasClass(n, "fn-image-slider-pc") {
			links = append(links, doc.absolute(attr(n, "href")))
		}
	}
	return links
}

// shown reports an element that is there and not hidden by its own style or
// one around it.
func shown(n *html.Node) bool { return n != nil && !ancestor(n, hidden) }
