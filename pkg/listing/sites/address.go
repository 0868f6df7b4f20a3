package sites

import (
	"net/url"
	"strings"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
)

// URLUnsupported is the code of the error for a URL that is known not to be a listing.
const URLUnsupported = "url_unsupported"

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

// notACar rejects the URL of a list.
func notACar() error {
	return unsupported("error/url_unsupported.list")
}

func unsupported(key string) error {
	return &fetch.Error{Notice: message.New(key, nil)}
}
