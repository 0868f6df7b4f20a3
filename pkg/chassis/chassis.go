// Package chassis parses Japanese chassis codes as exporters write them: the type
// designation (DAA-NKE165), the bare code (NKE165) and the frame number
// (NKE165-7161960). It also has tables of the emission prefixes and of the
// authority's spellings of makes.
//
// It does not know which codes exist; the authority's catalogue does.
package chassis

import (
	"strings"
)

// Code is one chassis code of a listing. The zero value means that there is none.
type Code struct {
	Raw    string // as listed, unchanged
	Prefix string // emission prefix, empty when the listing gives none: DAA
	Code   string // the code alone: NKE165
	Suffix string // what followed it: version suffix AEXEK, or the frame's serial
	Frame  bool   // read from a frame number, which on Toyotas lacks the body letter
}

// Parse parses a cell for a chassis code. Of several codes it returns the first;
// see ParseAll. It returns false for an empty cell, a serial or other bare number,
// and a 17-character VIN.
func Parse(cell string) (Code, bool) {
	if code, ok := parseCell(cell, Normalise(cell)); ok {
		return code, true
	}
	all := ParseAll(cell)
	if len(all) == 0 {
		return Code{}, false
	}
	return all[0], true
}

// ParseAll reads every code of a cell, in the cell's order and without
// repetition. Codes are separated by comma, semicolon, middle dot, brackets,
// "or", or a slash that has a code on both sides; what follows any other
// slash is dropped (4BA-HA36S/ASWF-A3).
func ParseAll(cell string) []Code {
	normal := Normalise(cell)
	if code, ok := parseCell(cell, normal); ok {
		return []Code{code}
	}
	var all []Code
	for _, part := range splitCell(normal) {
		code, ok := parseCell(strings.TrimSpace(cell), part)
		if ok && !contains(all, code) {
			all = append(all, code)
		}
	}
	return all
}

func contains(all []Code, code Code) bool {
	for _, c := range all {
		if c.Code == code.Code {
			return true
		}
	}
	return false
}

// splitCell cuts a normalised cell into parts that hold one code each.
func splitCell(cell string) []string {
	cell = strings.ReplaceAll(cell, " OR ", ",")
	separated := strings.FieldsFunc(cell, func(r rune) bool {
		return strings.ContainsRune(",;・、()[]{}|", r)
	})
	var parts []string
	for _, s := range separated {
		kept := 0
		for half := range strings.SplitSeq(s, "/") {
			code, ok := parsePart(half)
			if ok && (kept == 0 || code.Prefix != "" || hasDigit(code.Code)) {
				parts = append(parts, half)
				kept++
			}
		}
	}
	return parts
}

// parseCell reads one normalised part and remembers the cell it came from.
func parseCell(raw, part string) (Code, bool) {
	if strings.ContainsAny(part, ",;・、()[]{}|/") || strings.Contains(part, " OR ") {
		return Code{}, false // several: splitCell's work
	}
	code, ok := parsePart(part)
	code.Raw = strings.TrimSpace(raw)
	return code, ok
}

// parsePart looks for a code among the words of a part. A word with a real
// prefix is the best evidence, then a prefix and a code that stand apart
// (DBA ZRE152), then any word shaped like a code, then all words joined
// (NKE 165).
func parsePart(part string) (Code, bool) {
	if !strings.Contains(part, " ") {
		return parseWord(part)
	}
	words := strings.Fields(part)
	for _, w := range words {
		if code, ok := parseWord(w); ok && code.Prefix != "" {
			return code, true
		}
	}
	for i := 1; i < len(words); i++ {
		if code, ok := parseWord(words[i-1] + "-" + words[i]); ok && code.Prefix != "" {
			return code, true
		}
	}
	for _, w := range words {
		if code, ok := parseWord(w); ok && hasDigit(code.Code) {
			return code, true
		}
	}
	if code, ok := parseWord(strings.Join(words, "")); ok && hasDigit(code.Code) {
		return code, true
	}
	return Code{}, false
}

// parseWord reads one word without spaces.
func parseWord(word string) (Code, bool) {
	word = strings.Trim(word, "-")
	first, rest, hyphen := strings.Cut(word, "-")
	if !hyphen {
		return parseUnhyphenated(word)
	}
	rest = strings.TrimLeft(rest, "-")
	second, suffix, _ := strings.Cut(rest, "-")
	suffix = strings.TrimLeft(suffix, "-")
	if word == eNV200 {
		return Code{}, false
	}
	switch {
	case IsPrefix(first) && followsPrefix(first, second):
		return Code{Prefix: first, Code: second, Suffix: suffix, Frame: isSerial(suffix)}, true
	case isSerial(second):
		if !isFrameCode(first) {
			return Code{}, false
		}
		return Code{Code: first, Suffix: rest, Frame: true}, true
	case isLetters(first) && isShortNumber(second) && isBareCode(first+second):
		return Code{Code: first + second, Suffix: suffix}, true // NZT-260, T-31
	case isBareCode(first) && hasDigit(first):
		return Code{Code: first, Suffix: rest}, true // NKE165-AEXEB
	}
	return Code{}, false
}

// parseUnhyphenated reads a bare code (NKE165, GRB). A glued prefix of three
// characters (dbaage8) is taken off here, because none of the known codes
// begins with one and goes on like a code; shorter glued prefixes need the
// catalogue's word, see Unglue.
func parseUnhyphenated(word string) (Code, bool) {
	if isVIN(word) || !isAlnum(word) || isDigits(word) || len(word) < minCode || len(word) > maxGlued {
		return Code{}, false
	}
	if len(word) >= 6 && IsPrefix(word[:3]) {
		if rest := word[3:]; isLetter(rest[0]) && hasDigit(rest) && isBareCode(rest) {
			return Code{Prefix: word[:3], Code: rest}, true
		}
	}
	if !hasDigit(word) && len(word) > maxLetters && !IsPrefix(word[:3]) { // cbablffp has its prefix glued on
		return Code{}, false
	}
	return Code{Code: word}, true
}

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
