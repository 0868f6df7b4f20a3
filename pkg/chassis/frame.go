package chassis

import "strings"

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
