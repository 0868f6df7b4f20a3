package listing

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pickNBuy24 reads PicknBuy24, as public readers of the site describe it.
var pickNBuy24 = adapter{
	name: "PicknBuy24",
	shape: func(doc *document) bool {
		return doc.ids["fobPrice"] != nil && doc.ids["refno"] != nil
	},
	read:      readPickNBuy24,
	canonical: canonicalPickNBuy24,
}

var (
	pickNBuyDetail = regexp.MustCompile(`(?i)^/detail/([^/]+)/([^/]+)/(\d{6,})\.html$`)
	pickNBuyRef    = regexp.MustCompile(`\d{6,}`)
	pickNBuyPhoto  = regexp.MustCompile(`^/photo/(\d{6,})/`)
)

func readPickNBuy24(doc *document, c *claims) {
	ref := pickNBuyRef.FindString(firstOf(text(doc.ids["refno"]), doc.value("refno")))
	if m := pickNBuyDetail.FindStringSubmatch(doc.url.Path); m != nil {
		c.addSlugs(m[1], m[2])
		ref = firstOf(ref, m[3])
	}
	c.add(fieldStock, ref)
	c.add(fieldPrice, priceBeside(doc.ids["fobPrice"]))
	c.addImages(pictures(doc, func(u *url.URL) bool {
		m := pickNBuyPhoto.FindStringSubmatch(u.Path)
		return m != nil && (ref == "" || m[1] == ref)
	}))
}

// priceBeside returns an element's amount; when it has no currency of its own,
// with that of the box around it.
func priceBeside(n *html.Node) string {
	amount := text(n)
	p, ok := readPrice(amount)
	if !ok || p.currency != "" || n.Parent == nil {
		return amount
	}
	if code, ok := readCurrency(strings.ToUpper(text(n.Parent))); ok && code != "" && n.Parent.DataAtom != atom.Body {
		return code + " " + amount
	}
	return amount
}

func canonicalPickNBuy24(u *url.URL) error {
	path := strings.ToLower(u.Path)
	switch {
	case pickNBuyDetail.MatchString(path):
		rewrite(u, "www.picknbuy24.com", path)
	case strings.TrimSuffix(path, "/") == "/detail" && u.Query().Get("refno") != "":
		rewrite(u, "www.picknbuy24.com", "/detail/", "refno")
	case path == "/":
		return notACar()
	}
	return nil
}
