package claim

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ushuru/pkg/datatable"
)

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
