package listing

import (
	"context"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/sites"
)

// Card is one car of a list. It has fewer fields than the car's own page.
type Card struct {
	Listing

	URL string // of the car's own page, in canonical form
}

// Cards returns the cars of a list, in its order. Read rejects such a page, because
// it does not describe exactly one car. Errors are *fetch.Error: not_a_listing
// when the page is not a list of a site whose lists are known.
func Cards(ctx context.Context, p *fetch.Page) (cards []Card, err error) {
	err = limit(ctx, p, func(budget *dom.Budget) (err error) {
		cards, err = readCards(budget, p)
		return err
	})
	return cards, err
}

func readCards(budget *dom.Budget, p *fetch.Page) ([]Card, error) {
	doc, err := page.Parse(budget, p)
	if err != nil {
		return nil, err
	}
	own := sites.Of(doc)
	var cards []Card
	if own.Cards != nil {
		for _, listed := range own.Cards(doc) {
			if card, ok := readCard(own, listed); ok && len(cards) < sites.MaxListed {
				cards = append(cards, card)
			}
		}
	}
	if len(cards) == 0 {
		return nil, fetch.Fail("error/not_a_listing.list", nil)
	}
	return cards, nil
}

// readCard reads one card as the adapter reads a car's own page.
func readCard(own *sites.Adapter, doc *page.Document) (Card, bool) {
	if own.Canonicalize(doc.URL) != nil {
		return Card{}, false
	}
	found := &claim.List{Source: own.Name, Rank: claim.RankSite, Dollar: func() string { return "USD" }}
	own.Read(doc, found)
	own.Card(doc, found)
	page.ClaimLabels(doc, found)
	card := Card{URL: doc.URL.String(), Listing: *resolve(found, doc)}
	return card, isCar(&card.Listing, doc)
}
