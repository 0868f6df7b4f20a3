package lots

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// cookieSession holds the API key of a caller who has logged in.
const cookieSession = "k"

var errNoSession = errors.New("lots: no session")

// session is who has logged in, by an API key or as the operator, and calls the API.
type session struct {
	frame.Client

	isOperator bool   // who has no key
	id         string // names who it is where the key must not stand
}

// member returns a page for who has logged in.
func (l *Lots) member(next func(w http.ResponseWriter, r *http.Request, s session) error) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		s, err := l.sessionOf(r)
		if err == nil {
			err = next(w, r, s)
		}
		return l.withoutSession(w, r, err)
	}
}

// withoutSession responds to a request whose session has ended, or whose key is revoked,
// with the form for the key. Other errors are returned.
func (l *Lots) withoutSession(w http.ResponseWriter, r *http.Request, err error) error {
	form := loginForm{Next: nextOf(r.URL.Path)}
	var why *problem.Problem
	switch {
	case errors.Is(err, errNoSession):
		if r.Method == http.MethodPost || hasCookie(r, cookieSession) || hasCookie(r, l.options.Operator.Cookie) {
			form.Problem = message.Say("page/lots.session_over", nil)
		}
		return l.logIn(w, r, http.StatusOK, form)
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		if err := l.setSession(w, r, ""); err != nil {
			return err
		}
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return l.logIn(w, r, http.StatusOK, form)
	}
	return err
}

func hasCookie(r *http.Request, name string) bool {
	_, err := r.Cookie(name)
	return err == nil
}

var lotPattern = regexp.MustCompile(`^` + Path + `/[0-9A-Za-z]{1,64}$`)

// nextOf returns the page of batches to which a login leads.
func nextOf(path string) string {
	if lotPattern.MatchString(path) {
		return path
	}
	return Path
}

// loginForm is the page where an API key is typed.
type loginForm struct {
	Next    string // where it leads
	Console bool   // the operator can log in there
	Problem message.Text
}

// logIn responds with the form for the API key.
func (l *Lots) logIn(w http.ResponseWriter, r *http.Request, status int, form loginForm) error {
	form.Console = l.options.Operator.IsLoggedIn != nil
	return l.frame.Render(w, r, status, frame.Screen{Name: "login", Body: form})
}

// keyPattern is what an API key may be.
var keyPattern = regexp.MustCompile(`^[!-~]{1,200}$`)

// login begins a session with the key that was typed.
func (l *Lots) login(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	form := loginForm{Next: nextOf(r.PostForm.Get("next"))}
	if err := l.countLogin(r); err != nil {
		return err
	}
	key := strings.TrimSpace(r.PostForm.Get("key"))
	err := error(problem.New(http.StatusUnauthorized, "unauthorized", nil))
	if keyPattern.MatchString(key) {
		_, err = l.withKey(key).Do(r.Context(), http.MethodGet, "/v1/batches?limit=1", nil, nil)
	}
	var why *problem.Problem
	switch {
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return l.logIn(w, r, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	if err := l.setSession(w, r, key); err != nil {
		return err
	}
	http.Redirect(w, r, form.Next, http.StatusSeeOther)
	return nil
}

// countLogin counts a key that was typed, unless the network has tried too many.
func (l *Lots) countLogin(r *http.Request) error {
	allowed, err := l.logins.Take(r.Context(), pace.Limit{
		Key: "rate:page:login:" + request.From(r).Network, Rate: maxLogins / time.Hour.Seconds(), Burst: maxLogins,
	})
	switch {
	case err != nil:
		return request.ErrUnavailable.WithCause(err)
	case !allowed.Allowed:
		return errBusy.After(allowed.RetryAfter)
	}
	return nil
}

// logout ends a session.
func (l *Lots) logout(w http.ResponseWriter, r *http.Request) error {
	if err := l.setSession(w, r, ""); err != nil {
		return err
	}
	http.Redirect(w, r, Path, http.StatusSeeOther)
	return nil
}

// sessionOf returns who has logged in; errNoSession without a login. An API key that was
// typed here comes before the operator's login at the console.
func (l *Lots) sessionOf(r *http.Request) (session, error) {
	s, err := l.keySession(r)
	operator := l.options.Operator
	if !errors.Is(err, errNoSession) || operator.IsLoggedIn == nil {
		return s, err
	}
	isOperator, err := operator.IsLoggedIn(r)
	if err == nil && !isOperator {
		err = errNoSession
	}
	return session{Client: frame.Client{API: operator.API}, isOperator: true, id: "operator"}, err
}

// keySession returns who has logged in by an API key; errNoSession without one.
func (l *Lots) keySession(r *http.Request) (session, error) {
	key, err := l.session.Open(r)
	if err == nil && key == "" {
		err = errNoSession
	}
	s := l.withKey(key)
	s.id = request.Hash("session\n" + key)
	return s, err
}

// withKey returns the session of an API key, which is never shown.
func (l *Lots) withKey(key string) session {
	return session{Client: frame.Client{API: l.options.Keyed, Header: http.Header{"X-Api-Key": {key}}}}
}

// setSession gives a browser the cookie of a session, or takes it away without a key.
func (l *Lots) setSession(w http.ResponseWriter, r *http.Request, key string) error {
	cookie := &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
		Name: cookieSession, Path: Path, MaxAge: -1,
		HttpOnly: true, Secure: l.frame.IsSecure(r), SameSite: http.SameSiteLaxMode,
	}
	if key != "" {
		var err error
		if cookie.Value, err = l.session.Seal(r.Context(), key); err != nil {
			return err
		}
		cookie.MaxAge = int(frame.SessionTTL.Seconds())
	}
	http.SetCookie(w, cookie)
	return nil
}
