package chassis

import "strings"

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
