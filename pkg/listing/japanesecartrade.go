package listing

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"
)

// japaneseCarTrade reads JapaneseCarTrade, as public readers of the site
// describe it: labels in a list, where Drive is the side of the steering wheel.
var japaneseCarTrade = adapter{
	name: "JapaneseCarTrade",
	shape: func(doc *document) bool {
		return doc.find(atom.Div, "fob_price") != nil && doc.find(atom.Div, "listing-detail-box") != nil
	},
	read:      readJapaneseCarTrade,
	canonical: canonicalJCT("www.japanesecartrade.com"),
}

// jpcTrade reads the sister site, whose prices are in yen; a script turns them
// into dollars.
var jpcTrade = adapter{name: "JPC Trade", read: readJPCTrade, canonical: canonicalJCT("www.jpctrade.com")}

var jctDetail = regexp.MustCompile(`^/(\d{4,})-japan-used-[^/]+\.html$`)

func readJapaneseCarTrade(doc *document, c *claims) {
	c.add(fieldPrice, text(doc.find(atom.Div, "fob_price")))
	c.addImages(pictures(doc, func(u *url.URL) bool {
		return onHost(u, "cdn.japanesecartrade.com") && strings.Contains(u.Path, "/vehicle_image/")
	}))
	if m := jctDetail.FindStringSubmatch(doc.url.Path); m != nil {
		c.add(fieldStock, m[1])
	}
}

func readJPCTrade(doc *document, c *claims) {
	if amount := doc.value("fob_price"); digits(amount) > 0 {
		c.add(fieldPrice, "JPY "+amount)
	}
	if m := jctDetail.FindStringSubmatch(doc.url.Path); m != nil {
		c.add(fieldStock, m[1])
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
