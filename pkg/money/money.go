// Package money holds exact decimal amounts. Nothing in Ushuru keeps money in
// a float.
package money

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"
)

// ErrInvalid is returned for text that is not an amount of money.
var ErrInvalid = errors.New("money: not an amount")

// amountForm allows digits with or without thousands commas (never half of
// each), an optional sign and decimals. Exponents are refused: "1e9" is not
// how anybody writes a price.
var amountForm = regexp.MustCompile(`^[+-]?(\d{1,15}|\d{1,3}(,\d{3}){1,4})(\.\d{1,12})?$`)

// Amount is an exact amount whose JSON form is a string with thousands commas
// and two decimals, "1,234.56", rounded half up: the authority's own form.
// The zero value is 0.00.
type Amount struct{ value decimal.Decimal }

// New makes an Amount of an exact decimal; rounding happens only on output.
func New(value decimal.Decimal) Amount { return Amount{value} }

// Parse reads "1,234.56", "1234.5" or "-3". Anything else is ErrInvalid.
func Parse(text string) (Amount, error) {
	value, err := parse(text)
	return Amount{value}, err
}

func parse(text string) (decimal.Decimal, error) {
	text = strings.TrimSpace(text)
	if !amountForm.MatchString(text) {
		return decimal.Zero, fmt.Errorf("%w: %.40q", ErrInvalid, text)
	}
	return ParseDecimal(strings.ReplaceAll(text, ",", ""))
}

// The bounds of a decimal from outside the program. A sum with 1e40000000 takes half a minute
// and the memory of its digits.
const (
	maxDecimalText = 40 // bytes
	maxExponent    = 15
	minExponent    = -40
)

// ParseDecimal reads a number that Redis, a page, a model, a file or a caller gave: digits,
// a sign, a point, an exponent. What is longer or larger than any amount is ErrInvalid. It is
// the only place that makes decimals of foreign text.
func ParseDecimal(text string) (decimal.Decimal, error) {
	if len(text) > maxDecimalText {
		return decimal.Zero, fmt.Errorf("%w: %.40q…", ErrInvalid, text)
	}
	value, err := decimal.NewFromString(text)
	if err != nil || value.Exponent() > maxExponent || value.Exponent() < minExponent || value.NumDigits() > maxDecimalText {
		return decimal.Zero, fmt.Errorf("%w: %q", ErrInvalid, text)
	}
	return value, nil
}

// Decimal returns the exact, unrounded value.
func (a Amount) Decimal() decimal.Decimal { return a.value }

// String returns the amount as "1,234.56".
func (a Amount) String() string {
	whole, cents, _ := strings.Cut(a.value.StringFixed(2), ".")
	return Grouped(whole) + "." + cents
}

// Grouped returns the digits of a whole number with commas for thousands: "-1,234".
func Grouped(digits string) string {
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// MarshalJSON writes the string form, "1,234.56".
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(`"` + a.String() + `"`), nil }

// UnmarshalJSON reads the string form. Reading the looser forms that the
// authority may send is the business of its client.
func (a *Amount) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%w: %.40q", ErrInvalid, data)
	}
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// Number is an exact amount whose JSON form is a plain number, 6180 or
// 6180.5, as the API's contract requires for the prices of a listing.
type Number struct{ value decimal.Decimal }

// NewNumber makes a Number of an exact decimal.
func NewNumber(value decimal.Decimal) Number { return Number{value} }

// ParseNumber reads the same forms as Parse.
func ParseNumber(text string) (Number, error) {
	value, err := parse(text)
	return Number{value}, err
}

// Decimal returns the exact value.
func (n Number) Decimal() decimal.Decimal { return n.value }

// String returns the shortest exact form, without commas.
func (n Number) String() string { return n.value.String() }

// MarshalJSON writes a plain JSON number.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.value.String()), nil }

// jsonNumber is the form of a number in JSON (RFC 8259, section 6).
var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)

// maxNumber is more than any amount.
var maxNumber = decimal.New(1, maxExponent)

// UnmarshalJSON reads a JSON number in any of its forms: 6180, 6180.5, 6.18e3.
func (n *Number) UnmarshalJSON(data []byte) error {
	value, err := ParseJSONNumber(string(bytes.TrimSpace(data)))
	if err != nil {
		return err
	}
	n.value = value
	return nil
}

// ParseJSONNumber reads a number as JSON writes it. Anything else, and what no amount can be,
// is ErrInvalid.
func ParseJSONNumber(text string) (decimal.Decimal, error) {
	if !jsonNumber.MatchString(text) {
		return decimal.Zero, fmt.Errorf("%w: %.40q", ErrInvalid, text)
	}
	value, err := ParseDecimal(text)
	if err == nil && !value.Abs().LessThan(maxNumber) {
		err = fmt.Errorf("%w: %.40q", ErrInvalid, text)
	}
	return value, err
}

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
