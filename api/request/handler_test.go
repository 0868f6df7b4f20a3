package request

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestErrorOfADisconnectedCaller: every error of a request whose client has
// disconnected is logged as 499.
func TestErrorOfADisconnectedCaller(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	ProblemHandler(ErrUnavailable).ServeHTTP(w, r)
	if w.Code != statusClientClosedRequest {
		t.Errorf("status %d, want %d", w.Code, statusClientClosedRequest)
	}
}

func TestUnknownErrorIsInternal(t *testing.T) {
	w := httptest.NewRecorder()
	rec := &Recorder{ResponseWriter: w, Request: &Request{}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	Handler(func(http.ResponseWriter, *http.Request) error { return errors.New("secret cause") }).ServeHTTP(rec, r)
	const want = `{"error":"Something went wrong on our side. Please try again later.","code":"internal",`
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), want) ||
		strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if rec.Err == nil || rec.Err.Error() != "secret cause" {
		t.Errorf("the log would say %v", rec.Err)
	}
}
