package sites

import (
	"net/url"
	"regexp"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
)

// tcv reads TCV (formerly TradeCarView), of which only the words of pages and
// the links of pictures are known.
var tcv = Adapter{Name: "TCV", Read: readTCV, Canonicalize: canonicalTCV}

var tcvDetail = regexp.MustCompile(`(?i)^/used_car/([^/]+)/([^/]+)/(\d{7,})(?:/|$)`)

func readTCV(doc *page.Document, c *claim.List) {
	m := tcvDetail.FindStringSubmatch(doc.URL.Path)
	if m == nil {
		return
	}
	page.AddSlugs(c, m[1], m[2])
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		return page.OnHost(u, "tc-v.com") && strings.HasPrefix(u.Path, "/cdn/trade/") && strings.Contains(u.Path, "/"+m[3]+"/")
	}))
}

func canonicalTCV(u *url.URL) error {
	switch m := tcvDetail.FindString(u.Path); {
	case m != "" && page.OnHost(u, "tc-v.com"):
		rewrite(u, "www.tc-v.com", strings.TrimSuffix(strings.ToLower(m), "/")+"/")
	case u.Path == "/":
		return notACar()
	}
	return nil
}
