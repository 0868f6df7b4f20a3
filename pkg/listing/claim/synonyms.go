package claim

import (
	_ "embed"
	"regexp"
	"strings"
	"unicode"

	"ushuru/pkg/datatable"
)

//go:embed labels.csv
var labelTable string

// synonyms maps a normalized label to its field.
var synonyms = func() map[string]string {
	table := map[string]string{}
	for _, row := range datatable.Lines(labelTable, 2) {
		table[NormalizeLabel(row[1])] = row[0]
	}
	return table
}()

// firstWords are the words with which known labels begin.
var firstWords = func() map[string]bool {
	begin := map[string]bool{}
	for label := range synonyms {
		word, _, _ := strings.Cut(label, " ")
		begin[word] = true
	}
	for word := range yearWords.whole {
		begin[word] = true
	}
	return begin
}()

// MayBeLabel reports whether a text begins as a known label does; most texts of a page do
// not. A text that begins with an initial or outside ASCII always may, and one that ends
// within its first word.
func MayBeLabel(s string) bool {
	var buffer [maxLabel]byte
	word, whole, ok := firstWord(buffer[:0], s[:min(len(s), maxLabel)])
	return !ok || !whole || len(word) == 1 || firstWords[string(word)] || yearWords.stemOf(string(word)) != ""
}

// maxLabel is the maximum length of a label in bytes; longer texts are not labels.
const maxLabel = 80

// FieldOf returns the field that a label means, "" when the label is unknown. A unit or a
// currency at its end belongs to the value.
func FieldOf(s string) string {
	if s == "" || len(s) > maxLabel || !MayBeLabel(s) {
		return ""
	}
	if field := fieldOf(s); field != "" {
		return field
	}
	if name, unit := cutLabelUnit(s); unit != "" {
		return fieldOf(name)
	}
	return ""
}

func fieldOf(s string) string {
	label := NormalizeLabel(s)
	if field := synonyms[label]; field != "" {
		return field
	}
	if before, after, isFOB := strings.Cut(label, "fob"); isFOB && synonyms[strings.TrimSpace(before+after)] == FieldPrice {
		return FieldPrice // in any language: Prix FOB, FOB価格
	}
	return yearField(label)
}

// labelUnits are the units and currencies that stand at the end of a label.
var labelUnits = []string{
	"km", "kms", "kilometer", "kilometers", "kilometre", "kilometres", "mi", "mile", "miles", "км",
	"cc", "ccm", "cm3", "cm³", "l", "liter", "liters", "litre", "litres",
	"us$", "us $", "usd", "us dollar", "us dollars", "jpy", "yen", "¥", "円", "eur", "€", "gbp", "£",
	"tzs", "tsh", "kes", "ksh", "aed", "zar",
}

// unitEnds are the last words of labelUnits.
var unitEnds = func() map[string]bool {
	ends := map[string]bool{}
	for _, unit := range labelUnits {
		ends[unit[strings.LastIndexByte(unit, ' ')+1:]] = true
	}
	return ends
}()

// labelUnit matches a unit or a currency at the end of a label: "Price (US$)", "Mileage in km".
var labelUnit = regexp.MustCompile(`(?i)[\s(\[（,/]+(?:in\s+)?((?:thousands?\s+|x?\s?1000\s?|[千万])?(?:` +
	strings.ReplaceAll(strings.Join(labelUnits, "|"), "$", `\$`) + `))[.)\]）\s:：]*$`)

// cutLabelUnit cuts the unit from the end of a label, "" when it has none.
func cutLabelUnit(label string) (name, unit string) {
	words := strings.TrimRightFunc(label, isAroundUnit)
	before := strings.TrimRightFunc(words, func(r rune) bool { return !isAroundUnit(r) })
	if strings.TrimLeftFunc(before, isAroundUnit) == "" { // it is one word
		return label, ""
	}
	if !unitEnds[strings.ToLower(strings.TrimLeft(words[len(before):], "xX10千万"))] {
		return label, "" // as most labels, which need no expression
	}
	m := labelUnit.FindStringSubmatchIndex(label)
	if m == nil || m[0] == 0 {
		return label, ""
	}
	return label[:m[0]], label[m[2]:m[3]]
}

// isAroundUnit reports a mark or a space before or after the unit of a label.
func isAroundUnit(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(".,:：/()（）[]", r)
}

// ValueUnder returns a value with the unit that its label gives, unless the value gives it
// itself. A value in another unit than its label's is then no value.
func ValueUnder(label, value string) string {
	switch FieldOf(label) {
	case FieldPrice, FieldCF, FieldFOB, FieldMileage, FieldEngine:
	default:
		return value
	}
	_, unit := cutLabelUnit(label)
	if unit == "" || strings.IndexFunc(value, unicode.IsDigit) < 0 {
		return value
	}
	c, own := cut(value), cut("1 "+unit)
	said := own.numbers[0]
	isSame := said.unit != "" && said.times == "" && len(own.words) == 0
	if len(c.numbers) == 0 || isSame && c.numbers[0].unit == said.unit {
		return value
	}
	return value + " " + strings.NewReplacer("x1000", "thousand", "x 1000", "thousand", "1000", "thousand").Replace(unit)
}
