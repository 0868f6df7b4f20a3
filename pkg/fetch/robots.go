package fetch

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// robotsRules are the rules of one robots.txt that are meant for us
// (RFC 9309).
//
// They are read here and not by a library, because what there is in Go either
// takes a group for "u" as meant for Ushuru and drops a whole file for one bad
// line (temoto/robotstxt), or needs time with the product of the lengths of
// path and patterns (jimsmart/grobotstxt): a second of work for half a
// megabyte that a stranger wrote.
type robotsRules []robotsRule

type robotsRule struct {
	allow   bool
	pattern string // normalised
}

// parseRobots returns the rules for the robot of a name: those of all groups
// that name it, else of all groups for "*". Lines that cannot be read are
// passed over.
func parseRobots(body []byte, name string) robotsRules {
	var ours, everybody robotsRules
	var isOurs, isEverybody, named, inRules bool
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	for line := range bytes.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		key, value, found := strings.Cut(string(line), ":")
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "user-agent":
			if inRules { // a new group begins
				isOurs, isEverybody, inRules = false, false, false
			}
			isOurs = isOurs || strings.EqualFold(productToken(value), name)
			isEverybody = isEverybody || value == "*"
			named = named || isOurs
		case "allow", "disallow":
			inRules = true
			if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "*") {
				continue // an empty one forbids nothing
			}
			rule := robotsRule{len(strings.TrimSpace(key)) == len("allow"), normalised(value)}
			if isOurs {
				ours = append(ours, rule)
			}
			if isEverybody {
				everybody = append(everybody, rule)
			}
		}
	}
	if named {
		return ours
	}
	return everybody
}

// productToken is the name in front of a version or a comment.
func productToken(value string) string {
	end := strings.IndexFunc(value, func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// allows reports whether a page may be read. The longest pattern that fits
// decides; of two equally long, the one that allows.
func (r robotsRules) allows(u *url.URL) bool {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	path = normalised(path)
	if path == "/robots.txt" {
		return true
	}
	allowed, longest := true, 0
	for _, rule := range r {
		size := len(rule.pattern)
		if size < longest || size == longest && (allowed || !rule.allow) || !fits(rule.pattern, path) {
			continue
		}
		allowed, longest = rule.allow, size
	}
	return allowed
}

// fits reports whether a pattern fits the beginning of a path. "*" stands for
// anything and "$" at the end for the end. Taking each piece where it first
// occurs is enough, so the time is that of reading both once.
func fits(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	first, rest, wild := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	if !wild {
		return !anchored || path == ""
	}
	for {
		piece, after, more := strings.Cut(rest, "*")
		if !more {
			if anchored {
				return strings.HasSuffix(path, piece)
			}
			return strings.Contains(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path, rest = path[at+len(piece):], after
	}
}

// normalised writes a path so that equal ones have equal bytes: what need not
// be escaped is not, other escapes are in upper case, and bytes beyond ASCII
// are escaped.
func normalised(path string) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		escaped := false
		if c == '%' && i+2 < len(path) {
			if octet, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, escaped = byte(octet), true
				i += 2
			}
		}
		if c >= 0x80 || escaped && !unreserved(c) {
			out = append(out, '%', hex[c>>4], hex[c&15])
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
