package listing

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"
)

// goonet reads detail pages of Goo-net Exchange. Hidden inputs and picture
// links are as on its list of July 2026; of detail pages only the words are
// known. Its total equals the price until a destination is chosen.
var goonet = adapter{
	name: "Goo-net Exchange", read: readGoonet, cards: goonetCards, card: readGoonetCard, canonical: canonicalGoonet,
}

var (
	goonetDetail = regexp.MustCompile(`^/usedcars/([^/]+)/([^/]+)/(\d{18,21})(?:/|$)`)
	goonetList   = regexp.MustCompile(`^/(?:usedcars(?:/[^/]+){0,2}/?(?:thumb\.html)?)?$`)
)

func readGoonet(doc *document, c *claims) {
	m := goonetDetail.FindStringSubmatch(doc.url.Path)
	if m == nil {
		m = goonetDetail.FindStringSubmatch(doc.link(doc.canonical).Path)
	}
	if m == nil {
		return // a list
	}
	c.addSlugs(m[1], m[2])
	shown := text(doc.find(atom.P, "car-price"))
	c.add(fieldPrice, shown)
	for _, p := range doc.pairs {
		if shown == "" && p.field == fieldPrice {
			shown = p.value
		}
	}
	c.add(fieldFOB, goonetDollars(doc, shown))
	c.addImages(pictures(doc, func(u *url.URL) bool {
		// picture1.goo-net.com/7000560694/30260821/J/….jpg belongs to the car
		// 700056069430260821001.
		parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
		return onHost(u, "goo-net.com") && len(parts) == 3 && strings.HasPrefix(m[3], parts[0]+parts[1])
	}))
}

// goonetDollars returns the dollars that a hidden input gives for the price
// that is shown in yen, "" when none does.
func goonetDollars(doc *document, shown string) string {
	yen, ok := readPrice(shown)
	if !ok || yen.currency != "JPY" {
		return ""
	}
	for _, input := range doc.tags[atom.Input] {
		if attr(input, "name") != "currency-price" {
			continue
		}
		var both struct {
			USD string `json:"USD"`
			JPY string `json:"JPY"`
		}
		if json.Unmarshal([]byte(attr(input, "value")), &both) != nil {
			continue
		}
		if p, ok := readPrice(both.JPY); ok && p.String() == yen.String() {
			return both.USD
		}
	}
	return ""
}

func canonicalGoonet(u *url.URL) error {
	switch m := goonetDetail.FindString(u.Path); {
	case m != "":
		rewrite(u, "www.goo-net-exchange.com", strings.TrimSuffix(m, "/")+"/")
	case goonetList.MatchString(u.Path):
		return notACar()
	}
	return nil
}
