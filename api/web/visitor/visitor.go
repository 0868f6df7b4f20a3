// Package visitor knows who asks the pages how often, by a signed cookie and by the
// network, and which puzzles were solved.
package visitor

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/web/frame"
	"ushuru/pkg/redisx"
)

// Youngest is the age of a visitor before which a form was not filled in by a person.
const Youngest = 2 * time.Second

const (
	cookieVisitor = "v"
	visitorTTL    = 30 * 24 * time.Hour // how long a visitor is known

	// puzzleTTL is how long a puzzle can be solved, once. The hash of a solution begins
	// with puzzleBits zeros: about 65,000 tries, a second on a laptop.
	puzzleTTL  = 10 * time.Minute
	puzzleBits = 16
	maxPuzzle  = 200 // bytes of a puzzle with its solution

	keySecret = "page:secret"
	secretTTL = time.Minute // how long a process uses the secret that it has read
)

// Visitors know who asks how often, by a signed cookie and by the network.
//
//	page:secret                     string: signs cookies and puzzles
//	page:count:<what>:<whose>       string: requests in a window of time
//	page:solved:<puzzle>            string: a puzzle that was used
type Visitors struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	secret []byte
	read   time.Time
}

// New returns the visitors that Redis knows.
func New(client redis.UniversalClient) *Visitors { return &Visitors{redis: client} }

// Secret returns the secret of all processes, which the first one makes.
func (v *Visitors) Secret(parent context.Context) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.read) < secretTTL {
		return v.secret, nil
	}
	ctx, cancel := context.WithTimeout(parent, frame.RedisTimeout)
	defer cancel()
	secret, err := redisx.Secret(ctx, v.redis, keySecret)
	if err != nil {
		return nil, frame.ErrRedis(err)
	}
	v.secret, v.read = secret, time.Now()
	return v.secret, nil
}

// sign returns a text with a time and its signature: <text>.<unix>.<signature>.
func sign(secret []byte, purpose, text string, at time.Time) string {
	signed := text + "." + strconv.FormatInt(at.Unix(), 10)
	return signed + "." + signature(secret, purpose, signed)
}

func signature(secret []byte, purpose, signed string) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(purpose + "\n" + signed))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// verify returns the text and the time of what sign returned; false for anything else.
func verify(secret []byte, purpose, value string) (text string, at time.Time, ok bool) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 || len(value) > maxPuzzle { //nolint:mnd // text, time and signature
		return "", at, false
	}
	want := signature(secret, purpose, parts[0]+"."+parts[1])
	unix, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || !hmac.Equal([]byte(want), []byte(parts[2])) {
		return "", at, false
	}
	return parts[0], time.Unix(unix, 0), true
}

// Purposes of signatures, so that a cookie is no puzzle.
const (
	purposeVisitor = "visitor"
	purposePuzzle  = "puzzle"
)

// NewCookie returns the cookie of a visitor who came at a time.
func NewCookie(secret []byte, id string, at time.Time) string {
	return sign(secret, purposeVisitor, id, at)
}

// Greet gives a visitor without a valid cookie one.
func (v *Visitors) Greet(w http.ResponseWriter, r *http.Request, secure bool) error {
	secret, err := v.Secret(r.Context())
	if err != nil {
		return err
	}
	if _, _, known := Of(r, secret); known {
		return nil
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
		Name: cookieVisitor, Value: NewCookie(secret, rand.Text(), time.Now()), Path: "/",
		MaxAge: int(visitorTTL / time.Second), HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	})
	return nil
}

// Of returns who a visitor is, and how long ago the cookie was given; false for one
// without a valid cookie.
func Of(r *http.Request, secret []byte) (id string, age time.Duration, known bool) {
	cookie, err := r.Cookie(cookieVisitor)
	if err != nil {
		return "", 0, false
	}
	id, at, ok := verify(secret, purposeVisitor, cookie.Value)
	age = time.Since(at)
	return id, age, ok && age < visitorTTL
}

// NetworkOf returns the network of an address: 24 bits of IPv4, 48 of IPv6.
func NetworkOf(address netip.Addr) string {
	length := 48
	if address.Unmap().Is4() {
		address, length = address.Unmap(), 24
	}
	prefix, err := address.Prefix(length)
	if err != nil || !address.IsValid() {
		return "none"
	}
	return strings.ReplaceAll(prefix.Addr().String(), ":", "-")
}
