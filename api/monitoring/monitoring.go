// Package monitoring serves Asynqmon, asynq's web interface, to operators, and checks who
// is one.
package monitoring

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"golang.org/x/time/rate"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/metrics"
)

// Path is where Asynqmon is served.
const Path = "/monitoring"

// The errors of a login; each is named by its code.
var (
	errLoginRequired = problem.New(http.StatusUnauthorized, "login_required", nil)
	errLoginSlowed   = problem.New(http.StatusTooManyRequests, "login_slowed", nil)
	errCrossOrigin   = problem.New(http.StatusForbidden, "cross_origin", nil)
)

// Options are the parts and settings of a Resource.
type Options struct {
	Redis          asynq.RedisConnOpt
	User, Password string
	Writable       bool // the operator may pause queues, run and delete tasks
	// Address returns the address that a request came from.
	Address func(*http.Request) netip.Addr
	Metrics *metrics.Metrics
	Log     *slog.Logger
}

// Resource is Asynqmon behind an operator's login.
type Resource struct {
	http.Handler

	options  Options
	ui       *asynqmon.HTTPHandler
	attempts *logins
}

// New starts Asynqmon. Payloads need no formatter: Asynqmon shows
// printable text as it is, and payloads are JSON on one line.
func New(o Options) (*Resource, error) {
	if o.Redis == nil || o.User == "" {
		return nil, fmt.Errorf("api: %s needs MonitoringUser and AsynqRedis", Path)
	}
	ui := asynqmon.New(asynqmon.Options{
		RootPath: Path, RedisConnOpt: o.Redis, ReadOnly: !o.Writable,
	})
	policy, err := uiPolicy(ui)
	if err != nil {
		return nil, errors.Join(err, ui.Close())
	}
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(request.ProblemHandler(errCrossOrigin))
	guarded := sameOrigin.Handler(ui)
	s := &Resource{options: o, ui: ui, attempts: newLogins(time.Now)}
	s.Handler = request.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.checkLogin(w, r); err != nil {
			return err
		}
		w.Header().Set("Content-Security-Policy", policy)
		guarded.ServeHTTP(w, r)
		return nil
	})
	return s, nil
}

// Register adds Asynqmon to a router.
func (s *Resource) Register(router *mux.Router) {
	router.Handle(Path, s)
	router.PathPrefix(Path + "/").Handler(s)
}

// Close closes Asynqmon's own connections to Redis.
func (s *Resource) Close() error { return s.ui.Close() }

// checkLogin lets an operator in whose browser sends name and password.
func (s *Resource) checkLogin(w http.ResponseWriter, r *http.Request) error {
	err := error(errLoginRequired)
	if user, password, given := r.BasicAuth(); given {
		err = s.CheckPassword(r, user, password)
	}
	if errors.Is(err, errLoginRequired) {
		w.Header().Set("WWW-Authenticate", `Basic realm="Ushuru operators", charset="UTF-8"`)
	}
	return err
}

// CheckPassword checks the name and the password of an operator. Who sends wrong ones is
// logged, and the network slowed down; then even the right one is refused there for a while.
func (s *Resource) CheckPassword(r *http.Request, user, password string) error {
	address := s.options.Address(r)
	right := isSame(s.options.User, user)&isSame(s.options.Password, password) == 1
	switch wait, failures := s.attempts.attempt(address, right); {
	case wait > 0:
		s.options.Metrics.Count("operator_logins_failed_total", "refused")
		return errLoginSlowed.After(max(request.WholeSeconds(wait), time.Second))
	case !right:
		s.options.Metrics.Count("operator_logins_failed_total", "wrong")
		s.options.Log.WarnContext(r.Context(), "operator login failed", "address", address.String(), "failures", failures)
		return errLoginRequired
	}
	return nil
}

// isSame compares two texts in a time that does not depend on where they differ.
func isSame(a, b string) int {
	first, second := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(first[:], second[:])
}

const (
	// A network (24 bits of IPv4, 48 of IPv6) has loginBurst guesses, and one more every
	// loginPause: 65 in an hour. An address from which an operator logged in during loginMemory
	// has its own.
	loginBurst  = 5
	loginPause  = time.Minute
	loginMemory = 12 * time.Hour

	// maxNetworks bounds the memory for networks and addresses.
	maxNetworks = 10_000
)

// logins bounds the guesses of the operator's password. It counts in this process and
// not in Redis, since an operator must be able to log in while Redis is away. Only wrong
// passwords count: a browser sends the right one with every request. Networks do not share
// a bound, so that nobody's guesses keep an operator out who is elsewhere.
type logins struct {
	now func() time.Time

	mu       sync.Mutex
	wrong    *simplelru.LRU[string, *rate.Limiter] // of the guesses of a network
	right    *simplelru.LRU[netip.Addr, time.Time] // the last login from an address
	failures int                                   // since the start of the process, with the attempts that were not answered
}

func newLogins(now func() time.Time) *logins {
	l := &logins{now: now}
	l.wrong, _ = simplelru.NewLRU[string, *rate.Limiter](maxNetworks, nil) // the only error is a size below one
	l.right, _ = simplelru.NewLRU[netip.Addr, time.Time](maxNetworks, nil)
	return l
}

// attempt counts an attempt from an address with the right password or a wrong one. It
// returns how long the network must wait before an attempt is answered; then this one is
// not, whatever the password is.
func (l *logins) attempt(address netip.Addr, right bool) (wait time.Duration, failures int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, network := l.now(), request.NetworkOf(address)
	if last, known := l.right.Get(address); known && now.Sub(last) <= loginMemory {
		network = address.String()
	}
	limiter, known := l.wrong.Get(network)
	if !known {
		limiter = rate.NewLimiter(rate.Every(loginPause), loginBurst)
	}
	switch missing := 1 - limiter.TokensAt(now); {
	case missing > 0:
		l.failures++
		return time.Duration(missing * float64(loginPause)), l.failures
	case right:
		l.right.Add(address, now)
		return 0, l.failures
	}
	limiter.AllowN(now, 1)
	l.wrong.Add(network, limiter)
	l.failures++
	return 0, l.failures
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// uiPolicy returns the content security policy that Asynqmon needs. Its two
// inline scripts are allowed by their digests, and inline styles because it
// generates them at run time (JSS). The two style sheets of Google Fonts that
// it links are blocked; the browser uses a system font.
func uiPolicy(ui http.Handler) (string, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, Path+"/", http.NoBody)
	if err != nil {
		return "", err
	}
	page := frame.Response{Head: http.Header{}}
	ui.ServeHTTP(&page, r)
	var inline strings.Builder
	for _, script := range inlineScript.FindAllSubmatch(page.Bytes(), -1) {
		digest := sha256.Sum256(script[1])
		inline.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'")
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'" + inline.String(),
		"style-src 'self' 'unsafe-inline'",
		"img-src 'self' data:",
		"connect-src 'self'",
		"manifest-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	}, "; "), nil
}
