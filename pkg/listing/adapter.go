package listing

import "net/url"

// adapter knows what the generic readers cannot see of one site, or of a family
// of sites. Its functions may be nil.
type adapter struct {
	name string // as in sites.json, which has the hosts
	// least is a size in bytes below which no listing of the site is, where that
	// is known. A challenge in its place is of about 2 KB.
	least int
	// shape reports the site's page by its structure alone, for saved pages and
	// mirrors whose address says nothing.
	shape func(*document) bool
	// amend corrects a label that means something else here than elsewhere.
	amend func(*pair)
	// read claims what stands in the site's own places.
	read func(*document, *claims)
	// cards returns the cars of a list, each as a document of its own at the
	// car's address. Such a document is read by read, too.
	cards func(*document) []*document
	// card claims what a list writes in other places than the car's own page.
	card func(*document, *claims)
	// canonical rewrites an address to the site's own spelling of it, or refuses
	// one that is known to be no listing.
	canonical func(*url.URL) error
	// ask changes a canonical address into the one to fetch.
	ask func(*url.URL)
}

// adapters are the sites that need one; the others of sites.json are read by
// the generic readers alone.
var adapters = []adapter{
	beforward, sbt, tcv, carFromJapan, goonet, cardealPage, carUsed, autocom, pickNBuy24, japaneseCarTrade, jpcTrade, nikkyo,
	jpauc, aleado, ajes,
}

// adapterNamed returns the adapter of a site, an empty one when it needs none.
func adapterNamed(name string) *adapter {
	for i := range adapters {
		if adapters[i].name == name {
			return &adapters[i]
		}
	}
	return &adapter{}
}

// adapterOf returns the adapter of a page: by its address, by the address that
// it gives itself, by its structure.
func adapterOf(doc *document) *adapter {
	for _, u := range []*url.URL{doc.url, doc.link(doc.canonical)} {
		if name := siteOf(u.Hostname()); name != "" {
			return adapterNamed(name)
		}
	}
	for i := range adapters {
		if adapters[i].shape != nil && adapters[i].shape(doc) {
			return &adapters[i]
		}
	}
	return &adapter{}
}
