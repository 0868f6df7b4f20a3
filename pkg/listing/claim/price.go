package claim

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// Price is an amount in a currency, ISO 4217.
type Price struct {
	Amount   money.Number
	Currency string
}

func (p Price) String() string { return p.Currency + " " + p.Amount.String() }

// currencies are the currency marks of listing pages, longest first. A dollar sign
// alone means US dollars on the sites of exporters.
var currencies = []struct{ mark, code string }{
	{"US$", "USD"},
	{"USD", "USD"},
	{"C$", "CAD"},
	{"CAD", "CAD"},
	{"A$", "AUD"},
	{"AUD", "AUD"},
	{"NZ$", "NZD"},
	{"NZD", "NZD"},
	{"JPY", "JPY"},
	{"YEN", "JPY"},
	{"¥", "JPY"},
	{"¥", "JPY"},
	{"円", "JPY"},
	{"S$", "SGD"},
	{"SGD", "SGD"},
	{"HK$", "HKD"},
	{"HKD", "HKD"},
	{"TZS", "TZS"},
	{"TSH", "TZS"},
	{"KES", "KES"},
	{"KSH", "KES"},
	{"UGX", "UGX"},
	{"ZMW", "ZMW"},
	{"EUR", "EUR"},
	{"€", "EUR"},
	{"GBP", "GBP"},
	{"£", "GBP"},
	{"AED", "AED"},
	{"ZAR", "ZAR"},
	{"MXN", "MXN"},
	{"TWD", "TWD"},
	{"NAD", "NAD"},
	{"JMD", "JMD"},
	{"TTD", "TTD"},
	{"FJD", "FJD"},
	{"CLP", "CLP"},
	{"BBD", "BBD"},
	{"$", "USD"},
}

var (
	amountForm = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)
	// thousandths may be thousands, as some countries write them: 4.350.
	thousandths = regexp.MustCompile(`\.\d{3,}$`)
	manYen      = regexp.MustCompile(`^(\d{1,5}(?:\.\d{1,2})?)\s*万円$`)
)

// wordsBesidePrice are the words that may accompany a price. Any other word can give
// the amount another meaning: a deposit, a rate, an old price, thousands, a price
// with freight, or another currency ("HK$ 45,000").
var wordsBesidePrice = map[string]bool{
	"FOB": true, "PRICE": true, "VEHICLE": true, "CAR": true, "ONLY": true, "NOW": true,
	"OUR": true, "SALE": true, "SPECIAL": true,
}

// plainPrice reports whether a text without its amount contains only a currency
// and words of wordsBesidePrice.
func plainPrice(rest string) bool {
	if strings.ContainsAny(rest, "%-+/&") {
		return false
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) })
	for _, word := range words {
		if !wordsBesidePrice[word] && !isCurrency(word) {
			return false
		}
	}
	return true
}

func isCurrency(word string) bool {
	for _, c := range currencies {
		if c.mark == word {
			return true
		}
	}
	return false
}

// formerAmount matches an amount that a text calls the former one: "Was US$ 4,000 Now
// US$ 3,420", "US$ 3,420 (was US$ 4,000)".
var formerAmount = regexp.MustCompile(`(?i)\b` +
	`(?:was|before|old(?: price)?|regular(?: price)?|original(?:ly|  ?price)?|list price|rrp)\b` +
	`\s*:?\s*(?:[A-Z]{0,3}\s?[$¥€£]|[A-Z]{3})?\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:USD|JPY|YEN|円))?`)

// CutFormer removes the former amount from a price that gives the amount of now too.
func CutFormer(s string) string {
	if strings.IndexFunc(s, unicode.IsDigit) < 0 || !formerAmount.MatchString(s) {
		return s
	}
	return strings.Trim(emptyBrackets.Replace(formerAmount.ReplaceAllString(s, "")), " ,;|/-→")
}

var emptyBrackets = strings.NewReplacer("()", "", "( )", "", "[]", "", "[ ]", "")

// ParsePrice parses a text with exactly one amount and at most one currency.
func ParsePrice(s string) (Price, bool) {
	s = CutFormer(Plain(s))
	upper := strings.ToUpper(s)
	if m := manYen.FindStringSubmatch(s); m != nil {
		amount, err := money.ParseNumber(m[1])
		if err != nil {
			return Price{}, false
		}
		return Price{money.NewNumber(amount.Decimal().Shift(4)), "JPY"}, amount.Decimal().IsPositive()
	}
	found := amountForm.FindAllString(s, 2)
	if len(found) != 1 || thousandths.MatchString(found[0]) || !plainPrice(strings.Replace(upper, found[0], " ", 1)) {
		return Price{}, false
	}
	amount, err := money.ParseNumber(found[0])
	if err != nil || !amount.Decimal().IsPositive() {
		return Price{}, false
	}
	currency, ok := ParseCurrency(upper)
	return Price{amount, currency}, ok
}

// ParseCurrency returns the currency that a text names, "" when it names none; ok
// is false when it names two.
func ParseCurrency(upper string) (code string, ok bool) {
	for _, c := range currencies {
		if !strings.Contains(upper, c.mark) {
			continue
		}
		upper = strings.ReplaceAll(upper, c.mark, " ")
		if code != "" && code != c.code {
			return "", false
		}
		code = c.code
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
	for _, c := range currencies {
		upper = strings.ReplaceAll(upper, c.mark, "")
	}
	return upper
}
