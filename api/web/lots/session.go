package lots

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// cookieSession holds the API key of a caller who has logged in, encrypted: neither
	// the browser's scripts nor this server's database can read it.
	cookieSession = "k"
	sessionTTL    = 12 * time.Hour
	maxKey        = 200 // bytes of what is typed as a key
)

var errNoSession = errors.New("lots: no session")

// sealerOf returns what encrypts the keys of sessions.
func sealerOf(secret []byte) (cipher.AEAD, error) {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte("session"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, fmt.Errorf("lots: session: %w", err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("lots: session: %w", err)
	}
	return sealer, nil
}

// sealKey returns the value of the cookie of a session until a time.
func sealKey(secret []byte, key string, until time.Time) (string, error) {
	sealer, err := sealerOf(secret)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, sealer.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	text := strconv.FormatInt(until.Unix(), 10) + "\n" + key
	return base64.RawURLEncoding.EncodeToString(sealer.Seal(nonce, nonce, []byte(text), []byte(cookieSession))), nil
}

// openKey returns the key in the cookie of a session; errNoSession when it is not ours, or
// over.
func openKey(secret []byte, value string, now time.Time) (string, error) {
	sealer, err := sealerOf(secret)
	if err != nil {
		return "", err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(sealed) < sealer.NonceSize() {
		return "", errNoSession
	}
	nonce, sealed := sealed[:sealer.NonceSize()], sealed[sealer.NonceSize():]
	text, err := sealer.Open(nil, nonce, sealed, []byte(cookieSession))
	if err != nil {
		return "", errNoSession
	}
	at, key, _ := strings.Cut(string(text), "\n")
	until, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.After(time.Unix(until, 0)) {
		return "", errNoSession
	}
	return key, nil
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
	secret, err := l.options.Visitors.Secret(r.Context())
	if err != nil {
		return session{}, err
	}
	key, err := openKey(secret, cookie.Value, time.Now())
	if err != nil {
		return session{}, err
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
		secret, err := l.options.Visitors.Secret(r.Context())
		if err != nil {
			return err
		}
		if cookie.Value, err = sealKey(secret, key, time.Now().Add(sessionTTL)); err != nil {
			return err
		}
		cookie.MaxAge = int(sessionTTL / time.Second)
	}
	http.SetCookie(w, cookie)
	return nil
}
