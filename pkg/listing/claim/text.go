package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is the longest text in bytes that is taken from a page.
const MaxText = 400

// Clean makes one line of text from a page: control and format characters out,
// white space collapsed, no longer than maxText.
func Clean(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == utf8.RuneError, unicode.Is(unicode.C, r):
			continue
		}
		if b.Len()+utf8.RuneLen(r) >= MaxText {
			break
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

// placeholders are the ways in which listings say that they do not say.
var placeholders = map[string]bool{
	"": true, "-": true, "--": true, "---": true, "–": true, "—": true, "n/a": true, "na": true, "ask": true,
	"none": true, "unknown": true, "tba": true, "poa": true, "null": true, "confirm with the seller": true,
	"contact": true, "contact us": true, "call for price": true, "inquire": true,
}

// ValueOf returns s, or "" when s means that the page does not say.
func ValueOf(s string) string {
	if s = Clean(s); placeholders[strings.ToLower(s)] {
		return ""
	}
	return s
}

// NormalizeLabel normalises a label for the synonym table: lower case, punctuation as
// space, spaces collapsed.
func NormalizeLabel(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// Squash is for comparing names: upper case letters and digits only.
func Squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, s)
}

// CutJapanese cuts what follows a name in Japanese script: auctions write "X SUV ｱｯﾌﾟ".
func CutJapanese(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	})
	if at < 0 || Squash(s[:at]) == "" {
		return s
	}
	return strings.TrimSpace(s[:at])
}

// FirstOf returns the first text that is not empty.
func FirstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
