package claim

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/match/naming"
)

// MaxText is the maximum length in bytes of one text of a page.
const MaxText = 400

// Clean returns a text of a page as one line: without control and format
// characters, with white space collapsed, at most MaxText bytes.
func Clean(s string) string {
	if s = strings.TrimSpace(s); isClean(s) {
		return s
	}
	text := make([]byte, 0, MaxText)
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == utf8.RuneError, unicode.Is(unicode.C, r):
			continue
		}
		if len(text)+utf8.RuneLen(r) >= MaxText {
			break
		}
		if space && len(text) > 0 {
			text = append(text, ' ')
		}
		space = false
		text = utf8.AppendRune(text, r)
	}
	return string(text)
}

// isClean reports a short text in ASCII of which Clean changes nothing: most are.
func isClean(s string) bool {
	if len(s) >= MaxText {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && s[i-1] == ' ' { // s does not begin with a space
			return false
		}
	}
	return true
}

// placeholders are the texts that listings write for a value that they do not give.
var placeholders = map[string]bool{
	"": true, "-": true, "--": true, "---": true, "–": true, "—": true, "n/a": true, "na": true, "ask": true,
	"none": true, "unknown": true, "tba": true, "poa": true, "null": true, "confirm with the seller": true,
	"contact": true, "contact us": true, "call for price": true, "inquire": true,
}

// ValueOf returns s cleaned, or "" when s is a placeholder such as "-" or "N/A".
func ValueOf(s string) string {
	if s = Clean(s); placeholders[strings.ToLower(s)] {
		return ""
	}
	return s
}

// NormalizeLabel returns a label as the synonym table has it: in lower case, without
// accents and other marks, with punctuation as space and spaces collapsed.
// Initials are one word: "Y.O.M" is "yom".
func NormalizeLabel(s string) string {
	if !isASCII(s) {
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFKD.String(s))
	}
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(joinInitials(words), " ")
}

// joinInitials joins three or more single letters that follow each other.
func joinInitials(words []string) []string {
	for i := 0; i < len(words); i++ {
		end := i
		for end < len(words) && len(words[end]) == 1 {
			end++
		}
		if end-i >= 3 {
			words = slices.Replace(words, i, end, strings.Join(words[i:end], ""))
		}
	}
	return words
}

// Squash returns the letters and digits of a text in upper case, for comparing
// names.
func Squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, s)
}

// Latin returns a name with its Japanese and full-width words as nameplates write them:
// TOYOTA VITZ for トヨタ ヴィッツ. What is not known stays.
func Latin(s string) string {
	if isASCII(s) || !strings.ContainsFunc(s, isJapanese) {
		return s
	}
	return naming.LatinName(s)
}

func isJapanese(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= '！' && r <= '～'
}

// CutJapanese removes the Japanese text after a name: auctions write "X SUV ｱｯﾌﾟ".
func CutJapanese(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	})
	if at < 0 || Squash(s[:at]) == "" {
		return s
	}
	return strings.TrimSpace(s[:at])
}

// Plain writes a text as the parsers of values expect it: full-width and other
// compatibility forms as plain ones (NFKC), the decimal digits of any script as
// ASCII digits, spaces of any width as one kind.
func Plain(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII && unicode.Is(unicode.Nd, r):
			return '0' + digitValue(r)
		case r > unicode.MaxASCII && unicode.IsSpace(r):
			return ' '
		}
		return r
	}, norm.NFKC.String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// digitValue returns the value of a decimal digit: Unicode keeps the ten digits of a
// script together, and the digits of several styles in groups of ten.
func digitValue(r rune) rune {
	first := r
	for unicode.Is(unicode.Nd, first-1) {
		first--
	}
	return (r - first) % 10
}
