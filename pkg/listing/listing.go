package listing

import (
	"net/http"

	"ushuru/pkg/fetch"
	"ushuru/pkg/vehicle"
)

// Listing is what a page says of one car.
type Listing struct {
	Car    vehicle.Car `json:"car"`
	Fields []Field     `json:"fields"` // where each value came from, in a fixed order
	Notes  []string    `json:"notes"`  // doubts: disagreements, stand-ins, a sold car
}

// site is the adapter of one listing site or family of sites.
type site struct {
	name string
	// recognise reports whether the page is the site's, from its address, its
	// canonical link or its structure, so that a saved page is known too.
	recognise func(*document) bool
	// read claims what stands in the site's own places.
	read func(*document, *claims)
}

var sites = []site{beforward}

// Read returns the car of a listing page. Errors are *fetch.Error with one of
// the codes of this package.
func Read(page *fetch.Page) (*Listing, error) {
	if err := checkStatus(page); err != nil {
		return nil, err
	}
	doc, err := parse(page)
	if err != nil {
		return nil, err
	}
	found := &claims{}
	for _, s := range sites {
		if s.recognise(doc) {
			found.source, found.rank = s.name, RankSite
			s.read(doc, found)
			break
		}
	}
	readLabels(doc, found)
	readSchema(doc, found)
	readMeta(doc, found)

	listing := settle(found, doc)
	if err := checkListing(listing, found, doc); err != nil {
		return nil, err
	}
	return listing, nil
}

// FromFile makes a page of a saved file, as if the site had answered with it.
// rawURL is where it came from; it may be empty.
func FromFile(body []byte, rawURL string) *fetch.Page {
	return &fetch.Page{URL: rawURL, FinalURL: rawURL, Status: http.StatusOK, Header: http.Header{}, Body: body}
}
