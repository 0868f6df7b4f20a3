package bill

import (
	"regexp"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

var dollar = regexp.MustCompile(`(?i)\busd\b|\$|\bus dollars?\b|\bdola\b`)

// sumInDollars matches dollars that belong to a number; foreign matches other currencies beside one.
var (
	sumInDollars  = regexp.MustCompile(`(?i)(?:\$|\b(?:usd?|dollars?|dola))[.:]?\s*\d|\d\s*(?:\$|(?:usd?|dollars?|dola)\b)`)
	foreign       = `(?:€|£|\b(?:eur|euros?|gbp|pounds?|pauni|kes|kshs?|ugx|ushs?|rwf|zmw|zar|aed|cny|rmb|yuan|inr)\b)`
	foreignBefore = regexp.MustCompile(`(?i)` + foreign + `[.:]?\s*$`)
	foreignAfter  = regexp.MustCompile(`(?i)^\s*` + foreign)
)

// asked is the last amount of a text.
type asked struct {
	value    decimal.Decimal
	currency string // USD or TZS; "" when the text names none
	before   string // what stands before the number
	isThere  bool   // there is a number, whether it can be read or not
}

// amountIn returns the last amount of a text; false without one that can be read, and for one that
// is neither in shillings nor in dollars.
func amountIn(text string) (amount asked, ok bool) {
	said, from, to, ok := money.LastSaid(text)
	before := text[:from]
	currency := said.Currency
	switch {
	case currency != "" || !dollar.MatchString(text):
	case sumInDollars.MatchString(before): // the dollars are of another sum
		currency = "TZS"
	default:
		currency = "USD"
	}
	ok = ok && currency != "JPY" && !foreignBefore.MatchString(before) && !foreignAfter.MatchString(text[to:])
	return asked{said.Value, currency, before, to > 0}, ok
}
