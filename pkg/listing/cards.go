package listing

import (
	"net/url"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/fetch"
)

// Card is what a page with a list of cars shows of one of them. It says less
// than the car's own page.
type Card struct {
	Listing

	URL string // of the car's own page, in canonical form
}

// maxListed is the most cars that are read from one list.
const maxListed = 200

// Cards returns the cars that a list shows, in its order. Read refuses such a
// page, because it does not describe one car. Errors are *fetch.Error:
// not_a_listing when the page is no list of a site whose lists are known.
func Cards(page *fetch.Page) ([]Card, error) {
	if err := checkStatus(page); err != nil {
		return nil, err
	}
	doc, err := parse(page)
	if err != nil {
		return nil, err
	}
	own := adapterOf(doc)
	var cards []Card
	if own.cards != nil {
		for _, listed := range own.cards(doc) {
			if card, ok := readCard(own, listed); ok && len(cards) < maxListed {
				cards = append(cards, card)
			}
		}
	}
	if len(cards) == 0 {
		return nil, outcome(NotAListing, "The page shows no list of cars that can be read.")
	}
	return cards, nil
}

// readCard reads one card as the adapter reads a car's own page.
func readCard(own *adapter, doc *document) (Card, bool) {
	if own.canonical(doc.url) != nil {
		return Card{}, false
	}
	found := &claims{source: own.name, rank: RankSite}
	own.read(doc, found)
	own.card(doc, found)
	readLabels(doc, found)
	card := Card{URL: doc.url.String(), Listing: *settle(found, doc)}
	return card, isCar(&card.Listing, doc)
}

// within returns a part of the page as a document of its own that stands at an
// address: what the whole page says of itself is not said of the part.
func (d *document) within(root *html.Node, address *url.URL) *document {
	part := &document{
		page: d.page, url: address, base: d.base,
		meta: map[string]string{}, ids: map[string]*html.Node{}, tags: map[atom.Atom][]*html.Node{},
		pairs: pairsIn(root),
	}
	for n := range elements(root) {
		part.index(n)
	}
	return part
}
