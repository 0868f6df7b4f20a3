package chassis

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
