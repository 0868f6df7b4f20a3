package listing

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// nikkyo reads Nikkyo, as public readers of the site describe it. Which port
// its C&F price is for is not known, so only a page that names Dar es Salaam
// beside it is believed.
var nikkyo = adapter{
	name: "Nikkyo",
	shape: func(doc *document) bool {
		return doc.ids["vehicle_tbl"] != nil && doc.ids["top_FOB"] != nil
	},
	read:      readNikkyo,
	canonical: canonicalNikkyo,
}

func readNikkyo(doc *document, c *claims) {
	c.add(fieldPrice, nikkyoPrice(doc.ids["top_FOB"]))
	total := doc.ids["top_CandF"]
	if namesDar(text(total)) {
		c.add(fieldCF, nikkyoPrice(total))
	} else {
		c.reject(fieldCF, nikkyoPrice(total), "the destination is not named")
	}
	c.addImages(pictures(doc, func(u *url.URL) bool {
		wrapped := strings.Contains(u.Path, "nikkyocars.com/pic/")
		return wrapped || onHost(u, "nikkyocars.com") && strings.HasPrefix(u.Path, "/pic/")
	}))
}

// nikkyoPrice joins the currency and the amount of a price box.
func nikkyoPrice(box *html.Node) string {
	amount, currency := "", ""
	for n := range elements(box) {
		if n.DataAtom != atom.Span {
			continue
		}
		if hasClass(n, "top_price") {
			amount = text(n)
		} else if hasClass(n, "currency") {
			currency = text(n)
		}
	}
	if p, ok := readPrice(amount); ok && p.currency != "" {
		return amount
	}
	if currency == "" || amount == "" {
		return ""
	}
	return currency + " " + amount
}

func canonicalNikkyo(u *url.URL) error {
	path := strings.ToLower(u.Path)
	if path == "/n2014/stock/stock-view.asp" || path == "/m/stock/stock-view.asp" {
		if u.Query().Get("code") != "" {
			rewrite(u, "www.nikkyocars.com", "/n2014/stock/stock-view.asp", "lang", "code")
		}
	}
	return nil
}
