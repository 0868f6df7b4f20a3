package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/pace"
)

// The visitors of a network that has used its share are told so, in their language, for next to
// nothing; those of another network see every page.
func TestPagesAreBilledToTheNetwork(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	at := from(h, "192.0.2.0", http.MethodPost, "/go", "u=https://cars.example/1").Header().Get("Location")
	caller := pace.Caller(pace.Anonymous, "192.0.2.0")
	before := pages.options.Processor.Account(caller).Remaining
	for range 5 {
		if w := from(h, "192.0.2.0", http.MethodGet, at, ""); w.Code != http.StatusOK {
			t.Fatalf("got %d, want 200", w.Code)
		}
	}
	if after := pages.options.Processor.Account(caller).Remaining; after >= before {
		t.Errorf("five pages cost nothing: got %d ms left, want less than %d", after, before)
	}
	pages.options.Processor.Bill(caller, time.Minute)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for path, want := range map[string]string{
			at: "Wait", at + "?lang=sw": "Subiri", at + "/choose": "Wait", "/": "Wait", "/bid": "Wait", "/c": "Wait", "/hand?lang=sw": "Subiri",
			at + "/events": "Wait",
		} {
			w := from(h, "192.0.2.0", method, path, "")
			if w.Code == http.StatusMethodNotAllowed {
				continue
			}
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s %s: got %d with Retry-After %q, want 429 with %q\n%s", method, path, w.Code, w.Header().Get("Retry-After"), want, w.Body)
			}
		}
	}
	if w := from(h, "198.51.100.0", http.MethodGet, at, ""); w.Code != http.StatusOK {
		t.Errorf("another network: got %d, want 200", w.Code)
	}
}

// The catalogue is searched in the turn of the visitor, which bills it, whatever form asks for it.
func TestWhatAFormSearchesIsBilled(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	var inTurn bool
	compute, names, models := pages.options.Compute, pages.options.Names, pages.options.Models
	pages.options.Compute = func(r *http.Request, of any, work func() ([]byte, error)) ([]byte, error) {
		inTurn = true
		defer func() { inTurn = false }()
		return compute(r, of, work)
	}
	searches := 0
	searched := func() {
		searches++
		if !inTurn {
			t.Error("a search outside of the visitor's turn")
		}
	}
	pages.options.Names = func(ctx context.Context, text string) ([]string, string, error) {
		searched()
		return names(ctx, text)
	}
	pages.options.Models = func(ctx context.Context, mk, query string) ([]string, string, error) {
		searched()
		return models(ctx, mk, query)
	}
	post(h, "/go", "u=note+2015", nil)
	post(h, "/hand", "q=note&price=x", nil)
	post(h, "/hand", "make=NISSAN&q=note&price=x", nil)
	if searches != 3 {
		t.Errorf("got %d searches, want 3", searches)
	}
	spent := errors.New("the share is used")
	pages.options.Compute = func(*http.Request, any, func() ([]byte, error)) ([]byte, error) { return nil, spent }
	if post(h, "/go", "u=note+2015", nil); searches != 3 {
		t.Errorf("got %d searches without a turn, want none", searches-3)
	}
}

// Ten visitors of one network that send slowly leave places for those of twenty others.
func TestSlowUploadsLeavePlacesForOtherNetworks(t *testing.T) {
	t.Parallel()
	pages, _ := served(t, answering(t, nil))
	var taken int
	for range 10 {
		if _, ok := pages.uploads.Try(pace.Caller(pace.Anonymous, "192.0.2.0")); ok {
			taken++
		}
	}
	if taken == 0 || taken > maxUploads/2 {
		t.Errorf("one network has %d of %d places, want some and at most a half", taken, maxUploads)
	}
	for i := range 20 {
		release, ok := pages.uploads.Try(pace.Caller(pace.Anonymous, "198.51.100."+string(rune('a'+i))))
		if !ok {
			t.Fatalf("network %d finds no place", i)
		}
		release()
	}
}
