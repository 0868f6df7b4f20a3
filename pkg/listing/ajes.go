package listing

import (
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
)

// ajes reads the sites that show the AJES auction feed (avto.jp family), as
// public readers of them describe it. The first picture of a lot is its
// inspection sheet. A picture that is missing hides behind the same kind of
// link, so only the loaded sheet tells.
var ajes = adapter{
	name: "AJES",
	shape: func(doc *document) bool {
		for _, img := range doc.tags[atom.Img] {
			if strings.Contains(start(attr(img, "src")), ".ajes.com/imgs/") {
				return true
			}
		}
		return false
	},
	amend:     amendAuction,
	read:      readAJES,
	canonical: canonicalAJES,
}

// ajesKeys are the fields of the feed, as some sites leave them in scripts.
var ajesKeys = map[string]string{
	"MARKA_NAME": fieldMake,
	"MODEL_NAME": fieldModel,
	"YEAR":       fieldModelYear,
	"ENG_V":      fieldEngine,
	"KUZOV":      fieldCode,
	"GRADE":      fieldVersion,
	"RATE":       fieldScore,
	"LOT":        fieldLot,
	"KPP":        fieldTransmission,
}

func readAJES(doc *document, c *claims) {
	c.lot = true
	links := pictures(doc, isAJESPicture)
	if lots := records(doc, "KUZOV", "MARKA_NAME"); len(lots) == 1 {
		lots[0].claim(c, ajesKeys)
		if own := strings.Split(lots[0].text("IMAGES"), "#"); own[0] != "" {
			links = own
		}
	}
	for i, link := range links {
		links[i] = fullSize(link)
	}
	if len(links) == 0 {
		return
	}
	c.addSheet(doc.absolute(links[0]))
	for len(links) > 0 && doc.absolute(links[0]) == c.sheet.value {
		links = links[1:]
	}
	c.addImages(links)
}

func isAJESPicture(u *url.URL) bool {
	return onHost(u, "ajes.com") && strings.HasPrefix(u.Path, "/imgs/")
}

// canonicalAJES knows the addresses of two of the sites.
func canonicalAJES(u *url.URL) error {
	switch {
	case onHost(u, "prestigemotorsport.com.au") && u.Query().Get("car_id") != "":
		rewrite(u, "prestigemotorsport.com.au", u.Path, "car_id")
	case onHost(u, "carvector.com") && strings.HasPrefix(u.Path, "/stat/"):
		rewrite(u, "carvector.com", u.Path)
	}
	return nil
}
