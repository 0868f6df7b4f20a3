package message

import (
	"bytes"
	"slices"

	"ushuru/pkg/jsonobject"
)

// All asks for the texts of an answer in every language.
const All = "all"

// View is how a caller reads the texts of an answer.
type View struct {
	Lang string // of the sentences; "" is English
	Both bool   // texts are in both languages
}

// ViewIn returns the view of a parameter lang: en, sw or all. Any other is English.
func ViewIn(lang string) View {
	switch lang {
	case Swahili:
		return View{Lang: Swahili}
	case All:
		return View{Lang: English, Both: true}
	}
	return View{Lang: English}
}

// Asked returns the parameter lang of the view, "" for the usual one.
func (v View) Asked() string {
	switch {
	case v.Both:
		return All
	case v.Lang == Swahili:
		return Swahili
	}
	return ""
}

// Of returns the JSON of an answer with its texts as the caller reads them: a text {"en", "sw"}
// has only the languages of the view, and a string beside a text that says the same is in the
// language of the view. Such a text is left out, so that every sentence is there once; those of
// warnings stay, and so do all in both languages. At the end of the answer "draft" says that
// it has Swahili that no native speaker has checked. All else keeps its bytes and its order.
func (v View) Of(answer []byte) []byte {
	answer, draft := v.Part(answer)
	if last := len(answer) - 1; draft && last > 0 && answer[last] == '}' {
		return append(answer[:last], `,"draft":true}`...)
	}
	return answer
}

// Part is Of for a part of an answer: the caller writes the draft.
func (v View) Part(part []byte) (written []byte, draft bool) {
	w := viewWriter{View: v, out: make([]byte, 0, len(part))}
	w.value(bytes.TrimSpace(part), false)
	return w.out, w.draft
}

// ownValues are the members whose names and values are not ours.
var ownValues = []string{"columns", "metadata", "values"}

// repeating are the texts that a string beside them may repeat.
var repeating = []string{"text", "basisText", "sourceText"}

type viewWriter struct {
	View

	out   []byte
	draft bool
}

// jsonMember is a member of an object, with the texts in it that strings beside it may repeat.
type jsonMember struct {
	name  string
	value []byte
	texts []jsonText
}

// value writes a value. Inside warnings a string repeats its text.
func (w *viewWriter) value(value []byte, inWarnings bool) {
	switch {
	case len(value) == 0:
	case value[0] == '{':
		w.object(value, inWarnings)
	case value[0] == '[':
		w.list(value, func(element []byte) { w.value(element, inWarnings) })
	default:
		w.out = append(w.out, value...)
	}
}

func (w *viewWriter) list(value []byte, write func(element []byte)) {
	w.out = append(w.out, '[')
	first := len(w.out)
	for element := range jsonobject.Elements(value) {
		if len(w.out) > first {
			w.out = append(w.out, ',')
		}
		write(element)
	}
	w.out = append(w.out, ']')
}

func (w *viewWriter) object(value []byte, inWarnings bool) {
	if text, ok := parseText(value); ok {
		w.text(text)
		return
	}
	var members []jsonMember
	var texts []jsonText
	for name, value := range jsonobject.Members(value) {
		m := jsonMember{string(name), value, textsIn(string(name), value)}
		members, texts = append(members, m), append(texts, m.texts...)
	}
	w.out = append(w.out, '{')
	first := len(w.out)
	for _, m := range members {
		if m.name == "draft" && string(m.value) == "true" { // of a part that was written before
			w.draft = true
			continue
		}
		if !w.Both && !inWarnings && m.saysAgain(members) {
			continue
		}
		if len(w.out) > first {
			w.out = append(w.out, ',')
		}
		w.member(m, texts, inWarnings)
	}
	w.out = append(w.out, '}')
}

// member writes a member of an object with texts.
func (w *viewWriter) member(m jsonMember, texts []jsonText, inWarnings bool) {
	w.out = append(append(append(w.out, '"'), m.name...), '"', ':')
	switch {
	case slices.Contains(ownValues, m.name):
		w.out = append(w.out, m.value...)
	case m.value[0] == '"':
		w.string(m.value, texts)
	case m.name == "notes" && m.value[0] == '[':
		w.list(m.value, func(element []byte) { w.string(element, texts) })
	default:
		w.value(m.value, inWarnings || m.name == "warnings")
	}
}

// saysAgain reports whether a member is a text that a string beside it says, and no more.
func (m jsonMember) saysAgain(members []jsonMember) bool {
	return len(m.texts) == 1 && m.texts[0].more == nil &&
		slices.ContainsFunc(members, func(other jsonMember) bool { return bytes.Equal(other.value, m.texts[0].en) })
}

// string writes a string, in the language of the view when it is the English of a text.
func (w *viewWriter) string(value []byte, texts []jsonText) {
	at := slices.IndexFunc(texts, func(text jsonText) bool { return bytes.Equal(text.en, value) })
	if w.Lang == Swahili && at >= 0 && len(texts[at].sw) > len(`""`) {
		w.draft = w.draft || texts[at].draft
		value = texts[at].sw
	}
	w.out = append(w.out, value...)
}

// jsonText is a text as it is written: its languages, whether the Swahili is a draft, and the
// members beside them, each after a comma.
type jsonText struct {
	en, sw []byte
	draft  bool
	more   []byte
}

// textsIn returns the texts in a member that strings beside it may repeat.
func textsIn(name string, value []byte) (texts []jsonText) {
	if slices.Contains(repeating, name) {
		return appendText(nil, value)
	}
	if name == "noteTexts" {
		for element := range jsonobject.Elements(value) {
			texts = appendText(texts, element)
		}
	}
	return texts
}

// appendText adds the text that a value is, if it is one.
func appendText(texts []jsonText, value []byte) []jsonText {
	if text, ok := parseText(value); ok {
		return append(texts, text)
	}
	return texts
}

// parseText returns the text that an object is.
func parseText(object []byte) (text jsonText, ok bool) {
	if object[0] != '{' {
		return text, false
	}
	for name, value := range jsonobject.Members(object) {
		switch {
		case text.en == nil: // it is the first
			if string(name) != English || value[0] != '"' {
				return text, false
			}
			text.en = value
		case string(name) == Swahili && value[0] == '"':
			text.sw = value
		case string(name) == "draft":
			text.draft = string(value) == "true"
		default:
			text.more = append(append(append(append(text.more, `,"`...), name...), `":`...), value...)
		}
	}
	return text, text.sw != nil
}

// text writes a text in the languages of the view.
func (w *viewWriter) text(text jsonText) {
	w.out = append(w.out, '{')
	if w.Both || w.Lang != Swahili {
		w.out = append(append(w.out, `"en":`...), text.en...)
	}
	if w.Both {
		w.out = append(w.out, ',')
	}
	if w.Both || w.Lang == Swahili {
		w.out = append(append(w.out, `"sw":`...), text.sw...)
		w.draft = w.draft || text.draft
	}
	w.out = append(append(w.out, text.more...), '}')
}
