// Package fetch is the only HTTP client for URLs that callers give. Such a URL is
// treated as hostile: it may name a machine inside the operator's network, answer
// with a compressed bomb, or never answer.
//
// Two checks protect the network. [CheckURL] checks the text of every URL, also
// of every redirect. The dialer checks every address just before it connects, so
// a name that resolves to a private address, at once or only the second time, is
// refused too. No proxy is taken from the environment.
//
// The client obeys robots.txt, and processes that share a Redis share the rate of
// requests to each site.
package fetch
