package page

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// amountBefore are the marks of currencies before an amount, amountAfter those after it,
// and noAmount the words for a price that is not given.
var (
	amountBefore = []string{"us$", "usd", "$", "¥", "€", "£", "jpy", "tzs", "kes"}
	amountAfter  = []string{"usd", "円", "万円", "jpy"}
	noAmount     = []string{"ask", "sold"}
	amountMarks  = claim.NewWords("$", "¥", "€", "£", "usd", "jpy", "tzs", "kes", "円", "ask", "sold")
)

var amountShown = regexp.MustCompile(`(?i)(?:US ?\$|A\$|USD|JPY|EUR|GBP|TZS|TSh|KES|KSh|ZAR|[$¥€£])\s?\d[\d,.\x{a0} ]*\d|` +
	`\d[\d,.]*\s?(?:USD|JPY|EUR|TZS|KES|万円|円|€)`)

// AmountIn returns the first amount of money in a text as it is written, "" for none.
func AmountIn(s string) string { return strings.TrimSpace(amountShown.FindString(s)) }

// hasAmount reports a text with an amount of money, or the word for a price that is not
// given.
func hasAmount(s string) bool {
	if !amountMarks.In(s) {
		return false
	}
	s = strings.ToLower(s)
	return slices.ContainsFunc(amountBefore, func(mark string) bool {
		return anyFollowed(s, mark, func(_, after string) bool { return startsWithDigit(strings.TrimPrefix(after, " ")) })
	}) || slices.ContainsFunc(amountAfter, func(mark string) bool {
		return anyFollowed(s, mark, func(before, _ string) bool { return endsWithDigit(strings.TrimSuffix(before, " ")) })
	}) || slices.ContainsFunc(noAmount, func(word string) bool {
		return anyFollowed(s, word, func(before, after string) bool { return !endsWithWord(before) && !startsWithWord(after) })
	})
}

// anyFollowed reports whether a mark occurs in a text between texts that meet a condition.
func anyFollowed(s, mark string, meets func(before, after string) bool) bool {
	for from := 0; ; {
		at := strings.Index(s[from:], mark)
		if at < 0 {
			return false
		}
		if meets(s[:from+at], s[from+at+len(mark):]) {
			return true
		}
		from += at + len(mark)
	}
}

func startsWithDigit(s string) bool { return s != "" && s[0]-'0' <= 9 }

func endsWithDigit(s string) bool { return s != "" && s[len(s)-1]-'0' <= 9 }

func startsWithWord(s string) bool { return s != "" && isWordByte(s[0]) }

func endsWithWord(s string) bool { return s != "" && isWordByte(s[len(s)-1]) }

func isWordByte(c byte) bool { return c-'0' <= 9 || c-'a' <= 'z'-'a' || c == '_' }

// hasCarWords reports whether a box looks as if it were about a car: with a price, a
// year or a make.
func hasCarWords(box *html.Node) bool {
	s := dom.Text(box)
	if hasAmount(s) || claim.YearIn(s) != "" {
		return true
	}
	return NamesMake(s)
}

func hasLinkOrPicture(box *html.Node) bool {
	return dom.HasElement(box, func(n *html.Node) bool { return n.DataAtom == atom.A || n.DataAtom == atom.Img })
}
