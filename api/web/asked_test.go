package web

import (
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx/redistest"
)

// jobsOfAsked is an API where the address of a listing says how its job ends: cached at once, refused,
// or gone after the job has run for two seconds.
func jobsOfAsked(w http.ResponseWriter, r *http.Request) {
	const estimate = `{"input":{"url":"https://www.beforward.jp/cached"},"summary":{},"driveAway":{}}`
	body, _ := io.ReadAll(r.Body)
	asked := r.URL.Path + string(body)
	switch {
	case strings.Contains(asked, "refused"):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"No.","code":"url_forbidden"}`))
	case strings.Contains(asked, "cached"):
		_, _ = w.Write([]byte(estimate))
	case r.Method == http.MethodPost:
		w.Header().Set("Location", "/v1/jobs/ended")
		if strings.Contains(asked, "slow") {
			w.Header().Set("Location", "/v1/jobs/runs")
		}
		w.WriteHeader(http.StatusAccepted)
	case strings.HasSuffix(r.URL.Path, "runs"):
		_, _ = w.Write([]byte(`{"id":"J","state":"running","created":"2026-11-26T10:00:00Z"}`))
	default:
		_, _ = w.Write([]byte(`{"id":"J","state":"failed","created":"2026-11-26T10:00:00Z","ended":"2026-11-26T10:00:02Z",` +
			`"error":{"error":"Gone.","code":"listing_gone"}}`))
	}
}

// Each thing that a visitor asks for is counted once, with the site, and once when its end is first
// seen; what is asked again on the same day is not.
func TestWhatAVisitorAsksForIsCountedOnce(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	counts := metrics.New(metrics.Options{
		Codes: []string{"listing_gone", "url_forbidden"}, Recorder: metrics.NewRecorder(metrics.RecorderOptions{Redis: conn.Client()}),
	})
	pages, _ := served(t, jobsOfAsked)
	pages.options.Metrics, pages.options.Redis = counts, conn.Client()
	pages.links.Redis = conn.Client()
	router := mux.NewRouter().SkipClean(true)
	pages.Register(router)
	ask := func(path string, form url.Values) string {
		t.Helper()
		got := post(router, path, form.Encode(), nil)
		return got.Header().Get("Location")
	}
	see := func(address string) { get(router, address, nil) }
	for range 2 {
		see(ask("/go", url.Values{"u": {"https://www.beforward.jp/cached"}}))
		see(ask("/go", url.Values{"u": {"https://cars.example.co.tz/slow"}})) // whose end is not awaited
		ask("/go", url.Values{"u": {"https://other.co.tz/refused"}})
	}
	gone := ask("/bid", url.Values{"u": {"https://www.beforward.jp/1"}, "target": {"20000000"}})
	for range 3 {
		see(gone)
	}
	counts.Recorder().Write(t.Context())
	people, err := metrics.ReadPeople(t.Context(), conn.Client(), time.Now(), 2)
	if err != nil {
		t.Fatal(err)
	}
	people.Pages, people.Languages, people.Median = nil, nil, 0
	want := metrics.People{
		Asked: map[string]int64{"e": 4, "bid": 1}, Answered: 1, Refused: map[string]int64{"url_forbidden": 2, "listing_gone": 1},
		Sites: map[string]metrics.AskedSite{
			"beforward.jp":  {Networks: 1, Asked: 2, Answered: 1, Refused: map[string]int64{"listing_gone": 1}},
			"example.co.tz": {Networks: 1, Asked: 1},
			"other.co.tz":   {Networks: 1, Asked: 2, Refused: map[string]int64{"url_forbidden": 2}},
		},
	}
	if !reflect.DeepEqual(people, want) {
		t.Errorf("got  %+v\nwant %+v", people, want)
	}
}
