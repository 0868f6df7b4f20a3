// Package message makes every sentence that people read, in English and in
// Swahili, from a code with values. The sentences are in one table, texts.csv. The
// words of an inspection sheet are the one exception: package sheet has its own
// tables of them. Names and citations that an operator can replace are in the tables
// of package cost.
package message

import (
	"maps"
	"slices"
	"strings"
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

// both returns the text of a notice. One of an earlier version has only a message.
func (n Notice) both() Text {
	if n.Text == nil {
		return Text{EN: n.Message, SW: n.Message}
	}
	return *n.Text
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
