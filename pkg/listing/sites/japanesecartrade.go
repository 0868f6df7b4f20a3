package sites

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// japaneseCarTrade reads JapaneseCarTrade, as public readers of the site
// describe it: labels in a list, where Drive is the side of the steering wheel.
var japaneseCarTrade = Adapter{
	Name: "JapaneseCarTrade",
	shape: func(doc *page.Document) bool {
		return doc.FindAnchored(atom.Div, "fob_price") != nil && doc.Find(atom.Div, "listing-detail-box") != nil
	},
	Read:         readJapaneseCarTrade,
	Canonicalize: canonicalJCT("www.japanesecartrade.com"),
}

// jpcTrade reads the sister site, whose prices are in yen; a script turns them
// into dollars.
var jpcTrade = Adapter{Name: "JPC Trade", Read: readJPCTrade, Canonicalize: canonicalJCT("www.jpctrade.com")}

var jctDetail = regexp.MustCompile(`^/(\d{4,})-japan-used-[^/]+\.html$`)

func readJapaneseCarTrade(doc *page.Document, c *claim.List) {
	c.Add(claim.FieldPrice, dom.Text(doc.Find(atom.Div, "fob_price")))
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		return page.OnHost(u, "cdn.japanesecartrade.com") && strings.Contains(u.Path, "/vehicle_image/")
	}))
	if m := jctDetail.FindStringSubmatch(doc.URL.Path); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
}

func readJPCTrade(doc *page.Document, c *claim.List) {
	if amount := doc.InputValue("fob_price"); claim.Digits(amount) > 0 {
		c.Add(claim.FieldPrice, "JPY "+amount)
	}
	if m := jctDetail.FindStringSubmatch(doc.URL.Path); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
}

func canonicalJCT(host string) func(*url.URL) error {
	return func(u *url.URL) error {
		switch path := strings.ToLower(u.Path); {
		case jctDetail.MatchString(path):
			rewrite(u, host, path)
		case path == "/":
			return notACar()
		}
		return nil
	}
}
