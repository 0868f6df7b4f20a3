package frame_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"ushuru/api/web/frame"
)

const style = "body{margin:0}"

func files(t *testing.T) *frame.Files {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write([]byte("let a = 1;")); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := frame.ReadFiles("/static/", fstest.MapFS{
		"in/a.css": {Data: []byte(style)}, "b.js.gz": {Data: packed.Bytes()},
	}, "in/a.css", "b.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// A file is the same whether the browser reads gzip or not, and whether it was stored
// packed or not. Another content would have another address.
func TestFilesAreServedAsTheBrowserCanReadThem(t *testing.T) {
	t.Parallel()
	all := files(t)
	for name, want := range map[string]string{"a.css": style, "b.js": "let a = 1;"} {
		address, err := all.Address(name)
		if err != nil || !strings.HasPrefix(address, "/static/"+name[:1]+".") {
			t.Fatalf("%q, %v", address, err)
		}
		for _, coding := range []string{"", "gzip, br"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			r.Header.Set("Accept-Encoding", coding)
			w := httptest.NewRecorder()
			all.ServeHTTP(w, r)
			body := io.Reader(w.Body)
			if coding != "" {
				if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() != all.Size(name) {
					t.Errorf("%s: %v", name, w.Header())
				}
				if body, err = gzip.NewReader(w.Body); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != want || w.Code != http.StatusOK {
				t.Errorf("%s: %d %q, %v", name, w.Code, got, err)
			}
			if !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %v", name, w.Header())
			}
		}
	}
}

func TestWhatIsNoFileIsNotFound(t *testing.T) {
	t.Parallel()
	all := files(t)
	if _, err := all.Address("c.css"); err == nil {
		t.Error("a file that does not exist has an address")
	}
	for _, path := range []string{"/static/", "/static/a.css", "/static/../in/a.css"} {
		w := httptest.NewRecorder()
		all.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if _, err := frame.ReadFiles("/", fstest.MapFS{"a.js.gz": {Data: []byte("plain")}}, "a.js.gz"); err == nil {
		t.Error("a file that is not gzip is read as such")
	}
	if _, err := frame.ReadFiles("/", fstest.MapFS{}, "a.js"); err == nil {
		t.Error("a file that is missing is read")
	}
}
