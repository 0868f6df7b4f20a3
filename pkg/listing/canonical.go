package listing

import (
	"net/url"
	"regexp"
	"strings"

	"ushuru/pkg/fetch"
)

// tracking are the parameters that only tell a site where a visitor came from.
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
	u.RawQuery = withoutTracking(u.RawQuery)
	u.ForceQuery = false
	if host := u.Hostname(); host == "beforward.jp" || strings.HasSuffix(host, ".beforward.jp") {
		if err := canonicalBeForward(u); err != nil {
			return "", err
		}
	}
	return u.String(), nil
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

var (
	beForwardLanguage = regexp.MustCompile(`^(?:/(?:pt|fr|sw|es|ru|ge|ar))+(/|$)`)
	beForwardDetail   = regexp.MustCompile(`^/[^/]+/[^/]+/[a-z]{2}\d{5,}/id/\d+`)
)

// canonicalBeForward rewrites to the English desktop page, which is the one
// that can be read, without query: it only picks a destination or a filter.
func canonicalBeForward(u *url.URL) error {
	switch u.Hostname() {
	case "beforward.jp", "sp.beforward.jp", "www.beforward.jp":
	default:
		return outcome(URLUnsupported, "That part of BE FORWARD's site has no cars for sale.")
	}
	path := beForwardLanguage.ReplaceAllString(strings.ToLower(u.Path), "/")
	if path == "/" || path == "/stocklist" || strings.HasPrefix(path, "/stocklist/") {
		return outcome(URLUnsupported, "That is a list of cars. Open one of them and send its address.")
	}
	if detail := beForwardDetail.FindString(path); detail != "" {
		path = detail + "/"
	}
	*u = url.URL{Scheme: "https", Host: "www.beforward.jp", Path: path}
	return nil
}
