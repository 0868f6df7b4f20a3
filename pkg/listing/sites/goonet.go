package sites

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// goonet reads detail pages of Goo-net Exchange. Hidden inputs and picture
// links are as on its list of July 2026; of detail pages only the words are
// known. Its total equals the price until a destination is chosen.
var goonet = Adapter{
	Name: "Goo-net Exchange", Read: readGoonet, Cards: goonetCards, Card: readGoonetCard,
}

func readGoonet(doc *page.Document, c *claim.List) {
	m := partsOf("Goo-net Exchange", doc.URL)
	if m == nil {
		m = partsOf("Goo-net Exchange", doc.Resolve(doc.Canonical))
	}
	if m == nil {
		return // a list
	}
	page.AddSlugs(c, m[1], m[2])
	shown := dom.Text(doc.FindAnchored(atom.P, "car-price"))
	c.Add(claim.FieldPrice, shown)
	for _, p := range doc.Pairs {
		if shown == "" && p.Field == claim.FieldPrice {
			shown = p.Value
		}
	}
	c.Add(claim.FieldFOB, goonetDollars(doc, shown))
	c.AddImages(page.Pictures(doc, func(u *url.URL) bool {
		// picture1.goo-net.com/7000560694/30260821/J/….jpg belongs to the car
		// 700056069430260821001.
		parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
		return page.OnHost(u, "goo-net.com") && len(parts) == 3 && strings.HasPrefix(m[3], parts[0]+parts[1])
	}))
}

// goonetDollars returns the dollars that a hidden input gives for the price shown
// in yen, "" when there is no such input.
func goonetDollars(doc *page.Document, shown string) string {
	yen, ok := claim.ParsePrice(shown)
	if !ok || yen.Currency != "JPY" {
		return ""
	}
	for _, input := range doc.Tags[atom.Input] {
		if dom.Attr(input, "name") != "currency-price" {
			continue
		}
		var both struct {
			USD string `json:"USD"`
			JPY string `json:"JPY"`
		}
		if json.Unmarshal([]byte(dom.Attr(input, "value")), &both) != nil {
			continue
		}
		if p, ok := claim.ParsePrice(both.JPY); ok && p.String() == yen.String() {
			return both.USD
		}
	}
	return ""
}

// goonetCards returns the cars of a list: ul.list-listview > li, each with a
// link to the car's page.
func goonetCards(doc *page.Document) (cards []*page.Document) {
	list := doc.Find(atom.Ul, "list-listview")
	if list == nil {
		return nil
	}
	for li := list.FirstChild; li != nil && len(cards) < MaxListed; li = li.NextSibling {
		if li.DataAtom != atom.Li {
			continue
		}
		for n := range dom.Elements(li) {
			link := doc.Resolve(dom.Attr(n, "href"))
			own := link.Host == "" || page.OnHost(link, "goo-net-exchange.com")
			if n.DataAtom == atom.A && own && partsOf("Goo-net Exchange", link) != nil {
				cards = append(cards, doc.Within(li, link))
				break
			}
		}
	}
	return cards
}

// The facts of a card have no labels; each is recognised by its whole shape.
var goonetFacts = []struct {
	field string
	shape *regexp.Regexp
}{
	{claim.FieldRegistration, regexp.MustCompile(`^(?:19|20)\d\d(?:\.\d\d)?$`)},
	{claim.FieldMileage, regexp.MustCompile(`^[\d,]+ ?km$`)},
	{claim.FieldEngine, regexp.MustCompile(`^[\d,]+ ?cc$`)},
	{claim.FieldSteering, regexp.MustCompile(`^(?:Right|Left)$`)},
	{claim.FieldTransmission, regexp.MustCompile(`^\d{0,2}(?:AT|MT|CVT)$`)},
}

// readGoonetCard claims what a card shows beside the price: a title of make,
// model and grade, and a row of facts (year and month, colour, mileage, engine,
// steering, transmission).
func readGoonetCard(doc *page.Document, c *claim.List) {
	page.AddName(c, doc, dom.Text(doc.Find(atom.H3, "title")), "")
	c.Add(claim.FieldLocation, dom.Text(doc.Find(atom.P, "location")))
	details := doc.Find(atom.Ul, "details")
	if details == nil {
		return
	}
	for n := details.FirstChild; n != nil; n = n.NextSibling {
		if n.DataAtom != atom.Li {
			continue
		}
		shown := dom.Text(n)
		for _, fact := range goonetFacts {
			if fact.shape.MatchString(shown) {
				c.Add(fact.field, shown)
			}
		}
	}
}
