package claim

import (
	"strings"
	"unicode"
)

// Words finds whether a text contains one of several words, in one pass and without
// regard to case.
type Words struct {
	isFirst [256]bool   // the bytes with which the words begin, in both cases
	byFirst [256][]word // the words by such a byte
}

// word is one of the words, in lower case.
type word struct {
	text   string
	starts bool // a word of the text must begin with it
}

// wordStart stands before one of the words of NewWords with which a word of a text begins.
const wordStart = "\x00"

// NewWords returns the set of some words in lower case.
func NewWords(words ...string) *Words {
	set := &Words{}
	for _, written := range words {
		text, starts := strings.CutPrefix(written, wordStart)
		for first := range 256 {
			if lower(byte(first)) == text[0] {
				set.isFirst[first] = true
				set.byFirst[first] = append(set.byFirst[first], word{text, starts})
			}
		}
	}
	return set
}

// In reports whether a text contains one of the words.
func (w *Words) In(s string) bool {
	return w.Any(s, func(string, string, string) bool { return true })
}

// Any reports whether a text contains one of the words between two texts that meet a condition.
func (w *Words) Any(s string, meets func(word, before, after string) bool) bool {
	if !isASCII(s) {
		s = strings.ToLower(s)
	}
	for at, own := w.next(s, 0); at >= 0; at, own = w.next(s, at+1) {
		if meets(own, s[:at], s[at+len(own):]) {
			return true
		}
	}
	return false
}

// next returns the first of the words from a place on, and where it begins in a text; -1 for
// none. Letters outside ASCII must be in lower case.
func (w *Words) next(s string, from int) (at int, found string) {
	for i := from; i < len(s); i++ {
		if !w.isFirst[s[i]] {
			continue
		}
		begins := i == 0 || !IsWordByte(s[i-1])
		for _, own := range w.byFirst[s[i]] {
			if (begins || !own.starts) && hasPrefixFold(s[i:], own.text) {
				return i, own.text
			}
		}
	}
	return -1, ""
}

// IsWordByte reports a byte of a word as \b of expressions means it.
func IsWordByte(b byte) bool {
	b = lower(b)
	return b-'a' <= 'z'-'a' || b-'0' <= 9 || b == '_'
}

// hasPrefixFold reports whether a text begins with a word in lower case; only ASCII is
// folded.
func hasPrefixFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(s[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// firstWord appends the first word of a text in lower case to buffer. whole is false when
// the text ends with the word, which may go on elsewhere; ok is false for a text that is
// not in ASCII.
func firstWord(buffer []byte, s string) (word []byte, whole, ok bool) {
	for i := range len(s) {
		c := lower(s[i])
		switch {
		case c > unicode.MaxASCII:
			return nil, false, false
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			buffer = append(buffer, c)
		case len(buffer) > 0:
			return buffer, true, true
		}
	}
	return buffer, false, true
}
