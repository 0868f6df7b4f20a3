package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ushuru/pkg/jobs"
)

// raw sends a request and returns the header of the response, and its body as it came.
func (a *app) raw(t *testing.T, path, accept string) (http.Header, []byte) {
	t.Helper()
	r := a.request(t, http.MethodGet, path, "")
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header, body
}

// plain decompresses.
func plain(t *testing.T, coding string, body []byte) string {
	t.Helper()
	var (
		reader io.Reader = bytes.NewReader(body)
		err    error
	)
	switch coding {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		reader, err = zstd.NewReader(reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestResponsesAreCompressed as the request wants, and only those that are worth it.
func TestResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	_, want := a.raw(t, "/openapi.yaml", "")
	for accept, coding := range map[string]string{
		"": "", "identity": "", "br": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip",
		"gzip;q=0": "", "zstd;q=0, gzip": "gzip",
	} {
		got, body := a.raw(t, "/openapi.yaml", accept)
		if found := got.Get("Content-Encoding"); found != coding || plain(t, coding, body) != string(want) {
			t.Errorf("%q: %q, %d bytes", accept, found, len(body))
		}
		if !strings.Contains(strings.Join(got.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%q: Vary %q", accept, got.Values("Vary"))
		}
		if coding != "" && len(body)*3 > len(want) {
			t.Errorf("%q: %d of %d bytes", accept, len(body), len(want))
		}
	}
	if got, _ := a.raw(t, "/healthz", "gzip"); got.Get("Content-Encoding") != "" {
		t.Error("a response of one packet is compressed")
	}
	got, _ := a.raw(t, "/openapi.json", "gzip")
	tag := got.Get("ETag")
	r := a.request(t, http.MethodGet, "/openapi.json", "")
	r.Header.Set("If-None-Match", tag)
	if again := a.send(t, r); again.status != http.StatusNotModified || !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("%q: %d", tag, again.status)
	}
}

// TestEventsAreNotCompressed: each comes when it happens.
func TestEventsAreNotCompressed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, "/streamed")
	if err := a.end(t.Context(), id, jobs.End{State: jobs.Failed, Error: failures[noMatch]}); err != nil {
		t.Fatal(err)
	}
	got, body := a.raw(t, "/v1/jobs/"+id+"/events", "gzip, zstd")
	if got.Get("Content-Encoding") != "" || !strings.HasPrefix(string(body), "retry: 2000\n\n") {
		t.Errorf("%q: %.40q", got.Get("Content-Encoding"), body)
	}
}

// TestBodiesMayBeCompressed, and are bounded by what they become.
func TestBodiesMayBeCompressed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.put(t, "/packed")
	compressed := func(body string) string {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := io.WriteString(w, body); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/estimate", `{"url":"` + site + `/packed"}`, 200},
		{"/v1/batches", `{"urls":["` + site + `/1"]}`, 201},
		{"/v1/estimate", `{"url":"` + strings.Repeat("a", 16<<20) + `"}`, 413},
	} {
		r := a.request(t, http.MethodPost, c.path, compressed(c.body))
		r.Header.Set("Content-Encoding", "gzip")
		if got := a.send(t, r); got.status != c.status {
			t.Errorf("%s with %d bytes: got %d %.300s, want %d", c.path, len(c.body), got.status, got.body, c.status)
		}
	}
}

// TestDocumentsAreCompressedOnce: what a caller without a key may ask again and again costs less
// than to compress it, even at the least level.
func TestDocumentsAreCompressedOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", http.NoBody)
	r.Header.Set("Accept-Encoding", "gzip")
	var w *httptest.ResponseRecorder
	ask := func() {
		w = httptest.NewRecorder()
		a.api.ServeHTTP(w, r.Clone(t.Context()))
	}
	ask()
	document := plain(t, w.Header().Get("Content-Encoding"), w.Body.Bytes())
	if coding := w.Header().Get("Content-Encoding"); coding != "gzip" || w.Body.Len() > 100<<10 || len(document) < 4*w.Body.Len() {
		t.Fatalf("got %q, %d bytes of %d, want gzip and at most a quarter", coding, w.Body.Len(), len(document))
	}
	asked := quickest(ask)
	packed := quickest(func() {
		packing, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level exists
		_, _ = io.WriteString(packing, document)
		_ = packing.Close()
	})
	if asked > packed/2 {
		t.Errorf("got %s for a response, want less than half of the %s for which one is compressed", asked, packed)
	}
}

// quickest returns the shortest of the times that some work takes: no other load lengthens it.
func quickest(work func()) time.Duration {
	least := time.Hour
	for range 200 {
		began := time.Now()
		work()
		least = min(least, time.Since(began))
	}
	return least
}
