package respond

import (
	"encoding/json"
	"net/http"

	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
)

// ParseLanguage parses the language of a text. The default is English.
func ParseLanguage(lang string) (string, error) {
	switch lang {
	case "":
		return message.English, nil
	case message.English, message.Swahili:
		return lang, nil
	}
	return "", ErrLangInvalid
}

// LanguageOf returns the language that the sentences of a response are in.
func LanguageOf(w http.ResponseWriter) string {
	if rec := RecorderBehind(w); rec != nil {
		return rec.Lang
	}
	return ""
}

// SetQueryLanguage takes the language of a response from the query.
func (rec *Recorder) SetQueryLanguage(r *http.Request) (err error) {
	rec.Lang, err = ParseLanguage(r.URL.Query().Get("lang"))
	return err
}

// SetBodyLanguage takes the language of a response from the field lang of a body
// that has one.
func (rec *Recorder) SetBodyLanguage(body []byte) error {
	var req struct {
		Lang json.RawMessage `json:"lang"`
	}
	_ = json.Unmarshal(body, &req) // the handler refuses a body that is no JSON
	if jsonobject.IsAbsent(req.Lang) {
		return nil
	}
	var lang string
	if json.Unmarshal(req.Lang, &lang) != nil {
		return ErrLangInvalid
	}
	if lang == "" {
		return nil
	}
	lang, err := ParseLanguage(lang)
	if err == nil {
		rec.Lang = lang
	}
	return err
}

// InLanguage returns JSON with its sentences in a language. JSON that cannot be
// translated stays as it is.
func InLanguage(data []byte, lang string) []byte {
	if lang != message.Swahili {
		return data
	}
	if translated, err := message.Translate(data); err == nil {
		return translated
	}
	return data
}
