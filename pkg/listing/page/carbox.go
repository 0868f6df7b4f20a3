package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// amountMarks are the currencies of amounts of money, and the words for a price that is not given.
var amountMarks = claim.NewWords("$", "¥", "€", "£", "usd", "jpy", "tzs", "kes", "万円", "円", "ask", "sold")

var amountShown = regexp.MustCompile(`(?i)(?:US ?\$|A\$|USD|JPY|EUR|GBP|TZS|TSh|KES|KSh|ZAR|[$¥€£])\s?\d[\d,.\x{a0} ]*\d|` +
	`\d[\d,.]*\s?(?:USD|JPY|EUR|TZS|KES|万円|円|€)`)

// AmountIn returns the first amount of money in a text as it is written, "" for none.
func AmountIn(s string) string { return strings.TrimSpace(amountShown.FindString(s)) }

// hasAmount reports a text with an amount of money, or the word for a price that is not
// given.
func hasAmount(s string) bool {
	return amountMarks.Any(s, func(mark, before, after string) bool {
		amount := strings.TrimSuffix(before, " ")
		isAfter := amount != "" && amount[len(amount)-1]-'0' <= 9
		switch mark {
		case "ask", "sold":
			return (before == "" || !claim.IsWordByte(before[len(before)-1])) && (after == "" || !claim.IsWordByte(after[0]))
		case "円", "万円":
			return isAfter
		case "usd", "jpy":
			if isAfter {
				return true
			}
		}
		after = strings.TrimPrefix(after, " ")
		return after != "" && after[0]-'0' <= 9
	})
}

// hasCarWords reports whether a box looks as if it were about a car: with a price, a
// year or a make.
func hasCarWords(box *html.Node) bool {
	s := dom.Text(box)
	return hasAmount(s) || claim.YearIn(s) != "" || NamesMake(s)
}

func hasLinkOrPicture(box *html.Node) bool {
	return dom.HasElement(box, func(n *html.Node) bool { return n.DataAtom == atom.A || n.DataAtom == atom.Img })
}
