// Package fetch is the only HTTP client for URLs that callers give. Such a URL
// is hostile until shown otherwise: it may name a machine inside our own
// network, answer with a compressed bomb, or never answer at all.
//
// Two checks keep it outside. [CheckURL] looks at the text of every URL, also
// of every redirect. The dialer looks at every address just before it
// connects, so a name that resolves to a private address, at first or only the
// second time, is refused too. No proxy is taken from the environment.
//
// It is also a polite one: robots.txt is obeyed, and processes that share a
// Redis share the pace at which each site is asked.
package fetch
