package listing

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
)

// decodeJSON reads a JSON-LD block, repairing what is broken in the wild. ok is
// false when nothing can be made of it.
func decodeJSON(block string) (value any, ok bool) {
	for _, attempt := range []func(string) string{
		func(s string) string { return s },
		repairJSON,
		func(s string) string { return repairJSON(html.UnescapeString(s)) },
	} {
		decoder := json.NewDecoder(strings.NewReader(attempt(block)))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err == nil {
			return value, true
		}
	}
	return nil, false
}

// repairJSON drops wrappers (byte order mark, CDATA, HTML comment), comments of
// JavaScript and trailing commas, and escapes raw control characters inside
// strings. What follows the first value is left for the decoder to ignore.
func repairJSON(s string) string {
	s = strings.Trim(s, "\ufeff \t\r\n")
	for _, wrapper := range []string{"/*<![CDATA[*/", "//<![CDATA[", "<![CDATA[", "<!--"} {
		s = strings.TrimSpace(strings.TrimPrefix(s, wrapper))
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"':
			end := stringEnd(s, i)
			out = appendString(out, s[i:end])
			i = end
		case strings.HasPrefix(s[i:], "//"):
			i += cutAfter(s[i:], "\n")
		case strings.HasPrefix(s[i:], "/*"):
			i += cutAfter(s[i:], "*/")
		case s[i] == '}' || s[i] == ']':
			out = append(bytes.TrimRight(out, ", \t\r\n"), s[i])
			i++
		default:
			out = append(out, s[i])
			i++
		}
	}
	return string(out)
}

// stringEnd returns the index after the closing quote of the string at i.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < 0x20 {
			out = append(out, ' ')
		} else {
			out = append(out, s[i])
		}
	}
	return out
}

func cutAfter(s, end string) int {
	if at := strings.Index(s, end); at >= 0 {
		return at + len(end)
	}
	return len(s)
}
