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
	"ushuru/pkg/redisx"
)

const (
	// cookieSession holds the API key of a caller who has logged in, encrypted: neither
	// the browser's scripts nor this server's database can read it.
	cookieSession = "k"
	sessionTTL    = 12 * time.Hour
	maxKey        = 200 // bytes of what is typed as a key
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

// session is who has logged in: by an API key, or as the operator.
type session struct {
	key        string // the API key, for requests of the API; it is never shown
	isOperator bool   // who has no key
	id         string // names who it is where the key must not stand
}

// header returns the header of requests of the API.
func (s session) header() http.Header {
	if s.isOperator {
		return http.Header{}
	}
	return http.Header{"X-Api-Key": {s.key}}
}

// sessionOf returns who has logged in; errNoSession without a login. An API key that was
// typed here comes before the operator's login at the console.
func (l *Lots) sessionOf(r *http.Request) (session, error) {
	s, err := l.keySession(r)
	if !errors.Is(err, errNoSession) || l.options.Operator.IsLoggedIn == nil {
		return s, err
	}
	isOperator, err := l.options.Operator.IsLoggedIn(r)
	if err != nil {
		return session{}, err
	}
	if !isOperator {
		return session{}, errNoSession
	}
	return session{isOperator: true, id: "operator"}, nil
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
	return session{key: key, id: hex.EncodeToString(mac.Sum(nil)[:16])}, nil
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
