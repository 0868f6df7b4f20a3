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
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

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
