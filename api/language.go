package api

import (
	"encoding/json"
	"net/http"

	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
)

// parseLanguage parses the language of a text. The default is English.
func parseLanguage(lang string) (string, error) {
	switch lang {
	case "":
		return message.English, nil
	case message.English, message.Swahili:
		return lang, nil
	}
	return "", errLangInvalid
}

// languageOf returns the language that the sentences of a response are in.
func languageOf(w http.ResponseWriter) string {
	if rec := recorderBehind(w); rec != nil {
		return rec.lang
	}
	return ""
}

// setQueryLanguage takes the language of a response from the query.
func (rec *responseRecorder) setQueryLanguage(r *http.Request) (err error) {
	rec.lang, err = parseLanguage(r.URL.Query().Get("lang"))
	return err
}

// setBodyLanguage takes the language of a response from the field lang of a body
// that has one.
func (rec *responseRecorder) setBodyLanguage(body []byte) error {
	var req struct {
		Lang json.RawMessage `json:"lang"`
	}
	_ = json.Unmarshal(body, &req) // the handler refuses a body that is no JSON
	if jsonobject.IsAbsent(req.Lang) {
		return nil
	}
	var lang string
	if json.Unmarshal(req.Lang, &lang) != nil {
		return errLangInvalid
	}
	if lang == "" {
		return nil
	}
	lang, err := parseLanguage(lang)
	if err == nil {
		rec.lang = lang
	}
	return err
}

// inLanguage returns JSON with its sentences in a language. JSON that cannot be
// translated stays as it is.
func inLanguage(data []byte, lang string) []byte {
	if lang != message.Swahili {
		return data
	}
	if translated, err := message.Translate(data); err == nil {
		return translated
	}
	return data
}
