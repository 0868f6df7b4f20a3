package listingtest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// hugeBytes is what /huge unpacks to.
const hugeBytes = 256 << 20

// addFaults adds the pages that go wrong on purpose.
func addFaults(mux *http.ServeMux) {
	mux.HandleFunc("GET /blocked", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		render(w, "blocked.html", view{Banner: Banner})
	})
	mux.HandleFunc("GET /gone", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "SIMULATED: this listing has been removed.", http.StatusGone)
	})
	mux.HandleFunc("GET /sold", func(w http.ResponseWriter, _ *http.Request) {
		render(w, "sold.html", view{Banner: Banner})
	})
	mux.HandleFunc("GET /huge", huge)
	mux.HandleFunc("GET /slow", slow)
	mux.Handle("GET /redirect-private", http.RedirectHandler("http://10.0.0.1/", http.StatusFound))
	var asked atomic.Int64
	mux.HandleFunc("GET /flaky", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 1 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "SIMULATED: busy, try again.", http.StatusServiceUnavailable)
			return
		}
		show(w, r, cars[0])
	})
}

// huge sends a few hundred kilobytes that unpack to hugeBytes, whether or not
// the caller said that it can unpack.
func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	line := strings.Repeat("<p>SIMULATED</p>\n", 4096)
	for sent := 0; sent < hugeBytes; sent += len(line) {
		if _, err := io.WriteString(packed, line); err != nil {
			return // the reader had enough
		}
	}
	_ = packed.Close()
}

// slow sends the beginning of a page and then nothing until the reader leaves.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!DOCTYPE html><title>SIMULATED slow page</title>")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
