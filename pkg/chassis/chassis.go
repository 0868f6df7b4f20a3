// Package chassis parses Japanese chassis codes as exporters write them: the type
// designation (DAA-NKE165), the bare code (NKE165) and the frame number
// (NKE165-7161960). It also has tables of the emission prefixes and of the
// authority's spellings of makes.
//
// It does not know which codes exist; the authority's catalogue does.
package chassis

import (
	_ "embed" // for prefixes.csv
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/datatable"
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
		if ok && !slices.ContainsFunc(all, func(c Code) bool { return c.Code == code.Code }) {
			all = append(all, code)
		}
	}
	return all
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

// FromFrame reads the code out of a frame number: NKE165-7161960,
// NCP51-0235***, perhaps with the emission prefix before it. It reports false
// for a serial alone, a VIN, and a code and serial run together, which only
// the catalogue can cut (see RunTogether). The code may lack its body letter:
// NCP51 may be an NCP51V.
func FromFrame(cell string) (Code, bool) {
	word := strings.ReplaceAll(Normalise(cell), " ", "-")
	code, ok := parseWord(word)
	if !ok || !code.Frame {
		return Code{}, false
	}
	code.Raw = strings.TrimSpace(cell)
	return code, true
}

// RunTogether lists the ways to cut a word without hyphen into a code and a
// serial, longest code first: NKE1657161960 could be NKE165 and 7161960. Only
// a catalogue can tell which code exists.
func RunTogether(word string) []Code {
	var cuts []Code
	for i := min(len(word)-5, maxCode); i >= minCode; i-- {
		if isFrameCode(word[:i]) && isSerial(word[i:]) {
			cuts = append(cuts, Code{Raw: word, Code: word[:i], Suffix: word[i:], Frame: true})
		}
	}
	return cuts
}

// Stem drops a body letter: the one last letter after a digit (NCP51V →
// NCP51). It reports false, and returns the code unchanged, when there is
// none.
func Stem(code string) (string, bool) {
	n := len(code)
	if n < minCode+1 || !isLetter(code[n-1]) || !isDigit(code[n-2]) {
		return code, false
	}
	return code[:n-1], true
}

// StemMatch reports whether two codes are the same car but for a body letter
// that one of them leaves out: NKE165 and NKE165G. Equal codes match; two
// different letters never do (ZGE20G and ZGE20W are different cars).
func StemMatch(a, b string) bool {
	if a == b {
		return a != ""
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	stem, lettered := Stem(b)
	return lettered && stem == a
}

// Lengths of a chassis code, counted on the transport ministry's 2,942
// designations and the valuers' lists: three to ten characters.
const (
	minCode = 3
	maxCode = 10
	// maxLetters is the longest code without any digit: XRJCWMW.
	maxLetters = 7
	// maxGlued is the longest word taken for a code: a prefix of three, a
	// code and a suffix, or a code and a serial, run together. A VIN has 17.
	maxGlued = 16
)

// eNV200 is the one car whose name reads as a prefix and a code (Nissan's
// electric van).
const eNV200 = "E-NV200"

// followsPrefix reports whether code may stand after the emission prefix. Three
// characters are never anything else than a prefix, so codes without a letter
// (CBA-253388) or without a digit (3AA-CDDLAV) are believed. One or two
// letters also begin model names (X-TRAIL, T-31, E-CLASS), so more is asked.
func followsPrefix(prefix, code string) bool {
	if !isAlnum(code) || len(code) > maxCode {
		return false
	}
	if len(prefix) == 3 {
		return len(code) >= 2
	}
	if len(code) < minCode || !hasDigit(code) {
		return false
	}
	return !isDigits(code) || len(code) == 6 // E-202020, GF-210055: German imports
}

// isBareCode reports whether s is shaped like a code that stands alone.
func isBareCode(s string) bool {
	return len(s) >= minCode && len(s) <= maxCode && isAlnum(s) && !isDigits(s)
}

// isFrameCode reports whether s may stand before a serial. Codes without a digit
// (CWEFW, GRB) have at most seven letters.
func isFrameCode(s string) bool {
	return isBareCode(s) && (hasDigit(s) || len(s) <= maxLetters)
}

// isSerial reports whether s is a frame number's serial: five to eight digits,
// the last ones perhaps masked.
func isSerial(s string) bool {
	digits := strings.TrimRight(s, "*X")
	if len(s) < 5 || len(s) > 8 {
		return false
	}
	return isDigits(digits) || digits == "" && s[0] == '*'
}

// isShortNumber reports whether s is the number of a code written with a hyphen
// of its own: 260 in NZT-260, 260W in NZT-260W.
func isShortNumber(s string) bool {
	if n := len(s); n > 1 && isLetter(s[n-1]) {
		s = s[:n-1]
	}
	return len(s) >= 1 && len(s) <= 3 && isDigits(s)
}

// isVIN reports whether s is a 17-character vehicle identification number, which
// holds no chassis code. VINs have no I, O or Q; masked characters pass.
func isVIN(s string) bool {
	return len(s) == 17 && !strings.ContainsAny(s, "-IOQ")
}

//go:embed prefixes.csv
var prefixTable string

// era is the span of years in which a prefix was given to new cars.
type era struct{ from, to int }

var prefixes = loadPrefixes(prefixTable)

func loadPrefixes(table string) map[string]era {
	known := map[string]era{}
	for _, cells := range datatable.Lines(table, 4) {
		from, err1 := strconv.Atoi(cells[0])
		to, err2 := strconv.Atoi(cells[1])
		if err1 != nil || err2 != nil {
			panic("chassis: prefixes.csv: " + cells[3])
		}
		for p := range strings.FieldsSeq(cells[3]) {
			known[p] = era{from, to}
		}
	}
	return known
}

// IsPrefix reports whether s is an emission prefix of the closed list.
func IsPrefix(s string) bool {
	_, ok := prefixes[s]
	return ok
}

// PrefixFits reports whether a car of the given year could carry the prefix,
// with two years of grace for late registration. A year of 0 is unknown and
// fits prefixes of three characters only, which nothing else looks like.
func PrefixFits(prefix string, year int) bool {
	e, ok := prefixes[prefix]
	if !ok {
		return false
	}
	if year == 0 {
		return len(prefix) == 3
	}
	return year >= e.from-1 && year <= e.to+2
}

// Unglue lists the ways to take an emission prefix off a word written without
// hyphen (taazt240 → TA, AZT240), longest prefix first. Real codes begin with
// the same letters (GFC27 is no GF-C27), so take one only when the whole word
// is no known code, the rest is, and PrefixFits the car's year.
func Unglue(code Code) []Code {
	if code.Prefix != "" || code.Frame {
		return nil
	}
	var ways []Code
	for n := 3; n >= 1; n-- {
		if len(code.Code) < n+minCode {
			continue
		}
		prefix, rest := code.Code[:n], code.Code[n:]
		if IsPrefix(prefix) && followsPrefix(prefix, rest) {
			ways = append(ways, Code{Raw: code.Raw, Prefix: prefix, Code: rest, Suffix: code.Suffix})
		}
	}
	return ways
}

// Power is what an emission prefix says drives a car.
type Power string

// What a prefix can say. The empty Power is a prefix that says nothing, as
// those before 2005 do.
const (
	Petrol       Power = "petrol"
	Diesel       Power = "diesel"
	Hybrid       Power = "petrol hybrid" // plug-in hybrids too
	DieselHybrid Power = "diesel hybrid"
	Electric     Power = "electric"
	FuelCell     Power = "fuel cell"
)

// Power reads the emission prefix: the second of three characters is A or L
// for petrol hybrids, B for petrol, C for diesel hybrids and D for diesel; a
// first character Z is a car without exhaust. The scheme is that of 2005 and
// 2018 (kurukura.jp/car-life/20200419).
func (c Code) Power() Power {
	if len(c.Prefix) != 3 {
		return ""
	}
	second := c.Prefix[1]
	if c.Prefix[0] == 'Z' {
		return map[byte]Power{'A': Electric, 'B': FuelCell}[second]
	}
	switch second {
	case 'A', 'L':
		return Hybrid
	case 'B':
		return Petrol
	case 'C':
		return DieselHybrid
	case 'D':
		return Diesel
	}
	return ""
}

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

func isLetter(b byte) bool { return 'A' <= b && b <= 'Z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetters(s string) bool { return s != "" && all(s, isLetter) }

func isDigits(s string) bool { return s != "" && all(s, isDigit) }

func isAlnum(s string) bool {
	return s != "" && all(s, func(b byte) bool { return isLetter(b) || isDigit(b) })
}

func hasDigit(s string) bool { return !all(s, func(b byte) bool { return !isDigit(b) }) }

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}
