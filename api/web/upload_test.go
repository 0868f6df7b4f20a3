package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// receiving is an API that starts a job for every request and keeps what it got.
type receiving struct {
	mu      sync.Mutex
	bodies  []map[string]any
	senders []string
}

func (a *receiving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies, a.senders = append(a.bodies, body), append(a.senders, request.From(r).Sender)
	w.Header().Set("Location", fmt.Sprintf("/v1/jobs/%d", len(a.bodies)))
	w.WriteHeader(http.StatusAccepted)
}

func (a *receiving) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.bodies)
}

// multi returns a form as the extension sends it: the page is the last field.
func multi(t *testing.T, page string, fields ...string) (body []byte, contentType string) {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for i := 0; i < len(fields); i += 2 {
		if err := writer.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.WriteField("page", page); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return form.Bytes(), writer.FormDataContentType()
}

// sendPage posts a page as the extension does.
func sendPage(t *testing.T, h http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	body, contentType := multi(t, carPage, "u", "https://cars.example/1")
	known := request.With(t.Context(), &request.Request{})
	r := httptest.NewRequestWithContext(known, http.MethodPost, "/go", bytes.NewReader(body))
	r.Header = http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}, "Sec-Fetch-Site": {"none"}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const carPage = "<!DOCTYPE html><html><body>UNIQUE-TEXT-OF-A-PAGE &amp; \"more\"</body></html>"

func TestAPageIsOfItsRequestAlone(t *testing.T) {
	t.Parallel()
	api := &receiving{}
	pages, h := served(t, api.ServeHTTP)
	first := sendPage(t, h)
	if first.Code != http.StatusSeeOther || api.count() != 1 {
		t.Fatalf("%d, %d jobs\n%s", first.Code, api.count(), first.Body)
	}
	if got := api.bodies[0]; got["html"] != carPage || got["url"] != "https://cars.example/1" || got["upload"] != nil {
		t.Errorf("the API got %v", got)
	}
	other := sendPage(t, h)
	if other.Code != http.StatusSeeOther || other.Header().Get("Location") == first.Header().Get("Location") || api.count() != 2 {
		t.Errorf("the same page again: %d at %s, %d jobs", other.Code, other.Header().Get("Location"), api.count())
	}
	if api.senders[0] == api.senders[1] || api.senders[0] == "" {
		t.Errorf("senders %q", api.senders)
	}
	if keys := keysWith(t, pages.options.Redis, "UNIQUE-TEXT"); len(keys) > 0 {
		t.Errorf("the page is kept in %v", keys)
	}
}

// keysWith returns the keys of Redis whose values contain a text.
func keysWith(t *testing.T, client redis.UniversalClient, text string) (found []string) {
	t.Helper()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		value, err := client.Get(t.Context(), key).Result()
		if err != nil { // a hash, or a sorted set
			fields, _ := client.HGetAll(t.Context(), key).Result()
			value = fmt.Sprint(fields)
		}
		if strings.Contains(value, text) {
			found = append(found, key)
		}
	}
	return found
}

// Every way in which a page can be wrong ends without a job, and gives its place back.
func TestAPageThatIsRefusedStartsNothing(t *testing.T) {
	t.Parallel()
	api := &receiving{}
	_, h := served(t, api.ServeHTTP)
	whole, contentType := multi(t, carPage, "u", "https://cars.example/1")
	post := func(body io.Reader, contentType, site, origin string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/go", body)
		r.Header = http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}}
		for name, value := range map[string]string{"Sec-Fetch-Site": site, "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const most = 16 // parts of a form
	many := make([]string, 0, 2*most)
	for range most {
		many = append(many, "year", "2019")
	}
	tooMany, tooManyType := multi(t, carPage, many...)
	large, largeType := multi(t, strings.Repeat("a", maxPage+1), "u", "https://cars.example/1")
	huge, hugeType := multi(t, strings.Repeat("a", 5<<20), "u", "https://cars.example/1")
	for name, c := range map[string]struct {
		body         []byte
		contentType  string
		site, origin string
		want         int
	}{
		"half a body":         {whole[:len(whole)-40], contentType, "none", "", http.StatusBadRequest},
		"no boundary":         {whole, "multipart/form-data", "none", "", http.StatusBadRequest},
		"many fields":         {tooMany, tooManyType, "none", "", http.StatusBadRequest},
		"a byte too large":    {large, largeType, "none", "", http.StatusRequestEntityTooLarge},
		"5 MB":                {huge, hugeType, "none", "", http.StatusRequestEntityTooLarge},
		"another site":        {whole, contentType, "cross-site", "https://evil.example", http.StatusForbidden},
		"without permission":  {whole, contentType, "cross-site", "chrome-extension://abcdefghijklmnopabcdefghijklmnop", http.StatusForbidden},
		"an old browser":      {whole, contentType, "", "chrome-extension://abcdefghijklmnopabcdefghijklmnop", http.StatusForbidden},
		"a frame of the site": {whole, contentType, "cross-site", "null", http.StatusForbidden},
	} {
		for range 2 * maxUploads {
			w := post(bytes.NewReader(c.body), c.contentType, c.site, c.origin)
			if w.Code != c.want || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
				t.Fatalf("%s: %d, want %d\n%.200s", name, w.Code, c.want, w.Body)
			}
		}
	}
	if api.count() != 0 {
		t.Errorf("%d jobs", api.count())
	}
	// Chromium sends none, and Firefox same-origin, for a server that the user has allowed.
	for i, site := range []string{"none", "same-origin"} {
		if w := post(bytes.NewReader(whole), contentType, site, "chrome-extension://abcdefghijklmnopabcdefghijklmnop"); w.Code != http.StatusSeeOther {
			t.Errorf("%d %s: %d\n%s", i, site, w.Code, w.Body)
		}
	}
}

// A page that was sent is not kept: what follows from its answer describes the car, or asks
// for another press of the button. Nothing leads to a fetch of the site, which would fail.
func TestWhatFollowsFromASentPageNeedsNoPage(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Summary.PortAndTaxesOnly, e.Summary.OnTheRoad = e.Summary.OnTheRoad, nil
	}))
	at := sendPage(t, h).Header().Get("Location")
	for _, path := range []string{at, at + "/choose"} {
		body := get(h, path, nil).Body.String()
		if !strings.Contains(body, `action="/hand"`) || strings.Contains(body, `action="/go"`) || !strings.Contains(body, `name="make" value="TOYOTA"`) {
			t.Errorf("%s:\n%s", path, body)
		}
	}

	for code, want := range map[string]string{"deadline_exceeded": "press the button of the extension", "listing_incomplete": "/hand?"} {
		said := message.Text{EN: "The reason.", SW: "Sababu."}
		_, h := served(t, failing(vehicle.Error{Code: code, Message: said.EN, Text: &said, Car: &vehicle.Car{Make: "NISSAN", Model: "NOTE"}}))
		at := sendPage(t, h).Header().Get("Location")
		body := get(h, at, nil).Body.String()
		if !strings.Contains(body, want) || strings.Contains(body, `action="/go"`) || strings.Contains(body, `href="/extension"`) {
			t.Errorf("%s:\n%s", code, body)
		}
	}
}

// Another year of a page that was sent is asked for on the page's own price and the figures that the
// visitor gave, and the entry is not called the visitor's choice.
func TestAnotherYearOfASentPageKeepsItsFigures(t *testing.T) {
	t.Parallel()
	price := ""
	cached := answering(t, func(e *vehicle.Estimate) { price = e.Car.FOBPriceUSD.String() })
	chosen := answering(t, func(e *vehicle.Estimate) { e.Matched.MatchedBy = vehicle.ByCaller })
	var asked map[string]any
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathQuote {
			cached(w, r)
			return
		}
		asked = nil
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		chosen(w, r)
	})
	sent := sendPage(t, h).Header().Get("Location")
	at, body := follow(t, h, sent+"?change=1&year=2014&freight=1300")
	if !strings.Contains(at, "freight=1300&price="+price+"&") || asked["year"] != 2014.0 || asked[fieldMatched] != nil || asked["modelBody"] == nil {
		t.Errorf("got %v and the address %s, want the car of 2014 for %s and the freight", asked, at, price)
	}
	if strings.Contains(body, "You chose it") || !strings.Contains(body, "The match is that of the page you sent") {
		t.Errorf("our match is called the visitor's\n%s", body)
	}
	again, _, _ := strings.Cut(body[strings.Index(body, `href="/bid?`)+len(`href="`):], `"`)
	if !strings.Contains(again, "freight=1300") || !strings.Contains(again, "matched=") {
		t.Errorf("the form for the highest price loses the figures: %s", again)
	}
	if at, _ = follow(t, h, sent+"?change=1&year=2014&price=4,000&basis=cf"); !strings.Contains(at, "basis=cf&price=4000&") {
		t.Errorf("got the address %s, want the visitor's own price", at)
	}
	if w := post(h, "/hand", "make=TOYOTA&modelBody=OTHER&matched=X&year=2014&price=4000&basis=cf", http.Header{}); w.Code != http.StatusSeeOther ||
		!strings.Contains(get(h, w.Header().Get("Location"), nil).Body.String(), "You chose it") {
		t.Errorf("got %d, want another entry called the visitor's choice", w.Code)
	}
}
