package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
)

// CookieName is the name of the cookie of a login.
const CookieName = "op"

// setCookies gives the browser the cookie of a login at each address where it counts.
func (c *Console) setCookies(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	for _, path := range append([]string{Path}, c.options.Also...) {
		http.SetCookie(w, cookie(r, path, value, age))
	}
}

// IsLoggedIn reports whether a request has a login that has not ended.
func (c *Console) IsLoggedIn(r *http.Request) (bool, error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	valid, err := c.isValid(r.WithContext(ctx))
	if err != nil {
		return false, problemOf(err)
	}
	return valid, nil
}

// cookie returns the cookie of a login for an address and those below it. A browser keeps it
// over TLS only, and on this machine.
func cookie(r *http.Request, path, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure unless this machine serves itself without TLS
		Name: CookieName, Value: value, Path: path, MaxAge: int(age.Seconds()), HttpOnly: true,
		Secure: r.TLS != nil || !isLocal(r.Host), SameSite: http.SameSiteStrictMode,
	}
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isValid reports whether a request has a login that has not ended. Only ends before their time are
// stored, so that an operator can log in while Redis is full.
func (c *Console) isValid(r *http.Request) (bool, error) {
	login, err := c.session.Open(r)
	if err != nil || login == "" {
		return false, err
	}
	ended, err := c.options.Redis.Exists(r.Context(), keyEnded(login)).Result()
	return ended == 0 && err == nil, err
}

// keyEnded is the key of a login that was ended.
func keyEnded(login string) string { return "console:ended:" + request.Hash(login) }

// scriptEnd ends a login. ARGV[1]: how long a login lasts, in ms.
var scriptEnd = redis.NewScript(redisx.LuaWhenFull + `
redis.call('HSET', KEYS[1], 'ended', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[1])`)

// end ends the login of a request, for whoever has its cookie.
func (c *Console) end(r *http.Request) error {
	login, err := c.session.Open(r)
	if err != nil || login == "" {
		return err
	}
	err = scriptEnd.Run(r.Context(), c.options.Redis, []string{keyEnded(login)}, frame.SessionTTL.Milliseconds()).Err()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return nil
}

type userKey struct{}

// userOf returns the name of the operator who is logged in; "" without a login.
func userOf(r *http.Request) string {
	user, _ := r.Context().Value(userKey{}).(string)
	return user
}

// private is the middleware of the pages that need a login.
func (c *Console) private(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		valid, err := c.isValid(r)
		switch {
		case err != nil:
			return err
		case valid:
			return next(w, r.WithContext(context.WithValue(r.Context(), userKey{}, c.options.User)))
		case r.Method == http.MethodPost: // what was typed must be sent again
			return problem.Because(http.StatusUnauthorized, message.New("error/login_required", nil), nil)
		}
		if _, err := r.Cookie(CookieName); err == nil { // its login has ended, or never was
			return c.render(w, r, http.StatusUnauthorized, "login", shown{Title: "Log in", Body: loginForm{}})
		}
		to := Path + "/login"
		if r.URL.Query().Get("done") == "login" { // the browser has not kept the cookie
			to += "?lost" + withNext(c.nextOf(r.URL.Query()))
		}
		http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // an address of ours
		return nil
	}
}

// loginForm is what the page of the login shows.
type loginForm struct {
	Name string // as it was typed
	Lost bool   // the browser did not keep the login
	Next string // where it leads, unless that is the overview
}

// nextOf returns the address that a login leads to, as parameters name it; "" for one at
// which a login does not count.
func (c *Console) nextOf(parameters url.Values) string {
	next := parameters.Get("next")
	for _, also := range c.options.Also {
		below, isBelow := strings.CutPrefix(next, also+"/")
		if next == also || isBelow && plainName.MatchString(below) {
			return next
		}
	}
	return ""
}

// withNext returns one more parameter of an address: where a login leads.
func withNext(next string) string {
	if next == "" {
		return ""
	}
	return "&next=" + url.QueryEscape(next)
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z]{1,64}$`)

// showLogin responds with the form of the login.
func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	form := loginForm{Lost: query.Has("lost"), Next: c.nextOf(query)}
	return c.render(w, r, http.StatusOK, "login", shown{Title: "Log in", Body: form})
}

// maxForm bounds a form, in bytes.
const maxForm = 16 << 10

// login checks name and password.
func (c *Console) login(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return problem.New(http.StatusBadRequest, "body_unreadable", nil).WithCause(err)
	}
	name, next := r.PostForm.Get("name"), c.nextOf(r.PostForm)
	if err := c.options.Login(r, name, r.PostForm.Get("password")); err != nil {
		why := problemOf(err)
		if why.Status >= http.StatusInternalServerError {
			return err
		}
		why.SetHeader(w.Header())
		said := why.Message
		if why.Status == http.StatusUnauthorized {
			said = "The name or the password is wrong."
		} else if wait := w.Header().Get("Retry-After"); wait != "" {
			said = "Too many wrong passwords. Try again in " + wait + " s."
		}
		return c.render(w, r, why.Status, "login", shown{Title: "Log in", Problem: said, Body: loginForm{Name: name, Next: next}})
	}
	made, err := c.session.Seal(r.Context(), rand.Text())
	if err != nil {
		return err
	}
	c.setCookies(w, r, made, frame.SessionTTL)
	// From the overview, because that says when the browser has not kept the login.
	http.Redirect(w, r, Path+"?done=login"+withNext(next), http.StatusSeeOther) //nolint:gosec // an address of ours
	return nil
}

// logout ends the login of this browser, also for whoever has copied its cookie.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) error {
	if err := c.end(r); err != nil {
		return err
	}
	c.setCookies(w, r, "", -time.Second)
	http.Redirect(w, r, Path+"/login", http.StatusSeeOther)
	return nil
}
