package sites

import (
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/scripts"
)

// ajes reads the sites that show the AJES auction feed (avto.jp family), as
// public readers of them describe it. The first picture of a lot is its
// inspection sheet. A picture that is missing hides behind the same kind of
// link, so only the loaded sheet tells.
var ajes = Adapter{
	Name: "AJES",
	shape: func(doc *page.Document) bool {
		for _, img := range doc.Tags[atom.Img] {
			if strings.Contains(dom.Head(dom.Attr(img, "src")), ".ajes.com/imgs/") {
				return true
			}
		}
		return false
	},
	Amend: amendAuction,
	Read:  readAJES,
}

func readAJES(doc *page.Document, c *claim.List) {
	c.IsLot = true
	links := page.Pictures(doc, isAJESPicture)
	if lots := scripts.Records(doc, "KUZOV", "MARKA_NAME"); len(lots) == 1 {
		lots[0].Claim(c, fieldsOf("AJES"))
		if own := strings.Split(lots[0].Text("IMAGES"), "#"); own[0] != "" {
			links = own
		}
	}
	for i, link := range links {
		links[i] = fullSize(link)
	}
	if len(links) == 0 {
		return
	}
	c.AddSheet(doc.Absolute(links[0]))
	for len(links) > 0 && doc.Absolute(links[0]) == c.Sheet.Value {
		links = links[1:]
	}
	c.AddImages(links)
}

func isAJESPicture(u *url.URL) bool {
	return page.OnHost(u, "ajes.com") && strings.HasPrefix(u.Path, "/imgs/")
}
