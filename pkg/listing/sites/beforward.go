package sites

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// beforward reads detail pages of www.beforward.jp, as seen in September 2026.
var beforward = Adapter{
	Name:    "BE FORWARD",
	MinSize: 20_000,
	shape: func(doc *page.Document) bool {
		return doc.Find(atom.Table, "specification") != nil && doc.IDs["bread"] != nil
	},
	Read:         readBeForward,
	canonicalize: canonicalBeForward,
	ToFetch: func(u *url.URL) {
		if beForwardDetail.MatchString(u.Path) {
			u.RawQuery = "tp_country_id=" + tanzania
		}
	},
}

func readBeForward(doc *page.Document, c *claim.List) {
	readBread(doc, c)
	table := doc.Find(atom.Table, "specification")
	for _, p := range doc.Pairs {
		if p.Group == table {
			c.Add(p.Field, p.Value)
		}
	}
	c.AddCode(dom.Text(doc.Find(atom.Div, "detail-specs-text")))
	readBeForwardPrice(doc, c)
	readBeForwardTotal(doc, c)
	c.AddImages(beForwardImages(doc, c))
	if dom.IsVisible(doc.Find(atom.Div, "list-detail-box-underoffer")) || dom.IsVisible(doc.Find(atom.P, "sold-text")) {
		c.Sold = true
	}
}

// readBread reads the trail of links, distinguished by the filter that each sets:
// make, make and body, make and model. The model stands clean nowhere else.
func readBread(doc *page.Document, c *claim.List) {
	for n := range dom.Elements(doc.IDs["bread"]) {
		if n.DataAtom != atom.A {
			continue
		}
		link := dom.Attr(n, "href")
		switch {
		case !strings.Contains(link, "/make="), strings.Contains(link, "mfg_year"):
		case strings.Contains(link, "/model="):
			c.Add(claim.FieldModel, dom.Text(n))
		case strings.Contains(link, "/veh_type="):
			c.Add(claim.FieldBody, dom.Text(n))
		default:
			c.Add(claim.FieldMake, dom.Text(n))
		}
	}
}

// readBeForwardPrice claims the price that is shown. The page holds two more
// that are close to it (fbq_vc_value, fob-price-not-adjustment), a struck one
// and a coupon's, and cars that the site suggests have prices of the same class.
func readBeForwardPrice(doc *page.Document, c *claim.List) {
	box, priced := doc.FindAnchored(atom.Div, "list-detail-box"), false
	for _, p := range doc.Tags[atom.P] {
		if !dom.HasClass(p, "vehicle-price") || dom.HasClass(p, "save-price") || dom.HasClass(p, "original-vehicle-price") ||
			!dom.IsVisible(p) {
			continue
		}
		amount, shown := inCurrency(doc, dom.Text(p)), dom.Text(p)
		if box != nil && !dom.Contains(box, p) || !doc.IsAnchored(p) {
			c.Reject(claim.FieldPrice, shown, "other_car")
			continue
		}
		if amount == "" { // the car's own price is on request
			c.Withhold(shown)
			return
		}
		c.Add(claim.FieldPrice, amount)
		priced = true
		break
	}
	if box == nil {
		return
	}
	if hidden := inCurrency(doc, dom.Attr(box, "data-display-current-price")); hidden != "" {
		c.Add(claim.FieldPrice, hidden)
	} else if !priced {
		c.Withhold("")
	}
}

// inCurrency returns an amount of the page under the currency that the visitor
// has chosen: "$" may be any dollar. "" when there is no amount.
func inCurrency(doc *page.Document, amount string) string {
	p, ok := claim.ParsePrice(amount)
	if chosen := doc.InputValue("id-selected-currency"); ok && chosen != "" {
		p.Currency = chosen
	}
	if !ok || p.Currency == "" {
		return ""
	}
	return p.String()
}

// beForwardImages returns the gallery in the large size. The name of a picture
// differs between sizes, so one cannot be made of another.
func beForwardImages(doc *page.Document, c *claim.List) (links []string) {
	for _, input := range doc.Tags[atom.Input] {
		if dom.HasClass(input, "fn-images-pc") {
			links = append(links, doc.Absolute(dom.Attr(input, "data-path")))
		}
	}
	if len(links) == 0 {
		links = galleryLinks(doc)
	}
	if total := claim.Digits(dom.Text(doc.IDs["fn-slider-total"])); total != 0 && total != len(links) {
		c.Note("pictures_differ")
	}
	return links
}

func galleryLinks(doc *page.Document) (links []string) {
	gallery := doc.IDs["gallery"]
	if gallery == nil {
		return nil
	}
	for n := range dom.Elements(gallery) {
		if n.DataAtom == atom.A && dom.HasClass(n, "fn-image-slider-pc") {
			links = append(links, doc.Absolute(dom.Attr(n, "href")))
		}
	}
	return links
}

var (
	beForwardLanguage = regexp.MustCompile(`^(?:/(?:pt|fr|sw|es|ru|ge|ar))+(/|$)`)
	beForwardDetail   = regexp.MustCompile(`^/[^/]+/[^/]+/[a-z]{2}\d{5,}/id/\d+`)
)

// canonicalBeForward rewrites to the English desktop page, which is the one
// that can be read, without query: it only picks a destination or a filter.
func canonicalBeForward(u *url.URL) error {
	switch u.Hostname() {
	case "beforward.jp", "sp.beforward.jp", "www.beforward.jp":
	default:
		return fetch.Fail("error/url_unsupported.no_cars", nil)
	}
	path := beForwardLanguage.ReplaceAllString(strings.ToLower(u.Path), "/")
	if path == "/" || path == "/stocklist" || strings.HasPrefix(path, "/stocklist/") {
		return fetch.Fail("error/url_unsupported.list", nil)
	}
	if detail := beForwardDetail.FindString(path); detail != "" {
		path = detail + "/"
	}
	rewrite(u, "www.beforward.jp", path)
	return nil
}

// tanzania is the site's number of the destination country.
const tanzania = "40"

// readBeForwardTotal claims cost and freight to Dar es Salaam, where the page
// quotes it: first from the row of the port, else from the total of the price
// box. The site picks a destination by the visitor's address, so a total
// without a named destination belongs to any port of the world.
func readBeForwardTotal(doc *page.Document, c *claim.List) {
	if why := otherQuote(doc); why != "" {
		c.Reject(claim.FieldCF, dom.Text(doc.IDs["fn-vehicle-price-total-price"]), why)
		return
	}
	for _, input := range doc.Tags[atom.Input] {
		if row, ok := strings.CutPrefix(dom.Attr(input, "id"), "fn-port-city-info-"); ok && isDarRow(input) {
			c.Add(claim.FieldCF, inCurrency(doc, rowTotal(input, row)))
			break // there is one such row; a second would be a second walk of the form
		}
	}
	readTotalBox(doc, c)
}

// otherQuote says why the page's totals are no cost and freight to Tanzania,
// "" when nothing speaks against it.
func otherQuote(doc *page.Document) string {
	country := chosenCountry(doc)
	kind := strings.ToUpper(dom.Text(doc.IDs["fn-vehicle-price-quote-type"]))
	switch {
	case country != "" && country != tanzania:
		return "destination_country"
	case kind != "" && kind != "C&F":
		return "quote_not_cf"
	case doc.InputValue("id-local-is-ask") == "1":
		return "on_request"
	}
	return ""
}

// chosenCountry returns the number of the destination country, "" for none.
func chosenCountry(doc *page.Document) string {
	if country := doc.InputValue("id-tp-country-id"); country != "" {
		return country
	}
	for _, option := range doc.Tags[atom.Option] {
		if dom.HasAttr(option, "selected") && option.Parent != nil && dom.Attr(option.Parent, "name") == "tp_country_id" {
			return dom.Attr(option, "value")
		}
	}
	return ""
}

// isDarRow reports the row of the roll-on port Dar es Salaam itself: not a town
// behind it, and not the variant with the clearing agent's fee in it.
func isDarRow(input *html.Node) bool {
	port, town := dom.Attr(input, "data-port"), dom.Attr(input, "data-destination")
	isDar := func(s string) bool { return s == "" || strings.EqualFold(strings.TrimSpace(s), "DAR ES SALAAM") }
	return port+town != "" && isDar(port) && isDar(town) &&
		strings.Contains(strings.ToUpper(dom.Attr(input, "data-via")), "RORO") && dom.Attr(input, "data-with-clearing") == ""
}

// rowTotal returns the total of a quote row; it stands after the element that
// carries the row's number and before that of the next row.
func rowTotal(input *html.Node, row string) string {
	form, inside := input, false
	for form.Parent != nil && form.DataAtom != atom.Form && form.DataAtom != atom.Body {
		form = form.Parent
	}
	for n := range dom.Elements(form) {
		if number := dom.Attr(n, "data-quote-form-row"); number != "" {
			inside = number == row
		}
		if inside && dom.HasClass(n, "fn-total-price") {
			return cmp.Or(dom.Attr(n, "value"), dom.Text(n))
		}
	}
	return ""
}

// readTotalBox claims the total of the price box when the port beside it is Dar
// es Salaam, or no port is named and the country is Tanzania.
func readTotalBox(doc *page.Document, c *claim.List) {
	box := doc.IDs["fn-vehicle-price-total-price"]
	if !dom.IsVisible(box) || dom.HasClass(box, "label-ask") {
		return
	}
	total := inCurrency(doc, dom.Text(box))
	port := ""
	if p := doc.Find(atom.P, "destination-port"); dom.IsVisible(p) {
		port = strings.Trim(dom.Text(p), " ()")
	}
	switch {
	case port != "" && !strings.Contains(strings.ToUpper(port), "DAR ES SALAAM"):
		c.Reject(claim.FieldCF, total, "destination_port")
	case port == "" && chosenCountry(doc) != tanzania:
		c.Reject(claim.FieldCF, total, "destination_unnamed")
	case total != "" && total == inCurrency(doc, dom.Attr(doc.Find(atom.Div, "list-detail-box"), "data-display-current-price")):
		c.Reject(claim.FieldCF, total, "total_repeats")
	default:
		c.Add(claim.FieldCF, total)
	}
	if extra := doc.IDs["fn-vehicle-price-inspection"]; dom.IsVisible(extra) && dom.Text(extra) != "" {
		c.Note("total_with_inspection")
	}
}
