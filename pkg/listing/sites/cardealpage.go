package sites

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// cardealPage reads CardealPage, as seen in April 2020. Its specifications are
// a plain table; the price box, the stock number and the gallery are not. The
// total to a country is drawn by a script, so the page never holds it:
// #TotalPrice2 repeats the FOB price.
var cardealPage = Adapter{
	Name: "CardealPage",
	shape: func(doc *page.Document) bool {
		return doc.IDs["specifications"] != nil && doc.Find(atom.Div, "visFob") != nil
	},
	Read: readCardealPage,
}

var (
	cardealRef        = regexp.MustCompile(`Ref No:\s?(\d{4,8})\b`)
	cardealBackground = regexp.MustCompile(`url\('([^']+)'\)`)
)

func readCardealPage(doc *page.Document, c *claim.List) {
	shown := dom.Text(doc.FindAnchored(atom.Div, "visPrice"))
	c.Add(claim.FieldPrice, shown)
	if hidden := doc.InputValue("CalcNowFOB"); hidden != "" && hidden != "0" {
		c.Add(claim.FieldPrice, "USD "+hidden) // the page's own sums are in US dollars
	}
	if m := cardealRef.FindStringSubmatch(doc.Title); m != nil {
		c.Add(claim.FieldStock, m[1])
	}
	own := ""
	links := page.Pictures(doc, func(u *url.URL) bool {
		if !page.OnHost(u, "cardealpage.com") || !strings.HasSuffix(u.Path, "/car_image.php") {
			return false
		}
		car := u.Query().Get("r")
		own = cmp.Or(own, car)
		return car == own
	})
	// The strip of thumbnails is one picture more, behind every thumbnail.
	if m := cardealBackground.FindStringSubmatch(dom.Head(dom.Attr(doc.Find(atom.Div, "cip_small"), "style"))); m != nil {
		if strip := doc.Absolute(m[1]); strings.Contains(strip, "car_image.php?r="+own+"&") {
			links = append(links, strip)
		}
	}
	c.AddImages(links)
}
