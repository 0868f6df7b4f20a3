package chassis

import (
	"strings"
)

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

func isLetter(b byte) bool { return 'A' <= b && b <= 'Z' }
func isDigit(b byte) bool  { return '0' <= b && b <= '9' }

func isLetters(s string) bool { return s != "" && all(s, isLetter) }
func isDigits(s string) bool  { return s != "" && all(s, isDigit) }
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
