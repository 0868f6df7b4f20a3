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
	"time"

	"github.com/gorilla/mux"
	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"

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

// Close closes Asynqmon's own connections to Redis.
func (s *Resource) Close() error { return s.ui.Close() }

// isSame compares two texts in a time that does not depend on where they differ.
func isSame(a, b string) int {
	first, second := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(first[:], second[:])
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
