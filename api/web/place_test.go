package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"ushuru/api/request"
	"ushuru/pkg/pace"
)

// TestStreamsAreBoundedForEachNetwork: beyond them the page loads again by itself.
func TestStreamsAreBoundedForEachNetwork(t *testing.T) {
	t.Parallel()
	pages, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(`{"id":"1","state":"succeeded"}`))
			return
		}
		w.Header().Set("Location", "/v1/jobs/1")
		w.WriteHeader(http.StatusAccepted)
	})
	at := ask(t, h, "u=https://cars.example/1")
	events := func(network string) int {
		known := request.With(t.Context(), &request.Request{Network: network})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(known, http.MethodGet, at+"/events", http.NoBody))
		return w.Code
	}
	for n := range maxNetworkStreams {
		if _, ok := pages.streams.Take(pace.Bound{Owner: "192.0.2.0 network", Most: maxNetworkStreams}); !ok {
			t.Fatalf("stream %d of a network was refused", n)
		}
	}
	if got := events("192.0.2.0"); got != http.StatusNoContent {
		t.Errorf("one stream too many: got %d, want %d", got, http.StatusNoContent)
	}
	if _, ok := pages.streams.Take(pace.Bound{Owner: "198.51.100.0 network", Most: maxNetworkStreams}); !ok {
		t.Error("the stream of another network was refused")
	}
}
