package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/mux"
)

// TestPanicAfterTheResponseBeganBreaksTheConnection: the caller must not take half
// a response for a complete one.
func TestPanicAfterTheResponseBeganBreaksTheConnection(t *testing.T) {
	s := &Server{router: mux.NewRouter(), options: Options{Log: slog.New(slog.DiscardHandler)}}
	s.router.Handle("/", handler(func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte("half"))
		if err := http.NewResponseController(w).Flush(); err != nil { // through Unwrap
			t.Error(err)
		}
		panic("halfway")
	}))
	s.handler = s.router
	server := httptest.NewServer(s)
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("half a response looked complete")
	}
}

// TestErrorOfADisconnectedCaller: every error of a request whose client has
// disconnected is logged as 499.
func TestErrorOfADisconnectedCaller(t *testing.T) {
	ctx, leave := context.WithCancel(withRecorder(t.Context(), &responseRecorder{}))
	leave()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	problemHandler(errUnavailable).ServeHTTP(w, r)
	if w.Code != statusClientClosedRequest {
		t.Errorf("status %d, want %d", w.Code, statusClientClosedRequest)
	}
}

func TestUnknownErrorIsInternal(t *testing.T) {
	rec := &responseRecorder{ResponseWriter: httptest.NewRecorder()}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r = r.WithContext(withRecorder(r.Context(), rec))
	handler(func(http.ResponseWriter, *http.Request) error { return errors.New("secret cause") }).ServeHTTP(w, r)
	const want = `{"error":"Something went wrong on our side. Please try again later.","code":"internal",`
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), want) ||
		strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if rec.err == nil || rec.err.Error() != "secret cause" {
		t.Errorf("the log would say %v", rec.err)
	}
}
