// Package frametest has what tests of pages need: a frame, and requests.
package frametest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"ushuru/api/web/frame"
	"ushuru/pkg/message"
)

// New returns a frame. Its page of an error has only the reason.
func New(t *testing.T) *frame.Frame {
	t.Helper()
	f, err := frame.New(frame.Options{
		Failed:     func(why message.Text) frame.Screen { return frame.Screen{Name: "failed", Body: why} },
		LoggedPath: func(path string) string { return path },
	})
	if err != nil {
		t.Fatal(err)
	}
	failed := &fstest.MapFile{Data: []byte(`{{define "title"}}failed{{end}}{{define "main"}}{{in .Body}}{{end}}`)}
	if err := f.Add(fstest.MapFS{"failed.html": failed}, "."); err != nil {
		t.Fatal(err)
	}
	return f
}

// Get reads an address.
func Get(h http.Handler, path string, header http.Header) *httptest.ResponseRecorder {
	return send(h, http.MethodGet, path, "", header)
}

// Post sends a form.
func Post(h http.Handler, path, body string, header http.Header) *httptest.ResponseRecorder {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(h, http.MethodPost, path, body, header)
}

func send(h http.Handler, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Refusing is an API that answers every request with an error.
func Refusing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}
