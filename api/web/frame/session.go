package frame

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/securecookie"
	"github.com/redis/go-redis/v9"

	"ushuru/api/request"
	"ushuru/pkg/redisx"
)

// SessionTTL is how long a login lasts.
const SessionTTL = 12 * time.Hour

// Session is the cookie of a login. Its text can be read and written by this service alone: neither
// the browser's scripts nor the database know it.
type Session struct {
	Redis  redis.UniversalClient
	Secret string // key in Redis of a secret that all processes share
	Cookie string // name
	With   string // a change of it ends all sessions
}

// codec returns what seals and opens the cookie.
func (s Session) codec(ctx context.Context) (*securecookie.SecureCookie, error) {
	secret, err := redisx.Secret(ctx, s.Redis, s.Secret)
	if err != nil {
		return nil, request.ErrUnavailable.WithCause(err)
	}
	return s.codecOf(secret), nil
}

func (s Session) codecOf(secret []byte) *securecookie.SecureCookie {
	mac := hmac.New(sha512.New, secret)
	_, _ = fmt.Fprintf(mac, "%q %q", s.Cookie, s.With)
	keys := mac.Sum(nil)
	return securecookie.New(keys[:32], keys[32:]).MaxAge(int(SessionTTL.Seconds()))
}

// Seal returns the value of the cookie for a text.
func (s Session) Seal(ctx context.Context, text string) (string, error) {
	codec, err := s.codec(ctx)
	if err != nil {
		return "", err
	}
	return codec.Encode(s.Cookie, text)
}

// Open returns the text in the cookie of a request; "" without a cookie that is valid.
func (s Session) Open(r *http.Request) (text string, err error) {
	sent, err := r.Cookie(s.Cookie)
	if err != nil {
		return "", nil //nolint:nilerr // there is none
	}
	codec, err := s.codec(r.Context())
	if err != nil || codec.Decode(s.Cookie, sent.Value, &text) != nil {
		return "", err
	}
	return text, nil
}
