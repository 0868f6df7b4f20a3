package scan

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/fetch"
)

// auction is a site with sheets and with what one finds instead of them.
func auction(t *testing.T, sheet []byte) *httptest.Server {
	t.Helper()
	answers := map[string]func(http.ResponseWriter, *http.Request){
		"/robots.txt": http.NotFound,
		"/sheet": func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept"), "image/jpeg") {
				w.WriteHeader(http.StatusNotAcceptable)
			}
			w.Header().Set("Content-Type", "text/html; charset=shift_jis") // a claim
			_, _ = w.Write(sheet)
		},
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/sheet", http.StatusFound) },
		"/away": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/sheet.jpg", http.StatusFound)
		},
		"/private": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		},
		"/large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxBytes+1)) },
		"/login": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>Please log in")) },
	}
	for path, status := range map[string]int{"/202": 202, "/401": 401, "/403": 403, "/404": 404, "/410": 410, "/429": 429, "/500": 500} {
		answers[path] = func(w http.ResponseWriter, _ *http.Request) {
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(status)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[r.URL.Path](w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestSheetsAreFetched(t *testing.T) {
	t.Parallel()
	sheet := asJPEG(t, drawn(900, 700))
	server := auction(t, sheet)
	client, err := fetch.New(fetch.Options{AllowLoopback: true, MaxBody: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	loader, err := NewLoader(Options{Client: client, AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, code string
		again      bool
		wait       time.Duration
	}{
		{path: "/sheet"},
		{path: "/moved"},
		{path: "/away", code: HostUnsupported},
		{path: "/private", code: fetch.URLForbidden},
		{path: "/large", code: TooLarge},
		{path: "/202", code: Blocked},
		{path: "/401", code: Blocked},
		{path: "/403", code: Blocked},
		{path: "/404", code: NotFound},
		{path: "/410", code: NotFound},
		{path: "/429", code: Blocked, again: true, wait: 7 * time.Second},
		{path: "/500", code: fetch.FetchFailed, again: true},
	} {
		got, err := loader.Fetch(t.Context(), server.URL+test.path, false)
		if test.code == "" {
			if err != nil || !bytes.Equal(got, sheet) {
				t.Errorf("%s: %d bytes, %v; want the %d of the sheet", test.path, len(got), err, len(sheet))
			}
			continue
		}
		wantRefused(t, err, test.code)
		if failure, ok := errors.AsType[*fetch.Error](err); ok && (failure.Retryable != test.again || failure.Wait != test.wait) {
			t.Errorf("%s: again %t after %s", test.path, failure.Retryable, failure.Wait)
		}
	}
	page, err := loader.Fetch(t.Context(), server.URL+"/login", false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = loader.Load(t.Context(), page)
	wantRefused(t, err, TypeUnsupported)
	if _, err := loader.Fetch(t.Context(), "https://example.com/1.jpg", false); err == nil {
		t.Error("fetched from anywhere")
	}
}

func TestSheetsComeFromAuctionSitesOnly(t *testing.T) {
	t.Parallel()
	hosts, err := NewHosts("Sheets.Example.com", " other.example ")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, want, code string }{
		{url: "https://8.ajes.com/imgs/Abc123&h=50", want: "https://8.ajes.com/imgs/Abc123"},
		{url: "https://8.AJES.com./imgs/Abc123&w=320#x", want: "https://8.ajes.com/imgs/Abc123"},
		{
			url:  "https://i.aleado.ru/pic/?system=auto&date=2026-07-02&auct=81&bid=3006&number=0&h=480",
			want: "https://i.aleado.ru/pic/?system=auto&date=2026-07-02&auct=81&bid=3006&number=0",
		},
		{url: "https://i.aleado.ru/image/auto/a.jpg?w=72", want: "https://i.aleado.ru/image/auto/a.jpg"},
		{url: "http://stock.japan-partner.com/a.jpg?h=1", want: "http://stock.japan-partner.com/a.jpg?h=1"},
		{url: "https://cdn.sheets.example.com/1.pdf", want: "https://cdn.sheets.example.com/1.pdf"},
		{url: "https://other.example/1.pdf", want: "https://other.example/1.pdf"},
		{url: "https://example.com/sheet.jpg", code: HostUnsupported},
		{url: "https://notajes.com/imgs/1", code: HostUnsupported},
		{url: "https://ajes.com.example.com/imgs/1", code: HostUnsupported},
		{url: "https://example.com/?ajes.com", code: HostUnsupported},
		{url: "https://ajes.com@example.com/", code: "url_forbidden"},
		{url: "http://127.0.0.1/ajes.com", code: "url_forbidden"},
		{url: "ftp://ajes.com/1.jpg", code: "url_forbidden"},
		{url: "ajes.com/1.jpg", code: "url_invalid"},
	} {
		got, err := hosts.Canonical(test.url, false)
		if test.code != "" {
			wantRefused(t, err, test.code)
		} else if got != test.want || err != nil {
			t.Errorf("%s is %s, %v; want %s", test.url, got, err, test.want)
		}
	}
}

func TestLoopbackIsAHostForTestsOnly(t *testing.T) {
	t.Parallel()
	hosts, err := NewHosts()
	if err != nil {
		t.Fatal(err)
	}
	const local = "http://127.0.0.1:8090/sheets/1.jpg"
	if got, err := hosts.Canonical(local, true); got != local || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = hosts.Canonical("https://example.com/1.jpg", true)
	wantRefused(t, err, HostUnsupported)
}

func TestOnlyPublicNamesCanBeAdded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "localhost", "10.0.0.1", "a.example/path", "a.example:8080", "a.example?x", "user@a.example", "intranet"} {
		if _, err := NewHosts(name); err == nil {
			t.Errorf("%q was added", name)
		}
	}
}
