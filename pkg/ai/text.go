package ai

import (
	"strings"
	"unicode"
)

// Clean makes one line of plain text of any text: control and format
// characters (zero width, direction marks, tags) and angle brackets become
// spaces, runs of spaces one space, and what is longer than most characters is
// cut.
func Clean(text string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text { // bytes that are no UTF-8 come as U+FFFD
		if r == unicode.ReplacementChar || r == '<' || r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = n > 0
			continue
		}
		if space && n < most {
			b.WriteByte(' ')
			n++
		}
		if space = false; n >= most {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSuffix(b.String(), " ")
}
