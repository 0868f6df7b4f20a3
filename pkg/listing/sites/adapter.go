// Package sites knows the listing sites: their hosts and what each can give
// (sites.json), and for a site that needs it an [Adapter], in a file of its own,
// with the places of its values and the canonical form of its URLs.
package sites

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ushuru/pkg/datatable"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
	"ushuru/pkg/message"
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

// Info describes what a caller can expect of a listing site. Pages of other sites
// are read too, as far as their labels and schema.org data go.
type Info struct {
	Name     string   `json:"name"`
	Hosts    []string `json:"hosts"`          // without www. and other subdomains, which belong to the site too
	Gives    []string `json:"gives"`          // fields of a Car, by their JSON names, that its pages can hold
	Verified string   `json:"verified"`       // the evidence behind the adapter: one of the Verified values
	Note     string   `json:"note,omitempty"` // what else a caller should know
	// Text is Note in both languages.
	Text *message.Text `json:"text,omitempty"`
}

// The evidence behind the reading of a site, best first. Nothing was checked
// against a live site.
const (
	VerifiedPage     = "real page"       // a saved page of the kind that is read
	VerifiedScraper  = "scraper's notes" // the source of a public reader of the site
	VerifiedText     = "page text"       // the words of a page, without its structure
	VerifiedHostOnly = "host name only"  // only the host name is known
)

//go:embed sites.json
var siteTable []byte

var siteInfos = func() (infos []Info) {
	if err := json.Unmarshal(siteTable, &infos); err != nil {
		panic("listing: sites.json: " + err.Error())
	}
	for i, info := range infos { // of the file: the code of the note
		if info.Note != "" {
			text := message.Say("site/"+info.Note, nil)
			infos[i].Note, infos[i].Text = text.EN, &text
		}
	}
	return infos
}()

// All returns the known sites, in the order of their use by buyers in Tanzania.
func All() []Info {
	infos := slices.Clone(siteInfos)
	for i := range infos {
		infos[i].Hosts = slices.Clone(infos[i].Hosts)
		infos[i].Gives = slices.Clone(infos[i].Gives)
	}
	return infos
}

// NameOf returns the name of the site that a host belongs to, "" for an unknown
// host.
func NameOf(host string) string { return infoOf(host).Name }

// HostOf returns the host that a site is known by, of any host that belongs to it; "" for
// an unknown host.
func HostOf(host string) string {
	if info := infoOf(host); len(info.Hosts) > 0 {
		return info.Hosts[0]
	}
	return ""
}

func infoOf(host string) Info {
	for _, info := range siteInfos {
		for _, own := range info.Hosts {
			if host == own || strings.HasSuffix(host, "."+own) {
				return info
			}
		}
	}
	return Info{}
}

// URLUnsupported is the code of the error for a URL that is known not to be a listing.
const URLUnsupported = "url_unsupported"

//go:embed addresses.csv
var addressTable string

// address is a row of addresses.csv.
type address struct {
	site, on  string
	path      *regexp.Regexp
	parameter string
	host, to  string
	lower     bool
	keep      []string
	refused   string
}

var addresses = func() (all []address) {
	for _, row := range datatable.Rows(addressTable) {
		a := address{
			site: row[0], on: row[1], parameter: row[3], host: row[4], to: row[5], lower: row[6] == "lower",
			keep: strings.Fields(row[7]), refused: row[8],
		}
		if a.lower {
			row[2] = "(?i)" + row[2]
		}
		a.path = regexp.MustCompile(row[2])
		all = append(all, a)
	}
	return all
}()

// fits reports whether the address of a site is of that form.
func (a address) fits(site string, u *url.URL) bool {
	return a.site == site && (a.on == "" || page.OnHost(u, a.on)) && a.path.MatchString(u.Path) &&
		(a.parameter == "" || u.Query().Get(a.parameter) != "")
}

// Canonicalize rewrites a URL to the site's own spelling of it, or refuses one that is known not
// to be a listing.
func (a *Adapter) Canonicalize(u *url.URL) error {
	if a.canonicalize != nil {
		return a.canonicalize(u)
	}
	for _, form := range addresses {
		if !form.fits(a.Name, u) {
			continue
		}
		if form.refused != "" {
			return fetch.Fail("error/url_unsupported."+form.refused, nil)
		}
		path := string(form.path.ExpandString(nil, form.to, u.Path, form.path.FindStringSubmatchIndex(u.Path)))
		if form.lower {
			path = strings.ToLower(path)
		}
		rewrite(u, form.host, path, form.keep...)
		return nil
	}
	return nil
}

// partsOf returns the parts of the path of a listing of a site, the whole first; nil for another
// address.
func partsOf(site string, u *url.URL) []string {
	for _, form := range addresses {
		if form.site == site && form.refused == "" {
			return form.path.FindStringSubmatch(u.Path)
		}
	}
	return nil
}

//go:embed fields.csv
var fieldTable string

// fields are the fields of names that sites give to values, by site and name.
var fields = func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, row := range datatable.Rows(fieldTable) {
		if all[row[0]] == nil {
			all[row[0]] = map[string]string{}
		}
		all[row[0]][row[1]] = row[2]
	}
	return all
}()

// fieldsOf returns the fields of the names of a site.
func fieldsOf(site string) map[string]string { return fields[site] }

// rewrite sets the site's own spelling of a URL. Of the query only the named
// parameters remain.
func rewrite(u *url.URL, host, path string, params ...string) {
	*u = url.URL{Scheme: "https", Host: host, Path: path, RawQuery: keepParams(u.RawQuery, params)}
}

// keepParams keeps the named parameters of a query, as they are written and in the
// order of the names.
func keepParams(query string, params []string) string {
	var kept []string
	for _, param := range params {
		for part := range strings.SplitSeq(query, "&") {
			// A value that cannot be decoded is ignored.
			name, value, _ := strings.Cut(part, "=")
			if _, err := url.QueryUnescape(value); name == param && err == nil {
				kept = append(kept, part)
				break
			}
		}
	}
	return strings.Join(kept, "&")
}
