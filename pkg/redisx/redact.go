package redisx

import "strings"

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
		name, _, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			pairs[i] = mask
		case name != "master" && name != "db":
			pairs[i] = name + "=" + mask
		}
	}
	return strings.Join(pairs, "&")
}
