package fetch

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// robotsRules are the rules of one robots.txt that apply to this program
// (RFC 9309).
//
// No library is used: temoto/robotstxt applies a group for "u" to Ushuru and
// ignores a whole file because of one bad line; jimsmart/grobotstxt needs time
// proportional to the product of the lengths of path and patterns, which is a
// second for a hostile file of half a megabyte.
type robotsRules []robotsRule

type robotsRule struct {
	allow   bool
	pattern string // normalize
}

// parseRobots returns the rules for the robot of a name: those of all groups
// that name it, else of all groups for "*". Lines that cannot be parsed are
// skipped.
func parseRobots(body []byte, name string) robotsRules {
	var ours, anyone robotsRules
	var isOurs, isForAll, named, inRules bool
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
				isOurs, isForAll, inRules = false, false, false
			}
			isOurs = isOurs || strings.EqualFold(productToken(value), name)
			isForAll = isForAll || value == "*"
			named = named || isOurs
		case "allow", "disallow":
			inRules = true
			if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "*") {
				continue // an empty pattern forbids nothing
			}
			rule := robotsRule{len(strings.TrimSpace(key)) == len("allow"), normalize(value)}
			if isOurs {
				ours = append(ours, rule)
			}
			if isForAll {
				anyone = append(anyone, rule)
			}
		}
	}
	if named {
		return ours
	}
	return anyone
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

// allows reports whether a page may be read. The longest matching pattern
// decides; of two patterns of the same length, the one that allows.
func (r robotsRules) allows(u *url.URL) bool {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	path = normalize(path)
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

// fits reports whether a pattern matches the beginning of a path. "*" matches any
// characters and a final "$" matches the end. Matching each piece at its first
// occurrence is sufficient, so the time is linear.
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

// normalize returns a form of a path in which equal paths have equal bytes: only
// characters that must be escaped are escaped, in upper case.
func normalize(path string) string {
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
