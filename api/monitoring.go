package api

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/hibiken/asynqmon"
)

const monitoringPath = "/monitoring"

// monitoring is Asynqmon, the queue's own page, behind an operator's login.
type monitoring struct {
	http.Handler

	page *asynqmon.HTTPHandler
}

// newMonitoring makes the page. Payloads need no formatter of ours: Asynqmon
// shows printable text as it is, and payloads are JSON on one line.
func newMonitoring(o Options) (*monitoring, error) {
	if o.AsynqRedis == nil || o.MonitoringUser == "" {
		return nil, fmt.Errorf("api: %s needs MonitoringUser and AsynqRedis", monitoringPath)
	}
	page := asynqmon.New(asynqmon.Options{
		RootPath: monitoringPath, RedisConnOpt: o.AsynqRedis, ReadOnly: !o.MonitoringWritable,
	})
	policy := pagePolicy(page)
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(problemHandler(errCrossOrigin))
	guarded := sameOrigin.Handler(page)
	login := newLogin(o.MonitoringUser, o.MonitoringPassword)
	return &monitoring{page: page, Handler: handler(func(w http.ResponseWriter, r *http.Request) error {
		if !login.admits(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="Ushuru operators", charset="UTF-8"`)
			return errLoginRequired
		}
		w.Header().Set("Content-Security-Policy", policy)
		guarded.ServeHTTP(w, r)
		return nil
	})}, nil
}

// Close closes the page's own connections to Redis.
func (m *monitoring) Close() error { return m.page.Close() }

// login holds the digests of a user and a password: of equal length whatever
// is typed, so that comparing them takes the same time.
type login struct{ user, password [sha256.Size]byte }

func newLogin(user, password string) login {
	return login{sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))}
}

func (l login) admits(r *http.Request) bool {
	user, password, given := r.BasicAuth()
	typed := newLogin(user, password)
	sameUser := subtle.ConstantTimeCompare(l.user[:], typed.user[:])
	samePassword := subtle.ConstantTimeCompare(l.password[:], typed.password[:])
	return given && sameUser&samePassword == 1
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// pagePolicy is the content security policy under which the page works. Its
// two inline scripts are admitted by the digests of what it serves, inline
// styles because it makes them as it runs (JSS). Its icons are its own; the
// two style sheets of Google Fonts that it asks for are refused, and the
// system's font stands in.
func pagePolicy(page http.Handler) string {
	var inline strings.Builder
	for _, script := range inlineScript.FindAllSubmatch(responseBody(page, monitoringPath+"/"), -1) {
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
	}, "; ")
}

// responseBody returns the body that a handler answers to GET.
func responseBody(h http.Handler, path string) []byte {
	r, err := http.NewRequest(http.MethodGet, path, http.NoBody) //nolint:noctx // never leaves the process
	if err != nil {
		return nil
	}
	var answer memory
	h.ServeHTTP(&answer, r)
	return answer.Bytes()
}

// memory is a response that stays in memory.
type memory struct {
	bytes.Buffer

	header http.Header
}

func (m *memory) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}

func (m *memory) WriteHeader(int) {}
