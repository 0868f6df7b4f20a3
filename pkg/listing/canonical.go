package listing

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/sites"
)

// tracking are the parameters that only record the origin of a visitor.
var tracking = map[string]bool{
	"gclid": true, "gbraid": true, "wbraid": true, "dclid": true, "fbclid": true, "msclkid": true, "yclid": true,
	"twclid": true, "ttclid": true, "igshid": true, "mc_cid": true, "mc_eid": true, "_ga": true, "_gl": true,
}

// Canonical returns the one spelling of a listing's URL, for validation and as
// a cache key: checked as fetch.CheckURL does, without fragment and tracking
// parameters, and for a known site in the form that the site itself links to.
// It is stable: the canonical form of a canonical form is itself. Errors are
// *fetch.Error: url_invalid, url_forbidden, or url_unsupported for an address
// that is known not to be a listing.
func Canonical(rawURL string, allowLoopback bool) (string, error) {
	u, err := fetch.CheckURL(rawURL, allowLoopback)
	if err != nil {
		return "", err
	}
	u.RawQuery = withoutTracking(escapeSpaces(u.RawQuery))
	u.ForceQuery = false
	if err := sites.Named(sites.NameOf(u.Hostname())).Canonicalize(u); err != nil {
		return "", err
	}
	return u.String(), nil
}

// escapeSpaces escapes spaces, which would be trimmed at the end of a URL.
func escapeSpaces(query string) string {
	var b strings.Builder
	copied := 0
	for i, r := range query {
		if unicode.IsSpace(r) {
			b.WriteString(query[copied:i] + url.PathEscape(string(r)))
			copied = i + utf8.RuneLen(r)
		}
	}
	return b.String() + query[copied:]
}

// withoutTracking keeps the other parameters as they are written.
func withoutTracking(query string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		name = strings.ToLower(name)
		if plain, err := url.QueryUnescape(name); err == nil {
			name = strings.ToLower(plain)
		}
		if part != "" && !tracking[name] && !strings.HasPrefix(name, "utm_") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// FetchURL returns the URL to fetch for a canonical URL. Where a site chooses the
// destination by the visitor's IP address, the URL requests Tanzania, so that the
// page can quote the price to Dar es Salaam.
func FetchURL(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil {
		return canonical
	}
	if ask := sites.Named(sites.NameOf(u.Hostname())).ToFetch; ask != nil {
		ask(u)
		return u.String()
	}
	return canonical
}
