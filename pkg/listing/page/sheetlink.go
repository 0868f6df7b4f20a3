package page

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

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
