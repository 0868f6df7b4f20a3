package worker

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/fetch/fetchtest"
	"ushuru/pkg/jobs"
	"ushuru/pkg/picture"
	"ushuru/tasks"
)

func newTestPictures(t *testing.T, o fetch.Options) *pictures {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = client.Close() })
	fetcher, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fetcher.Close)
	return &pictures{fetcher, cache.New(client), picture.NewShrinker()}
}

// run runs the step, and returns what is cached afterwards.
func (p *pictures) run(t *testing.T, address string) (cached []byte, failure, miss error) {
	t.Helper()
	input, err := json.Marshal(tasks.PictureInput{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	job := personsJob()
	job.Kind, job.Class, job.Input = tasks.KindPicture, jobs.Interactive, input
	_, failure = p.fetch(t.Context(), job)
	cached, miss = p.cache.Picture(t.Context(), address)
	return cached, failure, miss
}

// No shape of an address inside the network is asked, as a picture or as the target of a
// picture's redirect.
func TestAttackPicturesReachNoPrivateAddress(t *testing.T) {
	t.Parallel()
	public := newTestPictures(t, fetch.Options{})
	var to string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go.jpg" {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(http.StatusFound)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(site.Close)
	local := newTestPictures(t, fetch.Options{AllowLoopback: true})
	for _, shape := range fetchtest.Shapes() {
		if cached, failure, miss := public.run(t, shape); len(cached) != 0 || failure != nil || miss != nil {
			t.Errorf("%.100q: %d bytes, %v, %v", shape, len(cached), failure, miss)
		}
		to = shape
		// Of what is no URL at all, nothing says that it can never be one.
		if cached, _, miss := local.run(t, site.URL+"/go.jpg"); len(cached) != 0 || miss != nil && !errors.Is(miss, cache.ErrMiss) {
			t.Errorf("a redirect to %.100q: %d bytes, %v", shape, len(cached), miss)
		}
	}
}

func TestOnlyPicturesOfTheSiteItselfAreCached(t *testing.T) {
	t.Parallel()
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 800, 600))); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(drawn.Bytes())
	}))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	serve := func(path, mediaType string, body []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write(body)
		})
	}
	serve("/car.jpg", "text/html", drawn.Bytes())
	serve("/page.jpg", "image/jpeg", []byte("<!doctype html><script>alert(1)</script>"))
	serve("/drawing.jpg", "image/png", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`))
	serve("/large.jpg", "image/jpeg", append(bytes.Clone(drawn.Bytes()), make([]byte, 50<<20)...))
	bomb := gzipped(t, append(bytes.Clone(drawn.Bytes()), make([]byte, 64<<20)...))
	mux.HandleFunc("GET /bomb.jpg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	mux.HandleFunc("GET /slow.jpg", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("\xff"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	})
	mux.HandleFunc("GET /broken.jpg", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.Handle("GET /away.jpg", http.RedirectHandler(other.URL+"/car.jpg", http.StatusFound))
	mux.Handle("GET /moved.jpg", http.RedirectHandler("/car.jpg", http.StatusFound))
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)

	p := newTestPictures(t, fetch.Options{AllowLoopback: true, Timeout: 3 * time.Second})
	for path, want := range map[string]string{
		"/car.jpg": "picture", "/moved.jpg": "picture", "/away.jpg": "none", "/page.jpg": "none", "/drawing.jpg": "none",
		"/large.jpg": "none", "/bomb.jpg": "none", "/missing.jpg": "none", "/slow.jpg": "later", "/broken.jpg": "later",
	} {
		cached, failure, miss := p.run(t, site.URL+path)
		got := "later"
		switch {
		case len(cached) > 0 && bytes.HasPrefix(cached, []byte("\xff\xd8\xff")):
			got = "picture"
		case miss == nil && len(cached) == 0:
			got = "none"
		}
		if got != want || (failure != nil) != (want == "later") || want == "later" && !errors.Is(miss, cache.ErrMiss) {
			t.Errorf("%s: %s, want %s; %v", path, got, want, failure)
		}
	}
	if asked.Load() != 0 {
		t.Error("another host was asked")
	}
}

// gzipped returns data as gzip packs them.
func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if _, err := packed.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
