package claim

import (
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
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

// Phrases finds phrases in texts. Most texts have none of the words that the phrases need,
// and are told apart by a search for those, which is much quicker than the expressions.
type Phrases struct {
	all   []phrase
	words *Words // nil when a phrase needs no word
}

// phrase is one expression, with words in lower case of which each match has one; none when
// that is not known. The expressions stay apart, because package regexp is slow with long ones.
type phrase struct {
	form  *regexp.Regexp
	needs []string
}

// NewPhrases compiles regular expressions, without regard to case.
func NewPhrases(forms ...string) *Phrases {
	p := &Phrases{}
	var words []string
	needless := false
	for _, form := range forms {
		form = "(?i)" + form
		tree, err := syntax.Parse(form, syntax.Perl)
		if err != nil {
			panic(err)
		}
		own := phrase{form: regexp.MustCompile(form), needs: needed(tree, false)}
		words, needless = append(words, own.needs...), needless || len(own.needs) == 0
		p.all = append(p.all, own)
	}
	if !needless {
		slices.Sort(words)
		p.words = NewWords(slices.Compact(words)...)
	}
	return p
}

// In reports a text with one of the phrases.
func (p *Phrases) In(s string) bool { return (p.words == nil || p.words.In(s)) && p.match(s) }

// match reports a text that one of the expressions matches.
func (p *Phrases) match(s string) bool {
	lower := strings.ToLower(s)
	return slices.ContainsFunc(p.all, func(own phrase) bool {
		hasWord := func(word string) bool { return strings.Contains(lower, strings.TrimPrefix(word, wordStart)) }
		return (len(own.needs) == 0 || slices.ContainsFunc(own.needs, hasWord)) && own.form.MatchString(s)
	})
}

// The text around a word that can belong to a phrase, in bytes.
const (
	beforeWord = 40
	afterWord  = 80
)

// InLong reports a text with one of the phrases, and examines only the text around the
// words that they need.
func (p *Phrases) InLong(s string) bool {
	if p.words == nil {
		return p.match(s)
	}
	if !isASCII(s) {
		s = strings.ToLower(s)
	}
	for at := 0; ; at++ {
		if at, _ = p.words.next(s, at); at < 0 {
			return false
		}
		from, to := max(0, at-beforeWord), min(len(s), at+afterWord)
		from += max(0, strings.IndexByte(s[from:at], ' '))
		if space := strings.LastIndexByte(s[at:to], ' '); to < len(s) && space > 0 {
			to = at + space
		}
		if p.match(s[from:to]) {
			return true
		}
	}
}

// minWord is the least length of a word that is worth a search, in bytes.
const minWord = 2

// needed returns words in lower case of which each match of an expression has one, none
// when it may have none of any use. atStart says that a word begins before the expression.
func needed(tree *syntax.Regexp, atStart bool) []string {
	switch tree.Op { //nolint:exhaustive // others need no word
	case syntax.OpLiteral:
		return neededLiteral(strings.ToLower(string(tree.Rune)), atStart)
	case syntax.OpCapture, syntax.OpPlus:
		return needed(tree.Sub[0], atStart)
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return needed(tree.Sub[0], atStart)
		}
	case syntax.OpConcat:
		var best []string
		for i, part := range tree.Sub {
			starts := i == 0 && atStart || i > 0 && tree.Sub[i-1].Op == syntax.OpWordBoundary
			if own := needed(part, starts); len(own) > 0 && (best == nil || shortest(own) >= shortest(best)) {
				best = own
			}
		}
		return best
	case syntax.OpAlternate:
		return neededOfAll(tree.Sub, atStart)
	}
	return nil
}

func neededLiteral(word string, atStart bool) []string {
	switch {
	case len(word) < minWord:
		return nil
	case atStart:
		return []string{wordStart + word}
	}
	return []string{word}
}

// neededOfAll returns the words of alternatives, none when one of them needs none.
func neededOfAll(alternatives []*syntax.Regexp, atStart bool) (all []string) {
	for _, part := range alternatives {
		own := needed(part, atStart)
		if len(own) == 0 {
			return nil
		}
		all = append(all, own...)
	}
	return all
}

// shortest returns the least length of some words.
func shortest(words []string) int {
	least := math.MaxInt
	for _, word := range words {
		least = min(least, len(word))
	}
	return least
}
