package redisx

import (
	"strings"
	"unicode"
)

const mask = "***"

// Redact returns the URL with everything hidden that may be secret: what
// stands between the user and the last @, and every query but those known to
// be harmless. It takes malformed URLs too, and rather hides too much.
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

// unusual tells what no name of a set has, and what another query that is
// badly joined brings along.
func unusual(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}
