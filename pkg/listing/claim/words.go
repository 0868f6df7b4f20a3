package claim

import (
	"strings"
	"unicode"
)

// Words finds whether a text contains one of several words, in one pass and without
// regard to case.
type Words struct {
	byFirst [256][]string // the words in lower case by their first byte
}

// NewWords returns the set of some words in lower case.
func NewWords(words ...string) *Words {
	set := &Words{}
	for _, word := range words {
		set.byFirst[word[0]] = append(set.byFirst[word[0]], word)
	}
	return set
}

// In reports whether a text contains one of the words.
func (w *Words) In(s string) bool {
	if !isASCII(s) {
		s = strings.ToLower(s)
	}
	for i := range len(s) {
		for _, word := range w.byFirst[lower(s[i])] {
			if hasPrefixFold(s[i:], word) {
				return true
			}
		}
	}
	return false
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
