package listing

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"
)

// cardealPage reads CardealPage, as seen in April 2020. Its specifications are
// a plain table; the price box, the stock number and the gallery are not. The
// total to a country is drawn by a script, so the page never holds it:
// #TotalPrice2 repeats the FOB price.
var cardealPage = adapter{
	name: "CardealPage",
	shape: func(doc *document) bool {
		return doc.ids["specifications"] != nil && doc.find(atom.Div, "visFob") != nil
	},
	read:      readCardealPage,
	canonical: canonicalCardealPage,
}

var (
	cardealRef        = regexp.MustCompile(`Ref No:\s?(\d{4,8})\b`)
	cardealBackground = regexp.MustCompile(`url\('([^']+)'\)`)
)

func readCardealPage(doc *document, c *claims) {
	shown := text(doc.find(atom.Div, "visPrice"))
	c.add(fieldPrice, shown)
	if hidden := doc.value("CalcNowFOB"); hidden != "" && hidden != "0" {
		c.add(fieldPrice, "USD "+hidden) // the page's own sums are in US dollars
	}
	if m := cardealRef.FindStringSubmatch(doc.title); m != nil {
		c.add(fieldStock, m[1])
	}
	own := ""
	links := pictures(doc, func(u *url.URL) bool {
		if !onHost(u, "cardealpage.com") || !strings.HasSuffix(u.Path, "/car_image.php") {
			return false
		}
		car := u.Query().Get("r")
		own = firstOf(own, car)
		return car == own
	})
	// The strip of thumbnails is one picture more, behind every thumbnail.
	if m := cardealBackground.FindStringSubmatch(start(attr(doc.find(atom.Div, "cip_small"), "style"))); m != nil {
		if strip := doc.absolute(m[1]); strings.Contains(strip, "car_image.php?r="+own+"&") {
			links = append(links, strip)
		}
	}
	c.addImages(links)
}

var (
	cardealLanguage = regexp.MustCompile(`^(?:/(?:pt|fr|sw|zh))+(/|$)`)
	cardealDetail   = regexp.MustCompile(`^/[^/]+/[^/]+/\d{8}(?:/|$)`)
)

func canonicalCardealPage(u *url.URL) error {
	path := cardealLanguage.ReplaceAllString(strings.ToLower(u.Path), "/")
	switch detail := cardealDetail.FindString(path); {
	case detail != "":
		rewrite(u, "www.cardealpage.com", strings.TrimSuffix(detail, "/")+"/")
	case path == "/" || path == "/full/" || path == "/discounted/":
		return notACar()
	}
	return nil
}
