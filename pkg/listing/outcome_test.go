package listing

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/fetch"
)

func TestOutcomes(t *testing.T) {
	full := fixture(t, "beforward.html")
	cases := []struct {
		name      string
		status    int
		url, body string
		code      string
		temporary bool
	}{
		{"challenge with status 202", 202, beForwardURL, `<script>window.gokuProps={}</script>`, Blocked, false},
		{"status 202 whatever it holds", 202, beForwardURL, full, Blocked, false},
		{"challenge with status 200", 200, beForwardURL, `<div id="challenge-container"></div><script src="https://x.token.awswaf.com/challenge.js"></script>`, Blocked, false},
		{"Cloudflare", 200, beForwardURL, `<title>Just a moment...</title>`, Blocked, false},
		{"redirected to a captcha", 200, "https://cars.example.com/recaptcha?url=x", `<p>prove</p>`, Blocked, false},
		{"forbidden", 403, beForwardURL, `no`, Blocked, false},
		{"method", 405, beForwardURL, ``, Blocked, false},
		{"too many requests", 429, beForwardURL, ``, Blocked, true},
		{"busy", 503, beForwardURL, ``, Blocked, true},
		{"broken", 500, beForwardURL, ``, fetch.FetchFailed, true},
		{"bad gateway", 502, beForwardURL, ``, fetch.FetchFailed, true},
		{"redirect without target", 302, beForwardURL, ``, fetch.FetchFailed, false},
		{"gone", 410, beForwardURL, full, Gone, false},
		{"not found", 404, beForwardURL, ``, Gone, false},
		{"gone in words", 200, beForwardURL, `<h1>This vehicle is no longer available</h1>`, Gone, false},
		{"sold in words", 200, beForwardURL, `<h1>Sorry, this vehicle has already been sold</h1>`, Sold, false},
		{"gone in the title", 200, beForwardURL, `<title>Page Not Found</title><p>Sorry</p>`, Gone, false},
		{"home page", 200, "https://cars.example.com/", `<title>Best cars</title><p>Fuel: any</p>`, NotAListing, false},
		{"shell drawn by script", 200, dealerURL, `<div id="root"></div><script src="/app.js"></script>`, NotAListing, false},
		{"login", 200, "https://cars.example.com/login?next=1", `<form></form>`, NotAListing, false},
		{"empty", 200, dealerURL, ``, NotAListing, false},
		{"title only", 200, "https://cars.example.com/nissan/note/1", `<title>2015 NISSAN NOTE DBA-E12</title>`, NotAListing, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page := &fetch.Page{URL: c.url, FinalURL: c.url, Status: c.status, Header: http.Header{"Retry-After": {"90"}}, Body: []byte(c.body)}
			_, err := Read(t.Context(), page)
			failure := wantOutcome(t, err, c.code)
			if failure.Retryable != c.temporary {
				t.Errorf("temporary %v", failure.Retryable)
			}
			if c.code == Blocked && c.temporary && failure.Wait != 90*time.Second {
				t.Errorf("RetryAfter %v", failure.Wait)
			}
		})
	}
}

func TestNoListingWhereOneIsExpected(t *testing.T) {
	small := `<title>Cars</title><p>Welcome</p>`
	large := `<title>Cars</title><p>` + strings.Repeat("Welcome. ", 3000) + `</p>`
	for name, c := range map[string]struct {
		asked, final, body string
		code, containsAny  string
	}{
		"a small page of BE FORWARD":     {beForwardURL, beForwardURL, small, Blocked, "too small"},
		"a large page of BE FORWARD":     {beForwardURL, beForwardURL, large, NotAListing, "one car"},
		"a small page of another":        {dealerURL, dealerURL, small, NotAListing, "one car"},
		"led to the home page":           {"https://cars.example.com/note/1", "https://cars.example.com/", large, Blocked, "redirected"},
		"led to the list above":          {"https://cars.example.com/note/1", "https://cars.example.com/note?page=1", large, Blocked, "redirected"},
		"led to the address with a mark": {"https://cars.example.com/note/1", "https://cars.example.com/note/1/?seen=1", large, NotAListing, "one car"},
		"led to the members' door":       {"https://cars.example.com/note/1", "https://cars.example.com/login", large, NotAListing, "members"},
		"drawn by a script":              {dealerURL, dealerURL, `<div id="root"></div><script src="/app.js"></script>`, NotAListing, "browser"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), &fetch.Page{URL: c.asked, FinalURL: c.final, Status: http.StatusOK, Body: []byte(c.body)})
			if failure := wantOutcome(t, err, c.code); !strings.Contains(failure.Message, c.containsAny) {
				t.Errorf("%q does not say %q", failure.Message, c.containsAny)
			}
		})
	}
}

func TestCaptchaWidgetOnACompletePageIsNoBlock(t *testing.T) {
	page := fixture(t, "beforward.html")
	if !strings.Contains(page, "g-recaptcha") {
		t.Fatal("the fixture has no captcha widget")
	}
	read(t, strings.Replace(page, "</body>", `<script src="/recaptcha?url=x"></script></body>`, 1), beForwardURL)
}

func FuzzRead(f *testing.F) {
	f.Add(`<title>2015 NISSAN NOTE</title><dl><dt>Year<dd>2015<dt>Fuel<dd>Petrol`, "https://c.example.com/nissan/note/1")
	f.Add(schemaPage(`{"@type":"Car","brand":["A"],"offers":[{"@id":"#a"}],"image":[{}],"model":{"name":1}}`), "")
	f.Add(`<ul id="bread"><a href="/make=1/model=2">x</a></ul><table class="specification"><th>Fuel<td>x</table><p class="vehicle-price">$5`, "")
	f.Fuzz(func(t *testing.T, body, url string) {
		listing, err := Read(t.Context(), FromFile([]byte(body), url))
		if err != nil {
			return
		}
		if listing.Car.Images == nil || listing.Car.Make == "" && listing.Car.Model == "" {
			t.Errorf("%+v", listing.Car)
		}
	})
}
