package chassis

import "strings"

// oldPrefixes are the prefixes of one letter seen on exporters' pages; any
// other letter before a hyphen begins a word.
var oldPrefixes = map[string]bool{"E": true, "R": true, "S": true, "U": true, "Q": true}

// InText finds a PREFIX-CODE inside a title or description, as in "COROLLA
// AXIO HYBRID G/DAA-NKE165 for sale". Only prefixes of the closed list count,
// and what follows must be shaped like a code, so X-TRAIL, C-HR, CX-30 and the
// engine code 1NZ-1LM are not codes.
func InText(text string) (Code, bool) {
	words := strings.FieldsFunc(Normalise(text), func(r rune) bool {
		return r != '-' && (r >= 128 || !isLatin(r))
	})
	for _, word := range words {
		prefix, rest, hyphen := strings.Cut(strings.Trim(word, "-"), "-")
		if !hyphen || !IsPrefix(prefix) {
			continue
		}
		code, suffix, _ := strings.Cut(rest, "-")
		if word != eNV200 && believable(prefix, code) {
			return Code{Raw: prefix + "-" + code, Prefix: prefix, Code: code, Suffix: suffix}, true
		}
	}
	return Code{}, false
}

// believable is followsPrefix for running text, where words and model names
// stand beside hyphens: a code of letters alone needs a prefix that is no word
// (AAA-RATED), and after one or two letters a code begins with a letter.
func believable(prefix, code string) bool {
	if len(code) < minCode || !followsPrefix(prefix, code) {
		return false
	}
	switch len(prefix) {
	case 3:
		return hasDigit(code) || prefix != "AAA" && len(code) <= maxLetters
	case 2:
		return isLetter(code[0])
	default:
		return len(code) > 3 && isLetters(code[:2]) && oldPrefixes[prefix]
	}
}
