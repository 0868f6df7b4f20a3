package frame

import (
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"ushuru/pkg/message"
)

// Language returns the language of a visitor: that of the link, of the cookie, of the
// browser, else English. That of a link is remembered.
func (f *Frame) Language(w http.ResponseWriter, r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); isLanguage(lang) {
		f.setCookie(w, r, "lang", lang)
		return lang
	}
	if cookie, err := r.Cookie("lang"); err == nil && isLanguage(cookie.Value) {
		return cookie.Value
	}
	return accepted(r.Header.Get("Accept-Language"))
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Swahili})

// accepted returns the language that Accept-Language prefers.
func accepted(header string) string {
	// Also one by one: an element that cannot be read does not hide the others.
	_, index := language.MatchStrings(matcher, append([]string{header}, strings.Split(header, ",")...)...)
	return Languages[index]
}

func isLanguage(lang string) bool { return lang == message.English || lang == message.Swahili }

func other(lang string) string {
	if lang == message.Swahili {
		return message.English
	}
	return message.Swahili
}

// switchURL returns the address of the same page in another language, and the fields of the form
// that it answers: they are sent again. A file is not, and leads to its form; nor is a key.
func switchURL(r *http.Request, lang string) (address string, posted url.Values) {
	path, query := r.URL.Path, r.URL.Query()
	if r.Method == http.MethodPost {
		query = url.Values{}
		if !r.PostForm.Has("key") {
			posted = r.PostForm
		}
	}
	query.Set("lang", lang)
	return path + "?" + query.Encode(), posted
}
