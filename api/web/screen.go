package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/api/web/asset"
	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

//go:embed templates
var templateFiles embed.FS

// screen is what a template shows.
type screen struct {
	Name  string // of the template
	Title string // "" is that of the start page
	Index bool   // search engines may list it
	Body  any

	// Preview is what a messenger shows of a link to the page; nil for none.
	Preview *preview
	// Again is after how many seconds a browser without JavaScript loads the page again;
	// 0 for never.
	Again int

	// Set by render.
	Lang, Other, Switch string
	Simulated           bool
}

// preview is what a messenger shows of a link.
type preview struct{ Title, Description, URL string }

// screens are the templates by language and name.
type screens map[string]map[string]*template.Template

// languages of the pages. The first is the default.
var languages = []string{message.English, message.Swahili}

// readScreens reads the embedded templates. Each language has its own, because the
// functions of a template say its texts.
func readScreens(a *asset.Files) (screens, error) {
	entries, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	read := screens{}
	for _, lang := range languages {
		read[lang] = map[string]*template.Template{}
		common, err := template.New("layout.html").Funcs(functions(lang, a)).
			ParseFS(templateFiles, "templates/layout.html", "templates/parts.html")
		if err != nil {
			return nil, fmt.Errorf("web: templates: %w", err)
		}
		for _, entry := range entries {
			name, _ := strings.CutSuffix(entry.Name(), ".html")
			if name == "layout" || name == "parts" {
				continue
			}
			own, err := common.Clone()
			if err == nil {
				own, err = own.ParseFS(templateFiles, "templates/"+entry.Name())
			}
			if err != nil {
				return nil, fmt.Errorf("web: template %s: %w", name, err)
			}
			read[lang][name] = own
		}
	}
	return read, nil
}

// functions are what templates can call.
func functions(lang string, a *asset.Files) template.FuncMap {
	return template.FuncMap{
		"asset":  a.Address,
		"say":    func(key string, values ...any) (string, error) { return say(lang, key, values...) },
		"in":     func(text interface{ In(lang string) string }) string { return text.In(lang) },
		"differ": func(a, b money.Amount) bool { return !a.Decimal().Equal(b.Decimal()) },
		// whole shillings, with commas for thousands
		"grouped": func(amount money.Amount) string { return grouped(amount.Decimal().Round(0).IntPart()) },
		"quoted":  quoted,
		"number":  func(index int) int { return index + 1 },
		"dollars": inDollars,
		"when":    func(at time.Time) string { return at.In(duty.EAT).Format("2006-01-02 15:04") },
		"whole":   grouped,
		"word":    func(value string) string { return message.Word(value).In(lang) },
		"tzs":     func(amount any) (string, error) { return say(lang, "amount.tzs", "amount", amount) },
		"usd":     func(amount any) (string, error) { return say(lang, "amount.usd", "amount", amount) },
	}
}

// say returns a text of the pages in a language. The values follow as names and values.
func say(lang, key string, values ...any) (string, error) {
	if len(values)%2 != 0 {
		return "", errors.New("web: a value without a name")
	}
	named := message.Values{}
	for pair := range slices.Chunk(values, 2) {
		named[fmt.Sprint(pair[0])] = fmt.Sprint(pair[len(pair)-1])
	}
	names, known := message.ValueNames("page/" + key)
	if !known {
		return "", fmt.Errorf("web: no text %q", key)
	}
	for _, name := range names {
		if _, given := named[name]; !given {
			return "", fmt.Errorf("web: the text %q lacks %q", key, name)
		}
	}
	return message.Say("page/"+key, named).In(lang), nil
}

// textOf returns what a notice says, for a template.
func textOf(n message.Notice) message.Text {
	if n.Text != nil {
		return *n.Text
	}
	return message.Text{EN: n.Message, SW: n.Message}
}

// render responds with a screen in the language of the visitor.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, s screen) error {
	s.Lang = p.language(w, r)
	s.Other, s.Simulated = other(s.Lang), p.options.Simulated
	s.Switch = switchURL(r, s.Other)
	shown, ok := p.screens[s.Lang][s.Name]
	if !ok {
		return fmt.Errorf("web: no template %q", s.Name)
	}
	var body bytes.Buffer
	if err := shown.ExecuteTemplate(&body, "layout.html", s); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	if s.Index {
		w.Header().Del("X-Robots-Tag")
	}
	asset.Send(w, r, status, "text/html; charset=utf-8", body.Bytes(), nil)
	return nil
}

// language returns the language of a visitor: that of the link, of the cookie, of the
// browser, else English. That of a link is remembered.
func (p *Pages) language(w http.ResponseWriter, r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); isLanguage(lang) {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
			Name: "lang", Value: lang, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true,
			Secure: p.isSecure(r), SameSite: http.SameSiteLaxMode,
		})
		return lang
	}
	if cookie, err := r.Cookie("lang"); err == nil && isLanguage(cookie.Value) {
		return cookie.Value
	}
	return accepted(r.Header.Get("Accept-Language"))
}

// accepted returns the language that Accept-Language prefers.
func accepted(header string) string {
	best, weight := languages[0], 0.0
	for item := range strings.SplitSeq(header, ",") {
		tag, quality, found := strings.Cut(strings.TrimSpace(item), ";q=")
		lang, _, _ := strings.Cut(strings.ToLower(tag), "-")
		q := 1.0
		if found {
			q, _ = strconv.ParseFloat(quality, 64) // 0 then
		}
		if isLanguage(lang) && q > weight {
			best, weight = lang, q
		}
	}
	return best
}

func isLanguage(lang string) bool { return lang == message.English || lang == message.Swahili }

func other(lang string) string {
	if lang == message.Swahili {
		return message.English
	}
	return message.Swahili
}

// switchURL returns the address of the same page in another language. A page that
// answers a form has none of its own: it leads to the form.
func switchURL(r *http.Request, lang string) string {
	path, query := r.URL.Path, r.URL.Query()
	if r.Method == http.MethodPost {
		path, query = "/", url.Values{}
		if u := r.PostForm.Get("u"); u != "" { // of a form that was read: a refused one is not
			query.Set("u", u)
		}
	}
	query.Set("lang", lang)
	return path + "?" + query.Encode()
}
