package listing

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// sheetNames are what sites call the auction's inspection sheet in the text of
// a link to it.
var sheetNames = []string{
	"auction sheet", "inspection sheet", "auction inspection sheet", "condition report", "auction report", "出品票", "検査票",
}

// sheetFiles are the endings of pictures and documents. A link without one
// leads to a page about sheets more often than to the sheet.
var sheetFiles = []string{".jpg", ".jpeg", ".png", ".webp", ".gif", ".pdf"}

// readSheetLink claims a link that says it is the inspection sheet, where the
// site's own reader found none.
func readSheetLink(doc *document, c *claims) {
	c.source, c.rank = "links", RankLabel
	for _, a := range doc.tags[atom.A] {
		name := strings.ToLower(text(a))
		if !slices.Contains(sheetNames, strings.TrimPrefix(name, "view ")) || ancestor(a, besides) {
			continue
		}
		link := doc.absolute(attr(a, "href"))
		u, err := url.Parse(link)
		if err == nil && slices.Contains(sheetFiles, strings.ToLower(path.Ext(u.Path))) {
			c.addSheet(link)
		}
	}
}
