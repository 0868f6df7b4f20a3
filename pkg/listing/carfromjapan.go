package listing

import (
	"net/url"
	"regexp"
	"strings"
)

// carFromJapan reads CarFromJapan, as public readers of the site describe it.
// Make, model and year stand in the address; a price cell may hold the old
// price before the new one; pictures have no file name extension, and those
// named spec_ are of the catalogue.
var carFromJapan = adapter{
	name:      "CarFromJapan",
	amend:     amendCarFromJapan,
	read:      readCarFromJapan,
	canonical: canonicalCarFromJapan,
}

var (
	carFromJapanDetail = regexp.MustCompile(`^/cheap-used-(.+)-((?:19|20)\d\d)-for-sale-[0-9a-f]{24}`)
	oldThenNew         = regexp.MustCompile(`^(?:US\$|\$|USD)\s?([\d,]+)\s+((?:US\$|\$|USD)\s?[\d,]+)$`)
)

// amendCarFromJapan keeps the second of two prices, which must be the lower.
func amendCarFromJapan(p *pair) {
	if m := oldThenNew.FindStringSubmatch(p.value); m != nil && p.field == fieldPrice {
		before, _ := readPrice("USD " + m[1])
		now, ok := readPrice(m[2])
		if ok && now.amount.Decimal().LessThan(before.amount.Decimal()) {
			p.value = m[2]
		}
	}
}

func readCarFromJapan(doc *document, c *claims) {
	m := carFromJapanDetail.FindStringSubmatch(doc.url.Path)
	if m == nil {
		return
	}
	if maker, rest := cutMake(strings.Split(m[1], "-")); maker != "" {
		c.add(fieldMake, maker)
		c.add(fieldModel, strings.Join(rest, " "))
	}
	c.add(fieldModelYear, m[2])
	c.addImages(pictures(doc, func(u *url.URL) bool {
		return onHost(u, "static.carfromjapan.com") && strings.HasPrefix(u.Path, "/car_")
	}))
}

func canonicalCarFromJapan(u *url.URL) error {
	path := strings.ToLower(u.Path)
	switch detail := carFromJapanDetail.FindString(path); {
	case detail != "":
		rewrite(u, "carfromjapan.com", detail)
	case path == "/", strings.HasPrefix(path, "/cheap-used-"):
		return notACar()
	case strings.HasPrefix(path, "/specifications/"):
		return outcome(URLUnsupported, "That is a page of a catalogue. Open a car for sale and send its address.")
	}
	return nil
}
