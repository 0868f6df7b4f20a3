package page

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// lazy are the attributes that hold the link of a picture; those that a script
// reads come first, because src then holds a blank.
var lazy = []string{"data-src", "data-original", "data-lazy", "load_src", "src"}

// maxPictures bounds the links that are examined on one page.
const maxPictures = 20_000

// Pictures returns the links of anchors and images for which keep is true, in
// the order of the page, links to large pictures first, without pictures of
// similar cars.
func Pictures(doc *Document, keep func(*url.URL) bool) (links []string) {
	looked := 0
	add := func(n *html.Node, link string) bool {
		if looked++; link == "" || looked > maxPictures || len(links) >= claim.MaxImages {
			return false
		}
		full := doc.Absolute(link)
		u, err := url.Parse(full)
		if full == "" || err != nil || !keep(u) || doc.IsForeign(n) {
			return false
		}
		links = append(links, full)
		return true
	}
	for _, a := range doc.Tags[atom.A] {
		add(a, dom.Attr(a, "href"))
	}
	for _, img := range doc.Tags[atom.Img] {
		for _, key := range lazy {
			if add(img, dom.Attr(img, key)) {
				break
			}
		}
	}
	return links
}

// OnHost reports whether a URL is on the host or on a subdomain of it.
func OnHost(u *url.URL, host string) bool {
	name := u.Hostname()
	return name == host || strings.HasSuffix(name, "."+host)
}

// sheetNames are the link texts that sites use for the auction's inspection sheet.
var sheetNames = []string{
	"auction sheet", "inspection sheet", "auction inspection sheet", "condition report", "auction report", "出品票", "検査票",
}

// sheetFiles are the endings of pictures and documents. A link without one
// leads to a page about sheets more often than to the sheet.
var sheetFiles = []string{".jpg", ".jpeg", ".png", ".webp", ".gif", ".pdf"}

// fileWords find the links that may have such an ending, also one that is escaped.
var fileWords = claim.NewWords(append([]string{"%"}, sheetFiles...)...)

// ClaimSheetLink claims the link whose text names the inspection sheet, when the
// site's adapter found none.
func ClaimSheetLink(doc *Document, c *claim.List) {
	c.Source, c.Rank = "links", claim.RankLabel
	isFile := fileWords.In(doc.Base.Path) // where a link without a path leads
	for _, a := range doc.Tags[atom.A] {
		if !isFile && !fileWords.In(dom.Attr(a, "href")) {
			continue
		}
		name := strings.ToLower(dom.Text(a))
		if !slices.Contains(sheetNames, strings.TrimPrefix(name, "view ")) || doc.IsForeign(a) {
			continue
		}
		link := doc.Absolute(dom.Attr(a, "href"))
		u, err := url.Parse(link)
		if err == nil && slices.Contains(sheetFiles, strings.ToLower(path.Ext(u.Path))) {
			c.AddSheet(link)
		}
	}
}
