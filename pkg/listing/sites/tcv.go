package sites

import (
	"net/url"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
)

// tcv reads TCV (formerly TradeCarView), of which only the words of pages and
// the links of pictures are known.
var tcv = Adapter{Name: "TCV", Read: readTCV}

func readTCV(doc *page.Document, c *claim.List) {
	m := partsOf("TCV", doc.URL)
	if m == nil {
		return
	}
	page.AddSlugs(c, m[1], m[2])
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		return page.OnHost(u, "tc-v.com") && strings.HasPrefix(u.Path, "/cdn/trade/") && strings.Contains(u.Path, "/"+m[3]+"/")
	}))
}
