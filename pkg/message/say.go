package message

import (
	_ "embed" // for texts.csv
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/money"
)

// New returns the notice of a key of the table, with its detail if it has one. A
// key is family/code or family/code.variant; the code of the notice is the part
// that callers know.
func New(key string, values Values) Notice {
	text := Say(key, values)
	n := Notice{Code: CodeOf(key), Message: text.EN, Level: table[key].level, Text: &text, Values: values}
	if _, has := table[key+detail]; has {
		text := Say(key+detail, values)
		n.Detail = &text
	}
	return n
}

// CodeOf returns the code in a key: what stands between the family and the
// variant.
func CodeOf(key string) string {
	if _, code, found := strings.Cut(key, "/"); found {
		key = code
	}
	code, _, _ := strings.Cut(key, ".")
	return code
}

// Say returns the text of a key of the table with its values.
func Say(key string, values Values) Text {
	row := table[key]
	return Text{EN: fill(row.en, row.inEN, English, values), SW: fill(row.sw, row.inSW, Swahili, values), Draft: row.draft}
}

// SayCoded is Say with the code and the values beside the text.
func SayCoded(key string, values Values) Sentence {
	return Sentence{Say(key, values), CodeOf(key), values}
}

// SayWith is Say with values that are texts themselves.
func SayWith(key string, values Values, texts map[string]Text) Text {
	en, sw := maps.Clone(values), maps.Clone(values)
	if en == nil {
		en, sw = Values{}, Values{}
	}
	for name, text := range texts {
		en[name], sw[name] = text.EN, text.SW
	}
	return Text{EN: Say(key, en).EN, SW: Say(key, sw).SW, Draft: table[key].draft}
}

// Word returns the word of the table for a value: a field, a fuel, a country.
func Word(value string) Text { return Text{EN: word(value, English), SW: word(value, Swahili)} }

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

// forms are the forms in which people read a value.
var forms = []string{"", "tzs", "usd", "date", "month", "word", "words", "quote"}

// inForm returns a value in a form.
func inForm(form, value, lang string) string {
	switch form {
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
	case "tzs":
		return money.SayShillings(value, lang == Swahili)
	case "usd":
		return money.SayDollars(value)
	}
	return value
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

// textTable has a text on each line: key, level of a warning, English, Swahili, and
// whether the Swahili is a draft. A name in braces stands for a value, with the
// form in which people read it: {total:tzs}.
//
//go:embed texts.csv
var textTable string

// detail ends the key of the detail of another text.
const detail = ":detail"

type row struct {
	level, en, sw string
	draft         bool
	inEN, inSW    [][]int // where the placeholders begin and end
}

var table = func() map[string]row {
	rows, err := parse(textTable)
	if err != nil {
		panic(err) // embedded: only a broken build gets here
	}
	return rows
}()

var placeholder = regexp.MustCompile(`\{([a-zA-Z0-9]+)(?::([a-z]+))?\}`)

// parse reads a table. A key without both texts, or with texts of different values,
// is an error.
func parse(data string) (map[string]row, error) {
	lines, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("message: texts: %w", err)
	}
	rows := make(map[string]row, len(lines))
	var problems []error
	for i, line := range lines[1:] {
		key, r := line[0], row{
			line[1], line[2], line[3], line[4] == "draft",
			placeholder.FindAllStringIndex(line[2], -1), placeholder.FindAllStringIndex(line[3], -1),
		}
		if err := r.check(); err != nil {
			problems = append(problems, fmt.Errorf("message: %q: %w", key, err))
		}
		if i > 0 && key <= lines[i][0] {
			problems = append(problems, fmt.Errorf("message: %q is not in order of the keys", key))
		}
		rows[key] = r
	}
	return rows, errors.Join(problems...)
}

func (r row) check() error {
	switch {
	case r.en == "" || r.sw == "":
		return errors.New("both languages need a text")
	case !slices.Equal(placeholders(r.en), placeholders(r.sw)):
		return errors.New("the texts have different values")
	case !slices.Contains([]string{"", Info, Caution, Danger}, r.level):
		return fmt.Errorf("unknown level %q", r.level)
	}
	for _, p := range placeholder.FindAllStringSubmatch(r.en, -1) {
		if !slices.Contains(forms, p[2]) {
			return fmt.Errorf("unknown form %q", p[2])
		}
	}
	return nil
}

// placeholders returns the different placeholders of a text, in order of their names.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}
