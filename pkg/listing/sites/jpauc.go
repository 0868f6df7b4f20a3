package sites

import (
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
)

// jpauc reads auction lots of jpauc.com, as seen in August 2026. Its table
// repeats each label inside the cell, so the label reader sees it; the pictures
// are those of the Aleado engine.
var jpauc = Adapter{
	Name: "JPAUC",
	shape: func(doc *page.Document) bool {
		return doc.Find(atom.Table, "desktop-mode") != nil && doc.Find(atom.Div, "auction-sheet") != nil
	},
	Amend: amendAuction,
	Read:  readJPAUC,
}

func readJPAUC(doc *page.Document, c *claim.List) {
	c.IsLot = true
	claimAleadoPictures(doc, c)
}

// amendAuction corrects labels of pages that show one lot: Location is the
// house, Grade is the trim, and the date is the auction's.
func amendAuction(p *pairs.Pair) {
	if p.Field == claim.FieldLocation {
		p.Field = claim.FieldHouse
	}
	if claim.NormalizeLabel(p.Label) == "date" {
		p.Field = claim.FieldDate
	}
}
