package listing

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tanzania is the site's number of the destination country.
const tanzania = "40"

// readBeForwardTotal claims cost and freight to Dar es Salaam, where the page
// quotes it: first from the row of the port, else from the total of the price
// box. The site picks a destination by the visitor's address, so a total
// without a named destination belongs to any port of the world.
func readBeForwardTotal(doc *document, c *claims) {
	if why := otherQuote(doc); why != "" {
		c.reject(fieldCF, text(doc.ids["fn-vehicle-price-total-price"]), why)
		return
	}
	for _, input := range doc.tags[atom.Input] {
		if row, ok := strings.CutPrefix(attr(input, "id"), "fn-port-city-info-"); ok && isDarRow(input) {
			c.add(fieldCF, inCurrency(doc, rowTotal(input, row)))
			break // there is one such row; a second would be a second walk of the form
		}
	}
	readTotalBox(doc, c)
}

// otherQuote says why the page's totals are no cost and freight to Tanzania,
// "" when nothing speaks against it.
func otherQuote(doc *document) string {
	country := firstOf(doc.value("id-tp-country-id"), chosenCountry(doc))
	kind := strings.ToUpper(text(doc.ids["fn-vehicle-price-quote-type"]))
	switch {
	case country != "" && country != tanzania:
		return "the destination is another country"
	case kind != "" && kind != "C&F":
		return "the quote is not C&F"
	case doc.value("id-local-is-ask") == "1":
		return "the total is on request"
	}
	return ""
}

func chosenCountry(doc *document) string {
	for _, option := range doc.tags[atom.Option] {
		if hasAttr(option, "selected") && option.Parent != nil && attr(option.Parent, "name") == "tp_country_id" {
			return attr(option, "value")
		}
	}
	return ""
}

// isDarRow reports the row of the roll-on port Dar es Salaam itself: not a town
// behind it, and not the variant with the clearing agent's fee in it.
func isDarRow(input *html.Node) bool {
	port, town := attr(input, "data-port"), attr(input, "data-destination")
	isDar := func(s string) bool { return s == "" || strings.EqualFold(strings.TrimSpace(s), "DAR ES SALAAM") }
	return port+town != "" && isDar(port) && isDar(town) &&
		strings.Contains(strings.ToUpper(attr(input, "data-via")), "RORO") && attr(input, "data-with-clearing") == ""
}

// rowTotal returns the total of a quote row; it stands after the element that
// carries the row's number and before that of the next row.
func rowTotal(input *html.Node, row string) string {
	form, inside := input, false
	for form.Parent != nil && form.DataAtom != atom.Form && form.DataAtom != atom.Body {
		form = form.Parent
	}
	for n := range elements(form) {
		if number := attr(n, "data-quote-form-row"); number != "" {
			inside = number == row
		}
		if inside && hasClass(n, "fn-total-price") {
			return firstOf(attr(n, "value"), text(n))
		}
	}
	return ""
}

// readTotalBox claims the total of the price box when the port beside it is Dar
// es Salaam, or no port is named and the country is Tanzania.
func readTotalBox(doc *document, c *claims) {
	box := doc.ids["fn-vehicle-price-total-price"]
	if !shown(box) || hasClass(box, "label-ask") {
		return
	}
	total := inCurrency(doc, text(box))
	port := ""
	if p := doc.find(atom.P, "destination-port"); shown(p) {
		port = strings.Trim(text(p), " ()")
	}
	switch {
	case port != "" && !namesDarPort(port):
		c.reject(fieldCF, total, "the destination is another port")
	case port == "" && firstOf(doc.value("id-tp-country-id"), chosenCountry(doc)) != tanzania:
		c.reject(fieldCF, total, "the destination is not named")
	case total != "" && total == inCurrency(doc, attr(doc.find(atom.Div, "list-detail-box"), "data-display-current-price")):
		c.reject(fieldCF, total, "the total repeats the price, so no destination was chosen")
	default:
		c.add(fieldCF, total)
	}
	if extra := doc.ids["fn-vehicle-price-inspection"]; shown(extra) && text(extra) != "" {
		c.note("The total to Dar es Salaam includes an inspection.")
	}
}

func namesDarPort(port string) bool { return strings.Contains(strings.ToUpper(port), "DAR ES SALAAM") }
