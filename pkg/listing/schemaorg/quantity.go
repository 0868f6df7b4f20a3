package schemaorg

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/money"
)

// The units of quantities by their codes (UN/CEFACT Recommendation 20) and the
// words that stand in their place.
var (
	mileageUnits = map[string]string{
		"KMT": "km", "KM": "km", "KMS": "km", "КМ": "km",
		"KILOMETER": "km", "KILOMETERS": "km", "KILOMETRE": "km", "KILOMETRES": "km",
		"SMI": "miles", "MI": "miles", "MILE": "miles", "MILES": "miles",
	}
	displacementUnits = map[string]string{
		"CMQ": "cc", "CC": "cc", "CCM": "cc", "CM3": "cc", "CM": "cc", // squash drops the ³ of cm³
		"LTR": "litres", "L": "litres", "LITER": "litres", "LITERS": "litres", "LITRE": "litres", "LITRES": "litres",
	}
)

var quantityForm = regexp.MustCompile(`^([\d.,'’\s]*\d)\s*(\p{L}[\p{L}\d³]*)\.?$`)

// quantity returns "1490 cc" of a QuantitativeValue or a text with a unit that
// is known; a text that holds more is returned as it is. A number without unit
// is nothing.
func quantity(v graph.Value, units map[string]string) string {
	if v.Node == nil {
		text := v.Words()
		m := quantityForm.FindStringSubmatch(text)
		switch {
		case v.Number, strings.Trim(text, "0123456789., '’") == "":
			return ""
		case m == nil:
			return text
		}
		return inUnit(graph.Value{Text: m[1]}, units[claim.Squash(m[2])])
	}
	n := v.Node.Full()
	values := n.Props["value"]
	if len(values) != 1 || values[0].Node != nil {
		return ""
	}
	if unit := cmp.Or(units[claim.Squash(n.Word("unitCode"))], units[claim.Squash(n.Word("unitText"))]); unit != "" {
		return inUnit(values[0], unit)
	}
	if n.Word("unitCode", "unitText") != "" {
		return ""
	}
	return quantity(values[0], units)
}

// inUnit writes a number with its unit as the readers of fields know it.
func inUnit(v graph.Value, unit string) string {
	if unit == "litres" {
		return inLitres(v.Text)
	}
	number, ok := wholeNumber(v)
	if !ok || unit == "" {
		return ""
	}
	whole, _, _ := strings.Cut(number, ".")
	return whole + " " + unit
}

var litreNumber = regexp.MustCompile(`^(\d{1,2})(?:[.,](\d{1,3}))?$`)

// inLitres writes litres with one decimal at least, or exact ones as 1498 cc.
func inLitres(number string) string {
	m := litreNumber.FindStringSubmatch(strings.TrimSpace(number))
	switch {
	case m == nil:
		return ""
	case len(m[2]) == 3:
		return strings.TrimLeft(m[1]+m[2], "0") + " cc"
	}
	return m[1] + "." + cmp.Or(m[2], "0") + " litres"
}

// wholeNumber reads a number that counts thousands, as "24500" or "24500.5". A
// JSON number such as 24.500 may be either, and is none.
func wholeNumber(v graph.Value) (string, bool) {
	s := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(v.Text), ",-"), ".-")
	number, isGrouped, ok := claim.ParseNumber(s)
	if !ok || isGrouped && v.Number && !strings.Contains(s, ",") {
		return "", false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.No, r) }) {
		return "", false // the mark of a footnote is no digit: 6180¹
	}
	_, err := money.ParseNumber(number)
	return number, err == nil
}
