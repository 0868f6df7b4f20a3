package listing

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"
)

// sbt reads SBT Japan, of which only the words of pages are known. Model is the
// bare chassis code there; the car's name stands in title and heading:
// "2019/3 HONDA FIT 13G". Its total is for a port that the page does not name.
var sbt = adapter{name: "SBT Japan", amend: amendSBT, read: readSBT, canonical: canonicalSBT}

func amendSBT(p *pair) {
	if p.field == fieldModel && sbtCode.MatchString(strings.ToUpper(p.value)) {
		p.field = fieldCode
	}
}

var (
	sbtCode   = regexp.MustCompile(`^(?:[0-9A-Z]{1,3}-)?[A-Z0-9]*(?:[A-Z]\d|\d[A-Z])[A-Z0-9]*$`)
	sbtDate   = regexp.MustCompile(`^((?:19|20)\d\d/\d{1,2})\s+(.+)$`)
	sbtStock  = regexp.MustCompile(`Stock Id:\s?([A-Z]{2,3}\d{4,})`)
	sbtDetail = regexp.MustCompile(`(?i)^/used-cars/(?:[^/]+/[^/]+/)?([a-z]{2,3}\d{4})/?$`)
	sbtList   = regexp.MustCompile(`(?i)^/(?:used-cars/?(?:search/?|[^/]+/[^/]+/?)?)?$`)
)

func readSBT(doc *document, c *claims) {
	heading := ""
	if h1 := doc.tags[atom.H1]; len(h1) > 0 {
		heading = text(h1[0])
	}
	title, _, _ := strings.Cut(doc.title, "|")
	long, short := sbtDate.FindStringSubmatch(heading), sbtDate.FindStringSubmatch(strings.TrimSpace(title))
	if long == nil {
		long = short
	}
	if long != nil && short != nil {
		c.add(fieldRegistration, long[1])
		c.addName(doc, long[2], short[2])
	}
	if m := sbtStock.FindStringSubmatch(doc.title); m != nil {
		c.add(fieldStock, m[1])
	}
	photo := func(part string) func(*url.URL) bool {
		return func(u *url.URL) bool { return onHost(u, "img.sbtjapan.com") && strings.Contains(u.Path, part) }
	}
	c.addImages(pictures(doc, photo("/carphoto/")))
	c.addImages(pictures(doc, photo("/dealercarphoto/"))) // watermarked
}

func canonicalSBT(u *url.URL) error {
	switch m := sbtDetail.FindStringSubmatch(u.Path); {
	case m != nil:
		path := strings.ToLower(strings.TrimSuffix(u.Path, "/"))
		rewrite(u, "www.sbtjapan.com", strings.TrimSuffix(path, strings.ToLower(m[1]))+strings.ToUpper(m[1]))
	case sbtList.MatchString(u.Path):
		return notACar()
	}
	return nil
}
