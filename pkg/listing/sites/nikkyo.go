package sites

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// nikkyo reads Nikkyo, as public readers of the site describe it. Which port
// its C&F price is for is not known, so only a page that names Dar es Salaam
// beside it is used.
var nikkyo = Adapter{
	Name: "Nikkyo",
	shape: func(doc *page.Document) bool {
		return doc.IDs["vehicle_tbl"] != nil && doc.IDs["top_FOB"] != nil
	},
	Read: readNikkyo,
}

func readNikkyo(doc *page.Document, c *claim.List) {
	c.Add(claim.FieldPrice, nikkyoPrice(doc.IDs["top_FOB"]))
	total := doc.IDs["top_CandF"]
	if page.NamesDar(dom.Text(total)) {
		c.Add(claim.FieldCF, nikkyoPrice(total))
	} else {
		c.Reject(claim.FieldCF, nikkyoPrice(total), "destination_unnamed")
	}
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		wrapped := strings.Contains(u.Path, "nikkyocars.com/pic/")
		return wrapped || page.OnHost(u, "nikkyocars.com") && strings.HasPrefix(u.Path, "/pic/")
	}))
}

// nikkyoPrice joins the currency and the amount of a price box.
func nikkyoPrice(box *html.Node) string {
	amount, currency := "", ""
	for n := range dom.Elements(box) {
		if n.DataAtom != atom.Span {
			continue
		}
		if dom.HasClass(n, "top_price") {
			amount = dom.Text(n)
		} else if dom.HasClass(n, "currency") {
			currency = dom.Text(n)
		}
	}
	if p, ok := claim.ParsePrice(amount); ok && p.Currency != "" {
		return amount
	}
	if currency == "" || amount == "" {
		return ""
	}
	return currency + " " + amount
}
