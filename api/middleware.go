package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"ushuru/pkg/keys"
)

// responseRecorder is one request and its answer, as the log will tell it.
type responseRecorder struct {
	http.ResponseWriter

	id      string
	key     keys.Key // of the caller, once known
	job     string   // id of the job that works on the answer, if any
	status  int      // 0 until the answer has begun
	written int64
	err     error // what the handler returned

	idempotent *idempotentRequest // nil without an Idempotency-Key
}

type recorderKey struct{}

// recorderOf returns the exchange that a request belongs to.
func recorderOf(r *http.Request) *responseRecorder {
	x, _ := r.Context().Value(recorderKey{}).(*responseRecorder)
	return x
}

func withRecorder(ctx context.Context, x *responseRecorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, x)
}

// WriteHeader notes the status.
func (x *responseRecorder) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *responseRecorder) Write(data []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(data)
	x.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (x *responseRecorder) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// validRequestID is a request id that may go to a log and a header as it is.
var validRequestID = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// ServeHTTP answers every request there is: it names it, answers also when a
// handler panics, and logs it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	x := &responseRecorder{ResponseWriter: w, id: r.Header.Get("X-Request-ID")}
	if !validRequestID.MatchString(x.id) {
		x.id = rand.Text()
	}
	s.commonHeaders(w.Header(), x.id)
	r = r.WithContext(withRecorder(r.Context(), x))
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is panicked with
			x.err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		begun := x.status != 0
		if cause != nil && !begun {
			_ = errInternal.write(x)
		}
		s.log(r, x, time.Since(started))
		if cause != nil && begun {
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}
	}()
	s.router.ServeHTTP(x, r)
}

// commonHeaders are those of every answer. Nothing here is a page that a
// browser should run, frame, guess at or keep; what is says so itself.
func (s *Server) commonHeaders(h http.Header, id string) {
	h.Set("X-Request-ID", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if s.options.Simulated {
		h.Set("X-Simulated", "SIMULATED")
	}
}

// errResponded is returned by a function that has written the response itself.
var errResponded = errors.New("api: the response is written")

// handler answers a request, or returns why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP turns the handler's error into an answer.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil || errors.Is(err, errResponded) {
		return
	}
	x := recorderOf(r)
	x.err = err
	var p *problem
	switch {
	case r.Context().Err() != nil:
		p = errClientClosedRequest
	case !errors.As(err, &p):
		p = errInternal
	}
	_ = p.write(w)
}

func (s *Server) log(r *http.Request, x *responseRecorder, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case x.status >= http.StatusInternalServerError:
		level = slog.LevelError
	case r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, monitoringPath):
		level = slog.LevelDebug // somebody polls these
	}
	if !s.options.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request", x.id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", x.status), slog.Int64("bytes", x.written), slog.Duration("took", took),
	}
	if x.key.ID != "" {
		attrs = append(attrs, slog.String("key", x.key.ID))
	}
	if x.job != "" {
		attrs = append(attrs, slog.String("job", x.job))
	}
	if x.err != nil {
		attrs = append(attrs, slog.String("error", x.err.Error()))
	}
	s.options.Log.LogAttrs(r.Context(), level, "answered", attrs...)
}
