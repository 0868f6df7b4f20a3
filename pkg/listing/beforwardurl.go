package listing

import (
	"net/url"
	"regexp"
	"strings"
)

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
		return notACar()
	}
	if detail := beForwardDetail.FindString(path); detail != "" {
		path = detail + "/"
	}
	rewrite(u, "www.beforward.jp", path)
	return nil
}
