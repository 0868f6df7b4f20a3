package chassis

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Normalise folds the ways one text is written on exporters' pages:
// full-width and half-width forms (NFKC), dashes, invisible characters and
// case. White space becomes single spaces, none beside a hyphen.
func Normalise(s string) string {
	if isNormal(s) {
		return s
	}
	s = strings.ToUpper(norm.NFKC.String(s))
	s = strings.Join(strings.Fields(foldDashes(s)), " ")
	return strings.ReplaceAll(strings.ReplaceAll(s, " -", "-"), "- ", "-")
}

// isNormal recognises what Normalise would not change; nearly every code.
func isNormal(s string) bool {
	for i := range len(s) {
		b := s[i]
		switch {
		case b > '~' || b < ' ' || 'a' <= b && b <= 'z':
			return false
		case b == ' ':
			if i == 0 || i == len(s)-1 || s[i-1] == ' ' || s[i-1] == '-' || s[i+1] == '-' {
				return false
			}
		}
	}
	return true
}

// foldDashes makes every dash a hyphen and drops invisible characters. The
// Japanese long-vowel mark is a dash only between Latin letters or digits.
func foldDashes(s string) string {
	runes := []rune(s)
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range runes {
		switch {
		case '‐' <= r && r <= '―' || r == '−':
			b.WriteByte('-')
		case r == 'ー' && i > 0 && i+1 < len(runes) && isLatin(runes[i-1]) && isLatin(runes[i+1]):
			b.WriteByte('-')
		case '\u200b' <= r && r <= '\u200d' || r == '\u2060' || r == '\ufeff':
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isLatin(r rune) bool { return 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' }
