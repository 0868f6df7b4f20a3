package listing

import (
	"regexp"

	"golang.org/x/net/html/atom"
)

// goonetCards returns the cars of a list: ul.list-listview > li, each with a
// link to the car's page.
func goonetCards(doc *document) (cards []*document) {
	list := doc.find(atom.Ul, "list-listview")
	if list == nil {
		return nil
	}
	for li := list.FirstChild; li != nil && len(cards) < maxListed; li = li.NextSibling {
		if li.DataAtom != atom.Li {
			continue
		}
		for n := range elements(li) {
			link := doc.link(attr(n, "href"))
			own := link.Host == "" || onHost(link, "goo-net-exchange.com")
			if n.DataAtom == atom.A && own && goonetDetail.MatchString(link.Path) {
				cards = append(cards, doc.within(li, link))
				break
			}
		}
	}
	return cards
}

// The facts of a card have no labels; each must be told by its whole shape.
var goonetFacts = []struct {
	field string
	shape *regexp.Regexp
}{
	{fieldRegistration, regexp.MustCompile(`^(?:19|20)\d\d(?:\.\d\d)?$`)},
	{fieldMileage, regexp.MustCompile(`^[\d,]+ ?km$`)},
	{fieldEngine, regexp.MustCompile(`^[\d,]+ ?cc$`)},
	{fieldSteering, regexp.MustCompile(`^(?:Right|Left)$`)},
	{fieldTransmission, regexp.MustCompile(`^\d{0,2}(?:AT|MT|CVT)$`)},
}

// readGoonetCard claims what a card shows beside the price: a title of make,
// model and grade, and a row of facts (year and month, colour, mileage, engine,
// steering, transmission).
func readGoonetCard(doc *document, c *claims) {
	c.addName(doc, text(doc.find(atom.H3, "title")), "")
	c.add(fieldLocation, text(doc.find(atom.P, "location")))
	details := doc.find(atom.Ul, "details")
	if details == nil {
		return
	}
	for n := details.FirstChild; n != nil; n = n.NextSibling {
		if n.DataAtom != atom.Li {
			continue
		}
		shown := text(n)
		for _, fact := range goonetFacts {
			if fact.shape.MatchString(shown) {
				c.add(fact.field, shown)
			}
		}
	}
}
