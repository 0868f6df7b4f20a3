// Package listing reads the page of a used car into a [vehicle.Car].
//
// Several sources on a page may give one field. Each source only claims the text
// that it found (package claim). The claims are resolved in one place, in order of
// trust: the adapter of a known site (package sites), label tables (package
// page), schema.org data (package schemaorg), page metadata. A value that cannot
// be read for certain stays empty, because a wrong value costs the buyer more
// than an empty one.
//
// The document docs/listings.md says how to add a site.
package listing

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/vehicle"
)

// Listing is one car as its page describes it.
type Listing struct {
	Car    vehicle.Car        `json:"car"`
	Fields []Field            `json:"fields"` // the source of each value, in a fixed order
	Notes  []vehicle.Sentence `json:"notes"`  // doubts: disagreements, substitutes, a sold car
	// Warnings are the doubts about fields that decide money.
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
	// Sold reports that the page still describes a car that is sold or under offer.
	Sold bool `json:"sold,omitempty"`
}

// Read returns the car of a listing page. Errors are *fetch.Error with one of
// the codes of this package, or that of ctx.
func Read(ctx context.Context, p *fetch.Page) (listing *Listing, err error) {
	err = limit(ctx, p, func(budget *dom.Budget) (err error) {
		listing, err = readWithin(budget, p)
		return err
	})
	return listing, err
}

func readWithin(budget *dom.Budget, p *fetch.Page) (*Listing, error) {
	doc, err := page.Parse(budget, p)
	if err != nil {
		return nil, err
	}
	listing, err := readDocument(doc)
	if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Code != NotAListing || !page.RepairScripts(doc) {
		return listing, err
	}
	repaired, failed := readDocument(doc)
	if failed != nil {
		return nil, err
	}
	repaired.note("truncated", nil)
	return repaired, nil
}

func readDocument(doc *page.Document) (*Listing, error) {
	found := &claim.List{Dollar: sync.OnceValue(func() string { return dollarOf(doc) }), Miles: countsMiles(doc)}
	own := sites.Of(doc)
	if own.Amend != nil {
		for i := range doc.Pairs {
			own.Amend(&doc.Pairs[i])
		}
	}
	if own.Read != nil {
		found.Source, found.Rank = own.Name, claim.RankSite
		own.Read(doc, found)
	}
	page.ClaimLabels(doc, found)
	page.ClaimSheetLink(doc, found)
	schemaorg.Read(doc, found)
	page.ClaimLooseLabels(doc, found)
	page.ClaimMeta(doc, found)

	sold, gone := notices(doc)
	listing := resolve(found, doc)
	listing.setCountry(doc)
	if found.Miles && listing.Car.MileageKM != nil && strings.HasSuffix(listing.field(claim.FieldMileage).Value, " miles") {
		listing.note("in_miles", nil)
	}
	listing.setCondition(doc)
	listing.unclearPrice()
	if sold || gone {
		if err := checkNotice(listing, found, doc, sold); err != nil {
			return nil, err
		}
	}
	if err := checkListing(listing, found, doc); err != nil {
		return nil, err
	}
	return listing, nil
}

// FromFile returns a saved file as a page, as if the site had sent it with status
// 200. rawURL is the URL of the page; it may be empty.
func FromFile(body []byte, rawURL string) *fetch.Page {
	return &fetch.Page{URL: rawURL, FinalURL: rawURL, Status: http.StatusOK, Header: http.Header{}, Body: body}
}

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

// What the reading of one page may cost. The largest real page seen has 1.9 MB and some
// 40,000 elements, and takes a fifth of a second.
const (
	MaxBytes = 4 << 20
	maxSteps = 20_000_000
	maxTime  = 15 * time.Second
)

// limit reads a page that a site has answered, within the limits of one page. A page that
// is over its time may be so because the machine is busy: that error is temporary.
func limit(ctx context.Context, p *fetch.Page, read func(*dom.Budget) error) error {
	if err := checkStatus(p); err != nil {
		return err
	}
	if len(p.Body) > MaxBytes {
		return page.Unreadable(".large", nil)
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	err := dom.Limit(limited, maxSteps, read)
	switch {
	case errors.Is(err, dom.ErrTooManySteps):
		return page.Unreadable(".tangled", err)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		slow := page.Unreadable(".slow", err)
		slow.Retryable = true
		return slow
	}
	return err
}

// Memory returns about how many bytes the tree of a page takes while it is read: an
// element and the text behind it for each tag, and an attribute for each space in a tag.
func Memory(p *fetch.Page) int64 {
	const ofTag, ofSpace, ofByte = 160, 64, 3
	tags, spaces := bytes.Count(p.Body, []byte("<")), bytes.Count(p.Body, []byte(" "))
	return int64(ofTag*tags + ofSpace*spaces + ofByte*len(p.Body))
}
