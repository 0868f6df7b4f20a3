package api

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorilla/mux"

	"ushuru/api/request"
)

// TestPanicAfterTheResponseBeganBreaksTheConnection: the caller must not take half
// a response for a complete one.
func TestPanicAfterTheResponseBeganBreaksTheConnection(t *testing.T) {
	t.Parallel()
	s := &Server{router: mux.NewRouter(), options: Options{Log: slog.New(slog.DiscardHandler)}}
	s.router.Handle("/", request.Handler(func(w http.ResponseWriter, _ *http.Request) error {
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
