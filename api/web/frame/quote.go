package frame

import (
	"strings"
	"unicode"
)

// quote is a piece of a text in one language.
type quote struct {
	Text     string
	Japanese bool
}

// quoted returns the pieces of a text, in which Japanese stands between 「 and 」, or alone.
func quoted(text string) (pieces []quote) {
	for text != "" {
		from := strings.IndexFunc(text, isJapanese)
		if from < 0 {
			return append(pieces, quote{text, false})
		}
		if from > 0 {
			pieces = append(pieces, quote{text[:from], false})
		}
		text = text[from:]
		length := len(text)
		if at := strings.IndexFunc(text, isLatin); at > 0 {
			length = at
		}
		piece := strings.TrimRightFunc(text[:length], unicode.IsSpace)
		pieces, text = append(pieces, quote{piece, true}), text[len(piece):]
	}
	return pieces
}

// isLatin reports whether a letter ends a piece of Japanese. Spaces and digits stand within.
func isLatin(r rune) bool { return r < 0x2000 && !unicode.IsSpace(r) && !unicode.IsDigit(r) }

func isJapanese(r rune) bool {
	return r == '「' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
