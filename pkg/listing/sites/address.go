package sites

import (
	_ "embed" // addresses.csv and fields.csv
	"net/url"
	"regexp"
	"strings"

	"ushuru/pkg/datatable"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/page"
)

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
