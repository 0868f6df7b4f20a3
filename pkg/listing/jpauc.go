package listing

import (
	"net/url"
	"regexp"

	"golang.org/x/net/html/atom"
)

// jpauc reads auction lots of jpauc.com, as seen in August 2026. Its table
// repeats each label inside the cell, so the label reader sees it; the pictures
// are those of the Aleado engine.
var jpauc = adapter{
	name: "JPAUC",
	shape: func(doc *document) bool {
		return doc.find(atom.Table, "desktop-mode") != nil && doc.find(atom.Div, "auction-sheet") != nil
	},
	amend:     amendAuction,
	read:      readJPAUC,
	canonical: canonicalJPAUC,
}

func readJPAUC(doc *document, c *claims) {
	c.lot = true
	claimAleadoPictures(doc, c)
}

// amendAuction corrects labels of pages that show one lot: Location is the
// house, Grade is the trim, and the date is the auction's.
func amendAuction(p *pair) {
	if p.field == fieldLocation {
		p.field = fieldHouse
	}
	if label(p.label) == "date" {
		p.field = fieldDate
	}
}

var jpaucLot = regexp.MustCompile(`^/auction/(?:past/)?detail/\d+`)

func canonicalJPAUC(u *url.URL) error {
	switch path := jpaucLot.FindString(u.Path); {
	case path != "":
		rewrite(u, "jpauc.com", path)
	case u.Path == "/" || u.Path == "/auction" || u.Path == "/auction/":
		return notACar()
	}
	return nil
}
