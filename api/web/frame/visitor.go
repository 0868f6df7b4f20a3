package frame

import (
	"crypto/rand"
	"net/http"

	"ushuru/api/request"
)

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
