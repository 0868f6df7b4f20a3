package sites

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
)

// sbt reads SBT Japan, of which only the words of pages are known. Model is the
// bare chassis code there; the car's name stands in title and heading:
// "2019/3 HONDA FIT 13G". Its total is for a port that the page does not name.
var sbt = Adapter{Name: "SBT Japan", Amend: amendSBT, Read: readSBT, canonicalize: canonicalSBT}

func amendSBT(p *pairs.Pair) {
	if p.Field == claim.FieldModel && sbtCode.MatchString(strings.ToUpper(p.Value)) {
		p.Field = claim.FieldCode
	}
}

var (
	sbtCode   = regexp.MustCompile(`^(?:[0-9A-Z]{1,3}-)?[A-Z0-9]*(?:[A-Z]\d|\d[A-Z])[A-Z0-9]*$`)
	sbtDate   = regexp.MustCompile(`^((?:19|20)\d\d/\d{1,2})\s+(.+)$`)
	sbtStock  = regexp.MustCompile(`Stock Id:\s?([A-Z]{2,3}\d{4,})`)
	sbtDetail = regexp.MustCompile(`(?i)^/used-cars/(?:[^/]+/[^/]+/)?([a-z]{2,3}\d{4})/?$`)
	sbtList   = regexp.MustCompile(`(?i)^/(?:used-cars/?(?:search/?|[^/]+/[^/]+/?)?)?$`)
)

func readSBT(doc *page.Document, c *claim.List) {
	heading := ""
	if h1 := doc.Tags[atom.H1]; len(h1) > 0 {
		heading = dom.Text(h1[0])
	}
	title, _, _ := strings.Cut(doc.Title, "|")
	long, short := sbtDate.FindStringSubmatch(heading), sbtDate.FindStringSubmatch(strings.TrimSpace(title))
	if long == nil {
		long = short
	}
	if long != nil && short != nil {
		c.Add(claim.FieldRegistration, long[1])
		page.AddName(c, doc, long[2], short[2])
	}
	if m := sbtStock.FindStringSubmatch(doc.Title); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
	photo := func(part string) func(*url.URL) bool {
		return func(u *url.URL) bool { return page.OnHost(u, "img.sbtjapan.com") && strings.Contains(u.Path, part) }
	}
	c.AddImages(page.Pictures(doc, photo("/carphoto/")))
	c.AddImages(page.Pictures(doc, photo("/dealercarphoto/"))) // watermarked
}

func canonicalSBT(u *url.URL) error {
	switch m := sbtDetail.FindStringSubmatch(u.Path); {
	case m != nil:
		path := strings.ToLower(strings.TrimSuffix(u.Path, "/"))
		rewrite(u, "www.sbtjapan.com", strings.TrimSuffix(path, strings.ToLower(m[1]))+strings.ToUpper(m[1]))
	case sbtList.MatchString(u.Path):
		return fetch.Fail("error/url_unsupported.list", nil)
	}
	return nil
}
