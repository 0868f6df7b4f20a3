// Package frame has what all pages for people share: the layout with its styles and scripts,
// the languages, headers and the check of cross-origin requests, the page of an error, the
// client of the API, and the words for cars and amounts.
package frame

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
)

// Options are the parts and settings of a Frame. Failed and LoggedPath are required.
type Options struct {
	// Failed returns the page that says why a request has failed.
	Failed func(why message.Text) Screen
	// LoggedPath returns a path as the log shows it.
	LoggedPath func(path string) string
	// Viewed, if not nil, is told of each screen that was shown.
	Viewed func(screen, lang string)

	BaseURL   string // public, without a path: https://ushuru.example; "" is that of the request
	Simulated bool   // every page says that the figures are simulated
	Log       *slog.Logger
}

// Frame is what the pages of one process have around them.
type Frame struct {
	options Options
	assets  *Files
	screens screens
}

// New reads the embedded layout and assets.
func New(o Options) (*Frame, error) {
	if o.Failed == nil || o.LoggedPath == nil {
		return nil, errors.New("frame: options without Failed or LoggedPath")
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	f := &Frame{options: o, screens: screens{}}
	for _, lang := range Languages {
		f.screens[lang] = map[string]*template.Template{}
	}
	var err error
	f.assets, err = readAssets()
	return f, err
}

// Assets are the files of the pages. Other pages of the service share their style.
func (f *Frame) Assets() *Files { return f.assets }

// Simulated reports whether the figures are simulated.
func (f *Frame) Simulated() bool { return f.options.Simulated }

// Policy lets a page run and load only what this server serves, and nothing inline.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// picturePolicy is the policy of a page with pictures of the seller's site. Sites that are
// simulated have no certificate.
func picturePolicy(simulated bool) string {
	sources := "img-src 'self' https: data:;"
	if simulated {
		sources = "img-src 'self' https: http: data:;"
	}
	return strings.Replace(Policy, "img-src 'self';", sources, 1)
}

// Around is what the pages of a kind have around them. Fail is required.
type Around struct {
	Policy, Cache, Vary string // the headers Content-Security-Policy, Cache-Control and Vary
	Listed              bool   // by search engines
	// Fail responds with the page of an error.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// Page is the middleware of a page: headers, the check of cross-origin requests, and the page
// of an error.
func (a Around) Page(next request.Handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.Fail(w, r, problem.New(http.StatusForbidden, "cross_origin", nil))
	}))
	guarded := sameOrigin.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := next(w, r); err != nil {
			a.Fail(w, r, err)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", a.Policy)
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", a.Cache)
		if a.Vary != "" {
			h.Set("Vary", a.Vary)
		}
		if !a.Listed {
			h.Set("X-Robots-Tag", "noindex")
		}
		guarded.ServeHTTP(w, r)
	})
}

// Page is the middleware of every page for buyers.
func (f *Frame) Page(next request.Handler) http.Handler {
	return Around{
		Policy: Policy, Cache: "private, no-cache", Vary: "Accept, Accept-Encoding, Accept-Language, Cookie", Fail: f.Fail,
	}.Page(func(w http.ResponseWriter, r *http.Request) error {
		f.recognize(w, r)
		return next(w, r)
	})
}

// Render responds with a screen in the language of the visitor.
func (f *Frame) Render(w http.ResponseWriter, r *http.Request, status int, s Screen) error {
	s.Lang = f.Language(w, r)
	s.Other, s.Simulated = other(s.Lang), f.options.Simulated
	s.Switch, s.Posted = switchURL(r, s.Other)
	s.Returned = request.From(r).Visitor != ""
	shown, ok := f.screens[s.Lang][s.Name]
	if !ok {
		return fmt.Errorf("frame: no template %q", s.Name)
	}
	var body bytes.Buffer
	if err := shown.ExecuteTemplate(&body, cmp.Or(s.Part, "layout.html"), s); err != nil {
		return fmt.Errorf("frame: %w", err)
	}
	if s.Index {
		w.Header().Del("X-Robots-Tag")
	}
	if s.SellersPictures {
		w.Header().Set("Content-Security-Policy", picturePolicy(s.Simulated))
	}
	SendPacked(w, r, status, "text/html; charset=utf-8", body.Bytes())
	if f.options.Viewed != nil {
		f.options.Viewed(s.Name, s.Lang)
	}
	return nil
}

// Fail responds with the page of an error. One that is not a problem is a 500 without
// details.
func (f *Frame) Fail(w http.ResponseWriter, r *http.Request, err error) {
	why := f.LogFailure(r, err)
	if r.Context().Err() != nil {
		return // the visitor has left
	}
	why.SetHeader(w.Header())
	if WantsJSON(r) {
		if err := SendJSON(w, why.Status, why.Body()); err == nil {
			return
		}
	}
	if err := f.Render(w, r, why.Status, f.options.Failed(TextOf(why.Notice))); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// LogFailure logs why a page, or a part of one, cannot be shown, and returns what to say of it. The
// fault of a visitor is not logged, nor what fails because the visitor has left.
func (f *Frame) LogFailure(r *http.Request, err error) *problem.Problem {
	why := request.ProblemOf(err)
	level := slog.LevelWarn
	if why.Code == request.ErrInternal.Code {
		level = slog.LevelError
	}
	if why.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
		f.options.Log.Log(r.Context(), level, "a page failed", "path", f.options.LoggedPath(r.URL.Path), "error", err)
	}
	return why
}

// BaseURL returns the public address of this server, for links that leave the browser.
func (f *Frame) BaseURL(r *http.Request) string {
	if f.options.BaseURL != "" {
		return strings.TrimSuffix(f.options.BaseURL, "/")
	}
	base := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		base.Scheme = "https"
	}
	return base.String()
}

// IsSecure reports whether visitors come over TLS, so that cookies need it.
func (f *Frame) IsSecure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(f.options.BaseURL, "https://")
}

// visitorCookie tells apart the visitors of one network, who take turns. All visitors without the
// cookie count as one visitor.
const visitorCookie = "v"

// recognize notes in a request which visitor sends it. A visitor without a cookie gets one, which
// counts from the next request on.
func (f *Frame) recognize(w http.ResponseWriter, r *http.Request) {
	const named = 16 // letters: nobody finds the cookie of another
	if cookie, err := r.Cookie(visitorCookie); err == nil && len(cookie.Value) == len(rand.Text()) {
		request.From(r).Visitor = request.Hash([]byte(cookie.Value))[:named]
		return
	}
	f.setCookie(w, r, visitorCookie, rand.Text())
}

// setCookie sets a cookie for a year.
func (f *Frame) setCookie(w http.ResponseWriter, r *http.Request, name, value string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
		Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true,
		Secure: f.IsSecure(r), SameSite: http.SameSiteLaxMode,
	})
}

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
