package sites

import (
	"net/url"
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
	Read: readJapaneseCarTrade,
}

// jpcTrade reads the sister site, whose prices are in yen; a script turns them
// into dollars.
var jpcTrade = Adapter{Name: "JPC Trade", Read: readJPCTrade}

func readJapaneseCarTrade(doc *page.Document, c *claim.List) {
	c.Add(claim.FieldPrice, dom.Text(doc.Find(atom.Div, "fob_price")))
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		return page.OnHost(u, "cdn.japanesecartrade.com") && strings.Contains(u.Path, "/vehicle_image/")
	}))
	if m := partsOf("JapaneseCarTrade", doc.URL); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
}

func readJPCTrade(doc *page.Document, c *claim.List) {
	if amount := doc.InputValue("fob_price"); claim.Digits(amount) > 0 {
		c.Add(claim.FieldPrice, "JPY "+amount)
	}
	if m := partsOf("JapaneseCarTrade", doc.URL); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
}
