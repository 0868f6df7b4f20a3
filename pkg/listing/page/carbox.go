package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// amountMarks are the currencies and words of which an amount of money, or the word for a price
// that is not given, has one, and amountForm matches those.
var (
	amountMarks = claim.NewWords("$", "¥", "€", "£", "usd", "jpy", "tzs", "kes", "円", "ask", "sold")
	amountForm  = regexp.MustCompile(`(?i)(?:us\$|usd|[$¥€£]|jpy|tzs|kes) ?\d|\d ?(?:usd|円|万円|jpy)|\b(?:ask|sold)\b`)
)

var amountShown = regexp.MustCompile(`(?i)(?:US ?\$|A\$|USD|JPY|EUR|GBP|TZS|TSh|KES|KSh|ZAR|[$¥€£])\s?\d[\d,.\x{a0} ]*\d|` +
	`\d[\d,.]*\s?(?:USD|JPY|EUR|TZS|KES|万円|円|€)`)

// AmountIn returns the first amount of money in a text as it is written, "" for none.
func AmountIn(s string) string { return strings.TrimSpace(amountShown.FindString(s)) }

// hasAmount reports a text with an amount of money, or the word for a price that is not
// given.
func hasAmount(s string) bool { return amountMarks.In(s) && amountForm.MatchString(s) }

// hasCarWords reports whether a box looks as if it were about a car: with a price, a
// year or a make.
func hasCarWords(box *html.Node) bool {
	s := dom.Text(box)
	return hasAmount(s) || claim.YearIn(s) != "" || NamesMake(s)
}

func hasLinkOrPicture(box *html.Node) bool {
	return dom.HasElement(box, func(n *html.Node) bool { return n.DataAtom == atom.A || n.DataAtom == atom.Img })
}
