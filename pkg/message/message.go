// Package message makes every sentence that people read, in English and in
// Swahili, from a code with values. The sentences are in one table, texts.csv. The
// words of an inspection sheet are the one exception: package sheet has its own
// tables of them. Names and citations that an operator can replace are in the tables
// of package cost.
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

// The languages. English is the default.
const (
	English = "en"
	Swahili = "sw"
)

// The levels of a warning.
const (
	Info    = "info"
	Caution = "caution"
	Danger  = "danger"
)

// Text is a text in the languages of the service.
type Text struct {
	EN string `json:"en"`
	SW string `json:"sw"` // the API answers with the languages that its caller reads
	// Draft says that the Swahili is our own wording, which no native speaker
	// has checked.
	Draft bool `json:"draft,omitempty"`
}

// In returns the text in a language.
func (t Text) In(lang string) string {
	if lang == Swahili && t.SW != "" || t.EN == "" {
		return t.SW
	}
	return t.EN
}

// Join returns two texts, one after the other.
func (t Text) Join(separator string, u Text) Text {
	if t == (Text{}) {
		return u
	}
	return Text{EN: t.EN + separator + u.EN, SW: t.SW + separator + u.SW, Draft: t.Draft || u.Draft}
}

// Sentence is a text that is said where there is no notice, with its code.
type Sentence struct {
	Text
	Code   string `json:"code"`
	Values Values `json:"values,omitempty"` // the exact values in the text, by name
}

// And returns the sentence with another text after its own.
func (s Sentence) And(more Text) Sentence {
	s.Text = s.Join(" ", more)
	return s
}

// Values are the values of a text by the names of its placeholders: figures as
// plain decimals, days as 2006-01-02, words by their keys in the table.
type Values map[string]string

// Notice is something that people are to read: a warning, or why there is no
// answer.
type Notice struct {
	Code    string `json:"code"`
	Message string `json:"message"` // the text in the language of the answer
	// Additive.
	Level  string `json:"level,omitempty"` // of a warning: info, caution or danger
	Text   *Text  `json:"text,omitempty"`
	Values Values `json:"values,omitempty"` // the exact values in the text, by name
	Detail *Text  `json:"detail,omitempty"` // what there is to say beyond the text
}

// In returns the message in a language.
func (n Notice) In(lang string) string { return n.both().In(lang) }

// both returns the text of a notice. One of an earlier version has only a message.
func (n Notice) both() Text {
	if n.Text == nil {
		return Text{EN: n.Message, SW: n.Message}
	}
	return *n.Text
}

// And returns the notice with another sentence after its text.
func (n Notice) And(key string, values Values) Notice { return n.Then(" ", New(key, values)) }

// Then returns the notice with the text of another one after its own.
func (n Notice) Then(separator string, m Notice) Notice {
	text := n.both().Join(separator, m.both())
	n.Text, n.Message = &text, text.EN
	if len(m.Values) > 0 {
		values := maps.Clone(m.Values)
		maps.Copy(values, n.Values)
		n.Values = values
	}
	return n
}

// Within returns the notice with its text in a text of the table, at the placeholder
// {said}.
func (n Notice) Within(key string, values Values) Notice {
	text := SayWith(key, values, map[string]Text{"said": n.both()})
	n.Text, n.Message = &text, text.EN
	return n
}

// More returns the notice with another sentence in its detail.
func (n Notice) More(key string, values Values) Notice {
	more := Say(key, values)
	if n.Detail != nil {
		more = n.Detail.Join(" ", more)
	}
	n.Detail = &more
	return n
}

// Part is one of several texts that make one.
type Part struct {
	Code   string `json:"code"`
	Values Values `json:"values,omitempty"`
}

// Parts are texts that make one, in their order.
type Parts struct {
	Separator string
	list      []Part
	text      Text
}

// Add adds a text.
func (p *Parts) Add(key string, values Values) {
	p.text = p.text.Join(p.Separator, Say(key, values))
	p.list = append(p.list, Part{CodeOf(key), values})
}

// AddOwn adds a text that is not of the table: an operator's own words.
func (p *Parts) AddOwn(code string, text Text) {
	p.text = p.text.Join(p.Separator, text)
	p.list = append(p.list, Part{code, nil})
}

// Text returns all texts as one.
func (p *Parts) Text() Text { return p.text }

// List returns the codes and values of the texts.
func (p *Parts) List() []Part { return p.list }

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

// CodeOf returns the code in a key: what stands between the family and the
// variant.
func CodeOf(key string) string {
	if _, code, found := strings.Cut(key, "/"); found {
		key = code
	}
	code, _, _ := strings.Cut(key, ".")
	return code
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

// Keys returns the keys of a family, in order.
func Keys(family string) (keys []string) {
	for key := range table {
		if strings.HasPrefix(key, family+"/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// ValueNames returns the names of the values of a key, in order; false when the
// table has no such key.
func ValueNames(key string) (names []string, known bool) {
	r, known := table[key]
	for _, p := range placeholder.FindAllStringSubmatch(r.en, -1) {
		names = append(names, p[1])
	}
	slices.Sort(names)
	return slices.Compact(names), known
}

// maxRaised is how many warnings of an answer may be above the level info.
const maxRaised = 4

var rank = map[string]int{Danger: 0, Caution: 1, Info: 2, "": 2}

// Limit returns the warnings of an answer, those that matter most first, each code
// once. After the first four above info the level of the others is info. To limit a
// list again changes nothing.
func Limit(warnings []Notice) []Notice {
	var kept []Notice
	for _, w := range warnings {
		if slices.ContainsFunc(kept, func(k Notice) bool { return k.Code == w.Code }) {
			continue
		}
		if r, known := table["warning/"+w.Code]; known {
			w.Level = r.level // an earlier limit may have lowered it
		}
		kept = append(kept, w)
	}
	slices.SortStableFunc(kept, func(v, w Notice) int { return rank[v.Level] - rank[w.Level] })
	for i := maxRaised; i < len(kept); i++ {
		kept[i].Level = Info
	}
	return kept
}

// definite are the codes of errors with which a job can end that the same request meets again:
// the listing is gone, or the authority does not list the car. The caller must send another
// request.
var definite = []string{
	// Of a page or a sheet:
	"fetch_too_large", "listing_gone", "listing_sold", "not_a_listing", "page_unreadable", "robots_forbidden",
	"several_cars", "sheet_not_found",
	// Of the car: the authority does not list it, several of its entries fit, or what the
	// caller or the listing says of it contradicts itself.
	"ambiguous_match", "fuel_conflict", "listing_incomplete", "no_capacity_band", "no_match", "not_listed", "year_not_listed",
}

// IsDefinite reports whether the same request meets an error with this code again.
func IsDefinite(code string) bool { return slices.Contains(definite, code) }

// DefiniteCodes returns the codes of all such errors.
func DefiniteCodes() []string { return slices.Clone(definite) }
