package sites

import (
	"net/url"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
)

// Adapter knows what the generic readers cannot see of one site, or of a family
// of sites. Its functions may be nil.
type Adapter struct {
	// Name is the site's name in sites.json, which has the hosts.
	Name string
	// MinSize is a size in bytes below which no page of the site is a listing. A
	// challenge in place of a listing has about 2 KB. Zero means no minimum.
	MinSize int
	// shape recognises the site's page by its structure alone, for saved pages
	// and mirrors whose URL says nothing.
	shape func(*page.Document) bool
	// Amend corrects a label that means something else here than elsewhere.
	Amend func(*pairs.Pair)
	// Read claims the values that are in the site's own places.
	Read func(*page.Document, *claim.List)
	// Cards returns the cars of a list, each as a document of its own with the
	// URL of the car's page. Read reads such a document too.
	Cards func(*page.Document) []*page.Document
	// Card claims the values that a list writes in other places than the car's
	// own page does.
	Card func(*page.Document, *claim.List)
	// canonicalize rewrites a URL to the site's own spelling of it, or refuses
	// one that is known not to be a listing, where no row of addresses.csv can.
	canonicalize func(*url.URL) error
	// ToFetch changes a canonical URL into the URL to fetch.
	ToFetch func(*url.URL)
}

// MaxListed bounds the cars that are read from one list.
const MaxListed = 200

// adapters are the adapters of the sites that need one; the generic readers alone
// read the other sites of sites.json.
var adapters = []Adapter{
	beforward, sbt, tcv, carFromJapan, goonet, cardealPage, carUsed, autocom, pickNBuy24, japaneseCarTrade, jpcTrade, nikkyo,
	jpauc, aleado, ajes,
}

// Named returns the adapter of a site; an empty adapter when the site needs none.
func Named(name string) *Adapter {
	for i := range adapters {
		if adapters[i].Name == name {
			return &adapters[i]
		}
	}
	return &Adapter{}
}

// Of returns the adapter of a page: by its URL, by its canonical link, or by its
// structure.
func Of(doc *page.Document) *Adapter {
	for _, u := range []*url.URL{doc.URL, doc.Resolve(doc.Canonical)} {
		if name := NameOf(u.Hostname()); name != "" {
			return Named(name)
		}
	}
	for i := range adapters {
		if adapters[i].shape != nil && adapters[i].shape(doc) {
			return &adapters[i]
		}
	}
	return &Adapter{}
}
