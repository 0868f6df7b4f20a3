package ai

import (
	"strings"
	"unicode"
)

// Clean makes one line of plain text of any text: control and format
// characters (zero width, direction marks, tags) and angle brackets become
// spaces, runs of spaces one space, and the text is truncated to maxLength
// characters.
func Clean(text string, maxLength int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text { // bytes that are no UTF-8 come as U+FFFD
		if r == unicode.ReplacementChar || r == '<' || r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = n > 0
			continue
		}
		if space && n < maxLength {
			b.WriteByte(' ')
			n++
		}
		if space = false; n >= maxLength {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSuffix(b.String(), " ")
}
