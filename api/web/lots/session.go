package lots

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/securecookie"

	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/redisx"
)

const (
	// cookieSession holds the API key of a caller who has logged in, encrypted: neither
	// the browser's scripts nor this server's database can read it.
	cookieSession = "k"
	sessionTTL    = 12 * time.Hour
	keySecret     = "page:secret"
)

var errNoSession = errors.New("lots: no session")

// sealer returns what encrypts and checks the cookies of sessions, by a secret that all
// processes share, and the secret.
func (l *Lots) sealer(ctx context.Context) (*securecookie.SecureCookie, []byte, error) {
	secret, err := redisx.Secret(ctx, l.options.Redis, keySecret)
	if err != nil {
		return nil, nil, request.ErrUnavailable.WithCause(err)
	}
	return sealerWith(secret), secret, nil
}

func sealerWith(secret []byte) *securecookie.SecureCookie {
	block := sha256.Sum256(append([]byte("session\n"), secret...))
	return securecookie.New(secret, block[:]).MaxAge(int(sessionTTL.Seconds()))
}

// session is who has logged in, by an API key or as the operator, and calls the API.
type session struct {
	frame.Client

	isOperator bool   // who has no key
	id         string // names who it is where the key must not stand
}

// withKey returns the session of an API key, which is never shown.
func (l *Lots) withKey(key string) session {
	return session{Client: frame.Client{API: l.options.Keyed, Header: http.Header{"X-Api-Key": {key}}}}
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
	cookie, err := r.Cookie(cookieSession)
	if err != nil {
		return session{}, errNoSession
	}
	sealer, secret, err := l.sealer(r.Context())
	if err != nil {
		return session{}, err
	}
	var key string
	if err := sealer.Decode(cookieSession, cookie.Value, &key); err != nil {
		return session{}, errNoSession
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte("key\n" + key))
	s := l.withKey(key)
	s.id = hex.EncodeToString(mac.Sum(nil)[:16])
	return s, nil
}

// setSession gives a browser the cookie of a session, or takes it away without a key.
func (l *Lots) setSession(w http.ResponseWriter, r *http.Request, key string) error {
	cookie := &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
		Name: cookieSession, Path: Path, MaxAge: -1,
		HttpOnly: true, Secure: l.frame.IsSecure(r), SameSite: http.SameSiteLaxMode,
	}
	if key != "" {
		sealer, _, err := l.sealer(r.Context())
		if err != nil {
			return err
		}
		if cookie.Value, err = sealer.Encode(cookieSession, key); err != nil {
			return fmt.Errorf("lots: session: %w", err)
		}
		cookie.MaxAge = int(sessionTTL / time.Second)
	}
	http.SetCookie(w, cookie)
	return nil
}
