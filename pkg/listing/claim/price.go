package claim

import (
	_ "embed" // currencies.csv
	"regexp"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/datatable"
	"ushuru/pkg/money"
)

// Price is an amount in a currency, ISO 4217.
type Price struct {
	Amount   money.Number
	Currency string
}

func (p Price) String() string { return p.Currency + " " + p.Amount.String() }

//go:embed currencies.csv
var currencyTable string

// currencies are marks of currencies with their codes, longest first.
var currencies = datatable.Rows(currencyTable)

// wordsBesidePrice are the words that may accompany a price. Any other word can give
// the amount another meaning: a deposit, a rate, an old price, thousands, a price
// with freight, or another currency ("HK$ 45,000").
var wordsBesidePrice = wordSet("FOB PRICE VEHICLE CAR ONLY NOW OUR SALE SPECIAL JAPAN NEGOTIABLE " +
	"NEG ONO FIRM FIXED CASH BEI FINAL NET TOTAL AMOUNT YOKOHAMA NAGOYA KOBE OSAKA TOKYO KAWASAKI HAKATA MOJI KISARAZU")

// besidePrice matches a dash between a price and a word: US$ 3,450 - negotiable.
var besidePrice = regexp.MustCompile(`(\d)\s*[-–—]\s+(\p{L})`)

// behindPrice matches the signs that end a price: 12,500,000/=, 450,000/-, 3.500,-, a footnote's.
var behindPrice = regexp.MustCompile(`(?:/[-=]|[.,][-–—]{1,2}|\*{1,3}|[†‡])\s*$`)

// signsOfPrice are the signs of which besidePrice and behindPrice need one.
const signsOfPrice = "-–—=*†‡"

// formerAmount matches an amount that a text calls the former one: "Was US$ 4,000 Now
// US$ 3,420", "US$ 3,420 (was US$ 4,000)".
var formerAmount = regexp.MustCompile(`(?i)\b` +
	`(?:was|before|old(?: price)?|regular(?: price)?|original(?:ly|  ?price)?|list price|rrp)\b` +
	`\s*:?\s*(?:[A-Z]{0,3}\s?[$¥€£]|[A-Z]{3})?\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:USD|JPY|YEN|円))?`)

// formerWords are words of which a former amount has one.
var formerWords = NewWords("was", "before", "old", "regular", "original", "list", "rrp")

// cutFormer removes the former amount from a price that gives the amount of now too.
func cutFormer(s string) string {
	if strings.IndexFunc(s, unicode.IsDigit) < 0 || !formerWords.In(s) {
		return s
	}
	return strings.Trim(emptyBrackets.Replace(formerAmount.ReplaceAllString(s, "")), " ,;|/-→")
}

var emptyBrackets = strings.NewReplacer("()", "", "( )", "", "[]", "", "[ ]", "")

// maxDecimals is the number of decimals of an amount of money.
const maxDecimals = 2

// ParsePrice parses a text with exactly one amount and at most one currency.
func ParsePrice(s string) (Price, bool) {
	s = cutFormer(Plain(s))
	if strings.ContainsAny(s, signsOfPrice) {
		s = besidePrice.ReplaceAllString(behindPrice.ReplaceAllString(s, ""), "$1 $2")
	}
	upper := strings.ToUpper(s)
	c := cut(CutCurrencies(upper))
	if c.isBad || len(c.numbers) != 1 || c.marks != "" || !c.hasOnly(func(word string) bool { return wordsBesidePrice[word] }) {
		return Price{}, false
	}
	n := c.numbers[0]
	amount, err := money.ParseNumber(n.text)
	if err != nil || n.unit != "" || n.isComma || n.times == "k" ||
		!amount.Decimal().IsPositive() || amount.Decimal().Exponent() < -maxDecimals {
		return Price{}, false
	}
	currency, ok := ParseCurrency(upper)
	return Price{amount, currency}, ok
}

// ParseCurrency returns the currency that a text names, "" when it names none; ok
// is false when it names two.
func ParseCurrency(upper string) (code string, ok bool) {
	for _, row := range currencies {
		if !strings.Contains(upper, row[0]) {
			continue
		}
		upper = strings.ReplaceAll(upper, row[0], " ")
		if code != "" && code != row[1] {
			return "", false
		}
		code = row[1]
	}
	return code, true
}

// maxPriceUSD bounds what a used car can cost, in US dollars.
var maxPriceUSD = decimal.NewFromInt(3_000_000)

// Plausible reports whether a used car can cost the price.
func (p Price) Plausible() bool {
	return p.Currency != "USD" || !p.Amount.Decimal().GreaterThan(maxPriceUSD)
}

// CutCurrencies removes the currency marks from a text in upper case.
func CutCurrencies(upper string) string {
	for _, row := range currencies {
		upper = strings.ReplaceAll(upper, row[0], "")
	}
	return upper
}
