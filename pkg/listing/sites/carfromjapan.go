package sites

import (
	"net/url"
	"regexp"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
)

// carFromJapan reads CarFromJapan, as public readers of the site describe it.
// Make, model and year stand in the address; a price cell may hold the old
// price before the new one; pictures have no file name extension, and those
// named spec_ are of the catalogue.
var carFromJapan = Adapter{
	Name:  "CarFromJapan",
	Amend: amendCarFromJapan,
	Read:  readCarFromJapan,
}

var oldThenNew = regexp.MustCompile(`^(?:US\$|\$|USD)\s?([\d,]+)\s+((?:US\$|\$|USD)\s?[\d,]+)$`)

// amendCarFromJapan keeps the second of two prices, which must be the lower.
func amendCarFromJapan(p *pairs.Pair) {
	if m := oldThenNew.FindStringSubmatch(p.Value); m != nil && p.Field == claim.FieldPrice {
		before, _ := claim.ParsePrice("USD " + m[1])
		now, ok := claim.ParsePrice(m[2])
		if ok && now.Amount.Decimal().LessThan(before.Amount.Decimal()) {
			p.Value = m[2]
		}
	}
}

func readCarFromJapan(doc *page.Document, c *claim.List) {
	m := partsOf("CarFromJapan", doc.URL)
	if m == nil {
		return
	}
	if maker, rest := page.CutMake(strings.Split(m[1], "-")); maker != "" {
		c.Add(claim.FieldMake, maker)
		c.Add(claim.FieldModel, strings.Join(rest, " "))
	}
	c.Add(claim.FieldTitleYear, m[2])
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		return page.OnHost(u, "static.carfromjapan.com") && strings.HasPrefix(u.Path, "/car_")
	}))
}
