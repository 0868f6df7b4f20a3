package table

import (
	"strings"
	"unicode"
)

// formulaSigns begin a formula in some spreadsheet, now or when the cell is edited;
// a Japanese one also takes their full-width and small forms.
const formulaSigns = "=+-@＝＋－＠﹦﹢﹣﹫"

// cellSeparators are what a spreadsheet of some locale splits a line of CSV at, whatever
// the line was written with.
const cellSeparators = ";,\t|"

// Safe makes untrusted text safe for a cell. Characters that no one sees are
// removed, because a spreadsheet may skip them too. The apostrophe, the spreadsheet's
// own mark of plain text, goes before a text that begins as a formula does, and
// before each part after a separator that begins so.
func Safe(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	begins := true // the next visible character begins a cell
	for _, r := range text {
		switch {
		case isInvisible(r):
			continue
		case begins && strings.ContainsRune(formulaSigns, r):
			if before := b.String(); strings.TrimSpace(before) == "" {
				b.Reset()
				b.WriteString("'" + before)
			} else {
				b.WriteByte('\'')
			}
			begins = false
		case strings.ContainsRune(cellSeparators, r), r == '\n', r == '\r':
			begins = true
		case !isBlank(r) && r != '"' && r != '\'':
			begins = false
		}
		if isBlank(r) && !unicode.Is(unicode.Zs, r) { // most control characters are not allowed in XML
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isBlank reports whether a character is a space or a control character.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isInvisible reports whether a character shows nothing: a byte order mark, a
// direction, a joiner, a filler, a variation selector, or one that is not a character.
func isInvisible(r rune) bool {
	if r <= unicode.MaxASCII {
		return r == 0
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Noncharacter_Code_Point, r) ||
		r == unicode.ReplacementChar
}
