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

// responseRecorder records one request and its response, for the log and for
// the handlers.
type responseRecorder struct {
	http.ResponseWriter

	id      string
	key     keys.Key // the caller's, once it is verified
	job     string   // id of the job that the request waits for or reads, if any
	status  int      // 0 until the response begins
	written int64
	err     error // what the handler returned

	idempotent *idempotentRequest // nil without an Idempotency-Key
}

type recorderKey struct{}

// recorderOf returns the responseRecorder of a request.
func recorderOf(r *http.Request) *responseRecorder {
	rec, _ := r.Context().Value(recorderKey{}).(*responseRecorder)
	return rec
}

func withRecorder(ctx context.Context, rec *responseRecorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, rec)
}

// WriteHeader records the status.
func (rec *responseRecorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (rec *responseRecorder) Write(data []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(data)
	rec.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *responseRecorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// validRequestID matches request ids that are safe in a log and in a header.
var validRequestID = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// ServeHTTP serves every request: it gives it an id, calls its handler, answers
// 500 if the handler panics, and logs it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := &responseRecorder{ResponseWriter: w, id: r.Header.Get("X-Request-ID")}
	if !validRequestID.MatchString(rec.id) {
		rec.id = rand.Text()
	}
	s.commonHeaders(w.Header(), rec.id)
	r = r.WithContext(withRecorder(r.Context(), rec))
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is panicked with
			rec.err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		started := rec.status != 0
		if cause != nil && !started {
			_ = errInternal.write(rec)
		}
		s.log(r, rec, time.Since(start))
		if cause != nil && started {
			panic(http.ErrAbortHandler) // half a response must not look complete
		}
	}()
	s.router.ServeHTTP(rec, r)
}

// commonHeaders sets the headers of every response. They say that it is not a
// page that a browser may run, frame, sniff or store. Handlers of pages set
// others.
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

// handler responds to a request, or returns the error to respond with.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP responds with the handler's error. An error that is not a problem
// is a 500 without details.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil || errors.Is(err, errResponded) {
		return
	}
	rec := recorderOf(r)
	rec.err = err
	var p *problem
	switch {
	case r.Context().Err() != nil:
		p = errClientClosedRequest
	case !errors.As(err, &p):
		p = errInternal
	}
	_ = p.write(w)
}

// log writes one line for a request.
func (s *Server) log(r *http.Request, rec *responseRecorder, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case rec.status >= http.StatusInternalServerError:
		level = slog.LevelError
	case r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, monitoringPath):
		level = slog.LevelDebug // these are polled
	}
	if !s.options.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request", rec.id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.written), slog.Duration("took", took),
	}
	if rec.key.ID != "" {
		attrs = append(attrs, slog.String("key", rec.key.ID))
	}
	if rec.job != "" {
		attrs = append(attrs, slog.String("job", rec.job))
	}
	if rec.err != nil {
		attrs = append(attrs, slog.String("error", rec.err.Error()))
	}
	s.options.Log.LogAttrs(r.Context(), level, "request served", attrs...)
}
