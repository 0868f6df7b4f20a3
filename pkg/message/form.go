package message

import (
	"errors"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// forms are the forms in which people read a value.
var forms = []string{"", "tzs", "usd", "date", "month", "word", "words", "quote"}

// inForm returns a value in a form.
func inForm(form, value, lang string) string {
	switch form {
	case "tzs":
		return shillings(value, lang)
	case "usd":
		return dollars(value)
	case "date":
		return date(value, lang)
	case "month":
		return month(value, lang)
	case "word":
		return word(value, lang)
	case "words":
		return words(value, lang)
	case "quote":
		return "“" + value + "”"
	}
	return value
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

// shillings returns an amount as people say it: TSh 39.5 million, TSh 660,000.
func shillings(value, lang string) string {
	amount, err := parseNumber(value)
	switch {
	case err != nil:
		return "TSh " + value
	case amount.LessThan(tenth):
		return "TSh " + money.Grouped(amount.StringFixed(0))
	case amount.LessThan(almost):
		return "TSh " + money.Grouped(roundTo(amount, tenThousand).StringFixed(0))
	case lang == Swahili:
		return "TSh milioni " + threeDigits(amount.Div(million))
	}
	return "TSh " + threeDigits(amount.Div(million)) + " million"
}

// dollars returns an amount as people say it: USD 12,340.
func dollars(value string) string {
	amount, err := parseNumber(value)
	switch {
	case err != nil:
		return "USD " + value
	case amount.LessThan(thousand):
		return "USD " + money.Grouped(amount.StringFixed(0))
	}
	return "USD " + money.Grouped(roundTo(amount, ten).StringFixed(0))
}

// parseNumber parses an amount with or without commas. An exponent is no amount: its
// digits could fill the memory.
func parseNumber(value string) (decimal.Decimal, error) {
	if strings.ContainsAny(value, "eE") {
		return decimal.Zero, errors.New("message: an amount has no exponent")
	}
	return money.ParseDecimal(strings.ReplaceAll(value, ",", ""))
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
	return money.Grouped(n.StringFixed(0))
}

var months = [...]string{
	"Januari", "Februari", "Machi", "Aprili", "Mei", "Juni",
	"Julai", "Agosti", "Septemba", "Oktoba", "Novemba", "Desemba",
}

// date returns a day as people write it: 2 January 2027, 2 Januari 2027.
func date(value, lang string) string {
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return value
	}
	if lang == Swahili {
		return day.Format("2 ") + months[day.Month()-1] + day.Format(" 2006")
	}
	return day.Format("2 January 2006")
}

// month returns the month of a day, or a month such as 2027-01, as people write it:
// January 2027, Januari 2027.
func month(value, lang string) string {
	const first = "-01"
	if len(value) < len(time.DateOnly) {
		value += first
	}
	_, said, found := strings.Cut(date(value, lang), " ")
	if !found {
		return value
	}
	return said
}

// word returns the word of the table for a value, or the value when it has none: a
// fuel, a country, the name of a field.
func word(value, lang string) string {
	r, has := table["word/"+strings.ReplaceAll(strings.ToLower(value), " ", "_")]
	switch {
	case !has:
		return value
	case lang == Swahili:
		return r.sw
	}
	return r.en
}

// words returns the words of values that commas separate.
func words(value, lang string) string {
	list := strings.Split(value, ", ")
	for i := range list {
		list[i] = word(list[i], lang)
	}
	return strings.Join(list, ", ")
}

// fill returns a text with values at its placeholders.
func fill(text string, placeholders [][]int, lang string, values Values) string {
	var filled strings.Builder
	from := 0
	for _, at := range placeholders {
		name, form, _ := strings.Cut(text[at[0]+1:at[1]-1], ":")
		filled.WriteString(text[from:at[0]])
		filled.WriteString(inForm(form, values[name], lang))
		from = at[1]
	}
	if from == 0 {
		return text
	}
	filled.WriteString(text[from:])
	return filled.String()
}
