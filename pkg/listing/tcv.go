package listing

import (
	"net/url"
	"regexp"
	"strings"
)

// tcv reads TCV (formerly TradeCarView), of which only the words of pages and
// the links of pictures are known.
var tcv = adapter{name: "TCV", read: readTCV, canonical: canonicalTCV}

var tcvDetail = regexp.MustCompile(`(?i)^/used_car/([^/]+)/([^/]+)/(\d{7,})(?:/|$)`)

func readTCV(doc *document, c *claims) {
	m := tcvDetail.FindStringSubmatch(doc.url.Path)
	if m == nil {
		return
	}
	c.addSlugs(m[1], m[2])
	c.addImages(pictures(doc, func(u *url.URL) bool {
		return onHost(u, "tc-v.com") && strings.HasPrefix(u.Path, "/cdn/trade/") && strings.Contains(u.Path, "/"+m[3]+"/")
	}))
}

func canonicalTCV(u *url.URL) error {
	switch m := tcvDetail.FindString(u.Path); {
	case m != "" && onHost(u, "tc-v.com"):
		rewrite(u, "www.tc-v.com", strings.TrimSuffix(strings.ToLower(m), "/")+"/")
	case u.Path == "/":
		return notACar()
	}
	return nil
}
