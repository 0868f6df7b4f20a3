package redisx

import (
	"strings"
	"unicode"
)

const mask = "***"

// Redact returns the URL with everything hidden that may be secret: all between the
// user and the last @, and all of the query but harmless parameters. Of a
// malformed URL it hides too much rather than too little.
func Redact(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		scheme, rest = "", url
	} else {
		scheme += "://"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, ok := strings.Cut(rest[:at], ":")
		if !ok || strings.ContainsAny(user, "/?#") { // a password in the wrong place, most likely
			user = ""
		}
		rest = user + ":" + mask + rest[at:]
	}
	rest, query, ok := strings.Cut(rest, "?")
	if !ok {
		return scheme + rest
	}
	return scheme + rest + "?" + redactQuery(query)
}

func redactQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		harmless := (name == "master" || name == "db") && !strings.ContainsFunc(value, unusual)
		switch {
		case !ok:
			pairs[i] = mask
		case !harmless:
			pairs[i] = name + "=" + mask
		}
	}
	return strings.Join(pairs, "&")
}

// unusual reports whether the name of a set has no such character. A parameter that
// is joined wrongly brings one along.
func unusual(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}
