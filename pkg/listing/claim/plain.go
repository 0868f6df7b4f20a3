package claim

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Plain writes a text as the parsers of values expect it: full-width and other
// compatibility forms as plain ones (NFKC), the decimal digits of any script as
// ASCII digits, spaces of any width as one kind.
func Plain(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII && unicode.Is(unicode.Nd, r):
			return '0' + digitValue(r)
		case r > unicode.MaxASCII && unicode.IsSpace(r):
			return ' '
		}
		return r
	}, norm.NFKC.String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// digitValue returns the value of a decimal digit: Unicode keeps the ten digits of a
// script together, and the digits of several styles in groups of ten.
func digitValue(r rune) rune {
	first := r
	for unicode.Is(unicode.Nd, first-1) {
		first--
	}
	return (r - first) % 10
}
