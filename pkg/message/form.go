package message

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// forms are the forms in which people read a value.
var forms = []string{"", "tzs", "usd", "date", "word", "words", "quote"}

// inForm returns a value in a form.
func inForm(form, value, lang string) string {
	switch form {
	case "tzs":
		return shillings(value, lang)
	case "usd":
		return dollars(value)
	case "date":
		return date(value, lang)
	case "word":
		return word(value, lang)
	case "words":
		return words(value, lang)
	case "quote":
		return "“" + value + "”"
	}
	return value
}

const million = 1_000_000

// shillings returns an amount as people say it: TSh 39.5 million, TSh 660,000.
func shillings(value, lang string) string {
	amount, err := parseNumber(value)
	switch {
	case err != nil:
		return "TSh " + value
	case amount < million/10:
		return "TSh " + grouped(math.Round(amount))
	case amount < million-5000:
		return "TSh " + grouped(roundTo(amount, 10_000))
	case lang == Swahili:
		return "TSh milioni " + threeDigits(amount/million)
	}
	return "TSh " + threeDigits(amount/million) + " million"
}

// dollars returns an amount as people say it: USD 12,340.
func dollars(value string) string {
	amount, err := parseNumber(value)
	switch {
	case err != nil:
		return "USD " + value
	case amount < 1000:
		return "USD " + grouped(math.Round(amount))
	}
	return "USD " + grouped(roundTo(amount, 10))
}

func parseNumber(value string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
}

func roundTo(amount, unit float64) float64 { return math.Round(amount/unit) * unit }

// threeDigits returns a number with three significant digits, and all that it has
// before the point.
func threeDigits(n float64) string {
	decimals := 0
	switch {
	case n < 9.995:
		decimals = 2
	case n < 99.95:
		decimals = 1
	default:
		return grouped(math.Round(n))
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(n, 'f', decimals, 64), "0"), ".")
}

// grouped returns a whole number with commas for thousands.
func grouped(n float64) string {
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
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
