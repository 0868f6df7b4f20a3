package sites

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// pickNBuy24 reads PicknBuy24, as public readers of the site describe it.
var pickNBuy24 = Adapter{
	Name: "PicknBuy24",
	shape: func(doc *page.Document) bool {
		return doc.IDs["fobPrice"] != nil && doc.IDs["refno"] != nil
	},
	Read: readPickNBuy24,
}

var (
	pickNBuyRef   = regexp.MustCompile(`\d{6,}`)
	pickNBuyPhoto = regexp.MustCompile(`^/photo/(\d{6,})/`)
)

func readPickNBuy24(doc *page.Document, c *claim.List) {
	ref := pickNBuyRef.FindString(cmp.Or(dom.Text(doc.IDs["refno"]), doc.InputValue("refno")))
	if m := partsOf("PicknBuy24", doc.URL); m != nil {
		page.AddSlugs(c, m[1], m[2])
		ref = cmp.Or(ref, m[3])
	}
	c.Add(claim.FieldStock, ref)
	c.Add(claim.FieldPrice, priceBeside(doc.IDs["fobPrice"]))
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		m := pickNBuyPhoto.FindStringSubmatch(u.Path)
		return m != nil && (ref == "" || m[1] == ref)
	}))
}

// priceBeside returns an element's amount; when it has no currency of its own,
// with that of the box around it.
func priceBeside(n *html.Node) string {
	amount := dom.Text(n)
	p, ok := claim.ParsePrice(amount)
	if !ok || p.Currency != "" || n.Parent == nil {
		return amount
	}
	if code, ok := claim.ParseCurrency(strings.ToUpper(dom.Text(n.Parent))); ok && code != "" && n.Parent.DataAtom != atom.Body {
		return code + " " + amount
	}
	return amount
}
