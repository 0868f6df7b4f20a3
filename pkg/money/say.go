package money

import (
	"strings"

	"github.com/shopspring/decimal"
)

// Amounts from which another form is used, and the units of rounding. They are exact,
// so that 24,950,000 is 25 million, not 24.9.
var (
	ten         = decimal.NewFromInt(10)
	thousand    = decimal.NewFromInt(1000)
	tenThousand = decimal.NewFromInt(10_000)
	tenth       = decimal.NewFromInt(100_000) // of a million
	almost      = decimal.NewFromInt(995_000) // is rounded to a million
	million     = decimal.NewFromInt(1_000_000)
	two         = decimal.RequireFromString("9.995") // up to here, two decimals
	one         = decimal.RequireFromString("99.95")
)

// SayShillings returns an amount as people say it: TSh 39.5 million, in Swahili TSh milioni 39.5;
// TSh 660,000. A text that is no amount stays as it is.
func SayShillings(value string, inSwahili bool) string {
	amount, err := parsePlain(value)
	switch {
	case err != nil:
		return "TSh " + value
	case amount.LessThan(tenth):
		return "TSh " + Grouped(amount.StringFixed(0))
	case amount.LessThan(almost):
		return "TSh " + Grouped(roundTo(amount, tenThousand).StringFixed(0))
	case inSwahili:
		return "TSh milioni " + threeDigits(amount.Div(million))
	}
	return "TSh " + threeDigits(amount.Div(million)) + " million"
}

// SayDollars returns an amount as people say it: USD 12,340.
func SayDollars(value string) string {
	amount, err := parsePlain(value)
	switch {
	case err != nil:
		return "USD " + value
	case amount.LessThan(thousand):
		return "USD " + Grouped(amount.StringFixed(0))
	}
	return "USD " + Grouped(roundTo(amount, ten).StringFixed(0))
}

// parsePlain parses an amount with or without commas. An exponent is no amount: its
// digits could fill the memory.
func parsePlain(value string) (decimal.Decimal, error) {
	if strings.ContainsAny(value, "eE") {
		return decimal.Zero, ErrInvalid
	}
	return ParseDecimal(strings.ReplaceAll(value, ",", ""))
}

func roundTo(amount, unit decimal.Decimal) decimal.Decimal {
	return amount.Div(unit).Round(0).Mul(unit)
}

// threeDigits returns a number with three significant digits, and all that it has
// before the point.
func threeDigits(n decimal.Decimal) string {
	switch {
	case n.LessThan(two):
		return n.Round(2).String()
	case n.LessThan(one):
		return n.Round(1).String()
	}
	return Grouped(n.StringFixed(0))
}
