package claim

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// yearWordTable lists the words of English labels for a year: the field that a word
// means, or filler for words that say nothing of it.
//
//go:embed yearwords.csv
var yearWordTable string

var yearWords = func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(yearWordTable) {
		field, word, ok := strings.Cut(strings.TrimSpace(line), ",")
		if ok && !strings.HasPrefix(line, "#") {
			table[word] = field
		}
	}
	return table
}()

// fillerWord marks a word that does not tell which year a label means.
const fillerWord = "filler"

// twoYears joins the fields of a label that names two years: "Year (Reg/Mfg)".
const twoYears = "+"

// yearField returns the field of a normalized label all of whose words are about a
// year, "" for any other label. A label that names two years has both fields,
// joined in its own order.
func yearField(label string) string {
	var fields []string
	for word := range strings.FieldsSeq(label) {
		switch field := yearWords[word]; {
		case field == "":
			return ""
		case field != fillerWord && !slices.Contains(fields, field):
			fields = append(fields, field)
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
		c.Reject(first, value, "not two years")
	}
}
