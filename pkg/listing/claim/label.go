package claim

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
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

// yearWordTable lists the words of labels for a year: the field that a word means, or
// filler for words that say nothing of it.
//
//go:embed yearwords.csv
var yearWordTable string

// wordField is a part of a word with the field that it means.
type wordField struct{ part, field string }

// yearVocabulary is the content of yearWordTable.
type yearVocabulary struct {
	whole      map[string]string
	beginnings []wordField // "fabrica*"
	endings    []wordField // "*zulassung"
	inside     []wordField // "*tengenez*"
	unspaced   []wordField // parts of labels in scripts without spaces, the longest first
}

var yearWords = readYearWords(yearWordTable)

func readYearWords(lines string) yearVocabulary {
	words := yearVocabulary{whole: map[string]string{}}
	for _, row := range datatable.Lines(lines, 2) {
		field, word := row[0], row[1]
		own := wordField{strings.ReplaceAll(NormalizeLabel(word), " ", ""), field}
		starts, ends := strings.HasPrefix(word, "*"), strings.HasSuffix(word, "*")
		switch {
		case starts && ends:
			words.inside = append(words.inside, own)
		case starts:
			words.endings = append(words.endings, own)
		case ends:
			words.beginnings = append(words.beginnings, own)
		default:
			words.whole[own.part] = field
			if strings.ContainsFunc(own.part, isUnspaced) {
				words.unspaced = append(words.unspaced, own)
			}
		}
	}
	slices.SortStableFunc(words.unspaced, func(a, b wordField) int { return len(b.part) - len(a.part) })
	return words
}

// isUnspaced reports a letter of a script that is written without spaces between words,
// or joins them as Korean does.
func isUnspaced(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// fieldsOf returns the fields that a word of a label means, fillerWord among them; nil
// for a word that is not about a year.
func (v *yearVocabulary) fieldsOf(word string) []string {
	if field := cmp.Or(v.whole[word], v.stemOf(word)); field != "" {
		return []string{field}
	}
	return nil
}

// stemOf returns the field of the stem in a word, "" when it has none.
func (v *yearVocabulary) stemOf(word string) string {
	for _, stem := range v.beginnings {
		if strings.HasPrefix(word, stem.part) {
			return stem.field
		}
	}
	for _, stem := range v.endings {
		if strings.HasSuffix(word, stem.part) {
			return stem.field
		}
	}
	for _, stem := range v.inside {
		if strings.Contains(word, stem.part) {
			return stem.field
		}
	}
	return ""
}

// partsOf returns the fields of a label without spaces, nil when a part of it is not
// about a year.
func (v *yearVocabulary) partsOf(word string) (fields []string) {
next:
	for word != "" {
		for _, own := range v.unspaced {
			if rest, ok := strings.CutPrefix(word, own.part); ok {
				fields, word = append(fields, own.field), rest
				continue next
			}
		}
		return nil
	}
	return fields
}

// fillerWord marks a word that does not tell which year a label means.
const fillerWord = "filler"

// twoYears joins the fields of a label that names two years: "Year (Reg/Mfg)".
const twoYears = "+"

// yearField returns the field of a normalized label all of whose words are about a
// year, "" for any other label. A label that names two years has both fields,
// joined in its own order.
func yearField(label string) string {
	var fields []string
	split, find := strings.Fields(label), yearWords.fieldsOf
	if !isASCII(label) && strings.ContainsFunc(label, isUnspaced) {
		split, find = []string{strings.ReplaceAll(label, " ", "")}, yearWords.partsOf
	}
	for _, word := range split {
		own := find(word)
		if own == nil {
			return ""
		}
		for _, field := range own {
			if field != fillerWord && !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	if len(fields) > 2 {
		return ""
	}
	return strings.Join(fields, twoYears)
}

// addTwoYears claims a value under a label that names two years: two years in the
// label's order. A single year is the weaker of the two, because it may be either.
func (c *List) addTwoYears(field, value string) {
	first, second, _ := strings.Cut(field, twoYears)
	years := yearsIn(Plain(value))
	switch len(years) {
	case 1:
		weaker := first
		if first == FieldManufacture || second == FieldModelYear {
			weaker = second
		}
		c.Add(weaker, strconv.Itoa(years[0]))
	case 2:
		c.Add(first, strconv.Itoa(years[0]))
		c.Add(second, strconv.Itoa(years[1]))
	default:
		c.Reject(first, value, "not_two_years")
	}
}
