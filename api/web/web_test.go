package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/api/web/frame"
	"ushuru/api/web/frame/frametest"
	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
)

// served are pages in front of an API that refuses everything.
func served(t *testing.T, api http.HandlerFunc) (*Pages, http.Handler) {
	t.Helper()
	conn := redistest.Embedded(t)
	pages, err := New(Options{
		API: api, Keyed: api, Redis: conn.Client(),
		Watch: func(string) (<-chan struct{}, func()) { return nil, func() {} },
		Costs: func(context.Context, vehicle.Car, []string, url.Values, time.Time) (map[string]vehicle.Estimate, error) {
			return map[string]vehicle.Estimate{}, nil
		},
		Names: func(_ context.Context, text string) ([]string, string, error) {
			words := strings.Fields(strings.ToUpper(text))
			switch {
			case slices.Contains(words, "TOYOTA"):
				return []string{"TOYOTA"}, strings.Join(words[1:], " "), nil
			case slices.Contains(words, "NOTE"):
				return []string{"BMW", "NISSAN"}, "NOTE", nil
			}
			return nil, "", nil
		},
		Models: func(_ context.Context, mk, query string) ([]string, string, error) {
			models := map[string][]string{"NISSAN": {"NOTE", "NOTE NISMO"}, "TOYOTA": {"COROLLA AXIO", "PASSO"}}[mk]
			if query == "NKE165" {
				return models[:1], query, nil
			}
			return slices.DeleteFunc(models, func(m string) bool { return !strings.Contains(m, strings.ToUpper(query)) }), "", nil
		},
		About:     "Gari Ltd, <b>Dar es Salaam, 0700 000 000",
		Processor: pace.NewProcessor(2),
		Compute:   func(_ *http.Request, _ any, compute func() ([]byte, error)) ([]byte, error) { return compute() },
		Terms: func(query url.Values, made time.Time) (Pricing, error) {
			return terms.ParseAddress(cost.Embedded(), query, made)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	router := mux.NewRouter().SkipClean(true)
	pages.Register(router)
	return pages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if request.From(r).Network == "" { // a busy machine uses up no share of a request without a network
			pages.options.Processor.Bill(pace.Caller(pace.Anonymous, ""), -time.Hour)
		}
		router.ServeHTTP(w, r)
	})
}

func get(h http.Handler, path string, header http.Header) *httptest.ResponseRecorder {
	return frametest.Get(h, path, header)
}

func post(h http.Handler, path, body string, header http.Header) *httptest.ResponseRecorder {
	return frametest.Post(h, path, body, header)
}

func refusing(status int, body string) http.HandlerFunc { return frametest.Refusing(status, body) }

func TestTheLanguageIsThatOfTheLinkTheCookieTheBrowser(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusNotFound, `{}`))
	for name, c := range map[string]struct {
		path   string
		header http.Header
		want   string
	}{
		"default":  {"/", http.Header{}, "en"},
		"browser":  {"/", http.Header{"Accept-Language": {"fr;q=0.9, sw-TZ;q=0.8, en;q=0.3"}}, "sw"},
		"broken":   {"/", http.Header{"Accept-Language": {"sw-TZ, x_y!;q=0.5"}}, "sw"},
		"cookie":   {"/", http.Header{"Accept-Language": {"en"}, "Cookie": {"lang=sw"}}, "sw"},
		"link":     {"/?lang=en", http.Header{"Cookie": {"lang=sw"}}, "en"},
		"nonsense": {"/?lang=%3Cscript%3E", http.Header{"Cookie": {`lang="><script>`}}, "en"},
	} {
		w := get(h, c.path, c.header)
		if want := `<html lang="` + c.want + `">`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: not %s", name, want)
		}
	}
}

func TestTheLinkIsFoundInASharedText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://cars.example/1":                               "https://cars.example/1",
		"Look at this (https://cars.example/1?a=b&c=d).":       "https://cars.example/1?a=b&c=d",
		"TOYOTA AXIO\nhttps://cars.example/1 from the shop":    "https://cars.example/1",
		"nataka hii www.cars.example/stock/1 bei gani":         "https://www.cars.example/stock/1",
		"cars.example.co.jp/stock/1":                           "https://cars.example.co.jp/stock/1",
		"HTTPS://CARS.example/1":                               "HTTPS://CARS.example/1",
		"Toyota Axio 1.5/hybrid":                               "",
		"javascript:alert(1)":                                  "",
		"ftp://cars.example/1":                                 "",
		strings.Repeat("a", maxText) + " https://cars.example": "",
	} {
		if got := linkIn(text); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if got := linksIn("https://a.example/1 na https://b.example/2 na https://a.example/1"); len(got) != 2 {
		t.Errorf("two cars, one of them twice: %q", got)
	}
}

// TestOneFieldTakesWhatPeopleHave: what is no link leads to where it is answered, and nothing is
// refused without the next step, in the language of the visitor.
func TestOneFieldTakesWhatPeopleHave(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/v1/jobs"+r.URL.Path)
		w.WriteHeader(http.StatusAccepted)
	})
	for typed, want := range map[string]string{
		"angalia www.cars.example/1 tafadhali": "^/e/[A-Z2-7]{26}$",
		"toyota axio 2019":                     `^/hand\?make=TOYOTA&q=AXIO&year=2019$`,
		"Toyota Axio 1500cc 2019":              `^/hand\?cc=1500&make=TOYOTA&q=AXIO&year=2019$`,
		"note":                                 `^/hand\?q=NOTE$`,
		"milioni 30":                           `^/bid\?target=30000000$`,
		"Wharfage 900,000 DO fee 150,000":      "^/bill/[A-Z2-7]{26}$",
		"https://cars.example/sheets/1.JPG":    "^/s/[A-Z2-7]{26}$",
	} {
		w := post(h, "/go", url.Values{"u": {typed}}.Encode(), http.Header{})
		if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !regexp.MustCompile(want).MatchString(at) {
			t.Errorf("%q leads to %q (%d), want %s", typed, at, w.Code, want)
		}
	}
	for typed, want := range map[string][]string{
		"":              {"Tafadhali andika chochote", `href="/hand"`},
		"JPY 5,000,000": {"Hatujapata"},
		"USD 12,000":    {"Hatujapata"},
		"<b>qwerty":     {"Hatujapata kiungo", `value="&lt;b&gt;qwerty"`, `role="alert"`, `aria-invalid="true"`},
		"https://a.example/1 na https://b.example/2": {"Umetuma magari kadhaa", `name="u2" value="https://b.example/2"`, `action="/c"`},
	} {
		w := post(h, "/go", url.Values{"u": {typed}}.Encode(), http.Header{"Cookie": {"lang=sw"}})
		for _, piece := range want {
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), piece) {
				t.Errorf("%q: %d, want %q\n%s", typed, w.Code, piece, w.Body)
			}
		}
	}
}

// TestTheLanguageLinkSendsWhatWasPostedAgain: but for a key.
func TestTheLanguageLinkSendsWhatWasPostedAgain(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusBadRequest, `{"error":"No.","code":"url_invalid"}`))
	w := post(h, "/c", "u1=https%3A%2F%2Fa.example%2F1&u2=nothing", http.Header{})
	for _, want := range []string{`<form method="post" action="/c?lang=sw">`, `name="u1" value="https://a.example/1"`, `name="u2" value="nothing"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q in\n%s", want, w.Body)
		}
	}
	if w := post(h, "/lots/login", "key=secret-key", http.Header{}); strings.Contains(w.Body.String(), "secret-key") {
		t.Errorf("the key stands in the page\n%s", w.Body)
	}
}

func TestThePageSaysWhoRunsIt(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusNotFound, `{}`))
	for lang, want := range map[string]string{"en": "30 days", "sw": "siku 30"} {
		body := get(h, "/about?lang="+lang, nil).Body.String()
		if !strings.Contains(body, "Gari Ltd, &lt;b&gt;Dar es Salaam, 0700 000 000") || !strings.Contains(body, want) {
			t.Errorf("%s:\n%s", lang, body)
		}
	}
}

// TestABrowserGetsAPageAtAMistypedAddress: and a program JSON.
func TestABrowserGetsAPageAtAMistypedAddress(t *testing.T) {
	t.Parallel()
	pages, h := served(t, refusing(http.StatusNotFound, `{}`))
	other := pages.ForBrowsers(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	if w := get(other, "/cars", http.Header{"Accept": {"text/html,*/*"}}); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `action="/go"`) {
		t.Errorf("a browser: %d\n%s", w.Code, w.Body)
	}
	if w := get(other, "/cars", http.Header{"Accept": {"*/*"}}); w.Code != http.StatusTeapot {
		t.Errorf("a program: %d", w.Code)
	}
	if w := get(h, "/go?u=toyota+axio", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/?u=toyota+axio" {
		t.Errorf("GET /go: %d %s", w.Code, w.Header())
	}
}

func TestWhatAVisitorTypesIsNeverMarkup(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusBadRequest, `{"error":"<script>alert(1)</script>","code":"url_invalid"}`))
	w := post(h, "/go", "u=ftp:%22%3E%3Cscript%3Ealert(2)%3C%2Fscript%3E", http.Header{})
	if w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
	for header, want := range map[string]string{
		"Content-Security-Policy": frame.Policy, "X-Robots-Tag": "noindex", "Cache-Control": "private, no-cache",
	} {
		if got := w.Header().Get(header); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
}

// allTemplates returns the templates of all pages by the names of their files.
func allTemplates(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"templates/*.html", "*/templates/*.html"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(data)
		}
	}
	return texts
}

func TestNoPageHasInlineScriptOrStyle(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|<script[^>]*>[^<]|\sstyle=|\son[a-z]+=|javascript:|template\.(HTML|JS|URL)`)
	for name, text := range allTemplates(t) {
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
}

func TestARequestOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(http.ResponseWriter, *http.Request) { t.Error("the API was called") })
	body := strings.NewReader("--x\r\nContent-Disposition: form-data; name=u\r\n\r\nhttps://cars.example/1\r\n--x--\r\n")
	unread := body.Len()
	r := httptest.NewRequest(http.MethodPost, "/go", body)
	r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Content-Type": {"multipart/form-data; boundary=x"}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || body.Len() != unread {
		t.Errorf("%d, %d bytes of the body were read", w.Code, unread-body.Len())
	}
}

func TestAnUnknownAddressIsNotFound(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusNotFound, `{}`))
	for _, path := range []string{
		"/e/AAAAAAAAAAAAAAAAAAAAAAAAAA", "/e/1", "/e/", "/e/aaaaaaaaaaaaaaaaaaaaaaaaaa", "/e/AAAAAAAAAAAAAAAAAAAAAAAAAA/events",
	} {
		if w := get(h, path, nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `name="u"`) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestALimitOfTheNetworkIsSaidInWords(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "17")
		refusing(http.StatusTooManyRequests, `{"error":"Your API key has exceeded","code":"rate_limited"}`)(w, nil)
	})
	w := post(h, "/go", "u=https://cars.example/1", http.Header{})
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "17" ||
		strings.Contains(w.Body.String(), "API key") || !strings.Contains(w.Body.String(), "asked for many cars") {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), w.Body)
	}
}

// TestEveryTextOfAPageIsUsed also finds a key that a template misspells: it names every
// key that the templates and the code say.
func TestEveryTextOfAPageIsUsed(t *testing.T) {
	t.Parallel()
	for _, match := range regexp.MustCompile(`say "([a-z_.]+)"`).FindAllStringSubmatch(strings.Join(slices.Collect(maps.Values(allTemplates(t))), "\n"), -1) {
		if _, known := message.ValueNames("page/" + match[1]); !known {
			t.Errorf("no text %q", match[1])
		}
	}
	for code := range states {
		s := stateOf(code)
		keys := []string{"state." + s.Key}
		if !s.Own {
			keys = append(keys, "state."+s.Key+"_why")
		}
		for _, key := range keys {
			if _, known := message.ValueNames("page/" + key); !known {
				t.Errorf("no text %q for %s", key, code)
			}
		}
	}
}

func TestThePathInTheLogHasNoToken(t *testing.T) {
	t.Parallel()
	const token = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	for path, want := range map[string]string{
		"/e/" + token: "/e/…", "/e/" + token + "/events": "/e/…/events", "/v1/estimate": "/v1/estimate", "/e/x": "/e/x",
	} {
		if got := LoggedPath(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// answering is an API whose every estimate is cached.
func answering(t *testing.T, change func(*vehicle.Estimate)) http.HandlerFunc {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(data, &estimate); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&estimate)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/vehicles") {
			_, _ = w.Write([]byte(`{"total":2,"vehicles":[{"modelBody":"PASSO - KGC30"},{"modelBody":"PASSO - M700A"}]}`))
			return
		}
		_ = json.NewEncoder(w).Encode(estimate)
	}
}

// ask posts the link of a car, and returns the address of the answer.
func ask(t *testing.T, h http.Handler, body string) string {
	t.Helper()
	w := post(h, "/go", body, http.Header{})
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !regexp.MustCompile(`^/e/[A-Z2-7]{26}$`).MatchString(at) {
		t.Fatalf("%d %s\n%s", w.Code, at, w.Body)
	}
	return at
}

// What the listing says of a flood stands on the page, with what to ask, and in what is
// shared. What costs money alone does not push it away.
func TestAGraveDoubtIsShownAndShared(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.Condition = []vehicle.Statement{{Category: "flood", Level: "disqualify", Quote: "Condition: Flood damaged"}}
		e.Matched.MatchedBy = vehicle.ByAI
		*e = cost.Embedded().Apply(*e, vehicle.Terms{}, time.Now())
		if len(e.Doubts) < 2 || e.Doubts[0].Code != "flood" || e.Doubts[1].Code != "no_sheet" {
			t.Fatalf("doubts %+v", e.Doubts)
		}
	}))
	at := ask(t, h, "u=https://cars.example/1")
	for lang, wants := range map[string][]string{
		"en": {`<b class="danger">The listing itself says: `, "Condition: Flood damaged", `<li class="caution">Nobody has shown an auction sheet`, `<li class="caution">An AI chose`},
		"sw": {`<b class="danger">Tangazo lenyewe linasema: `, "Condition: Flood damaged", `<li class="caution">Hakuna aliyeonyesha`},
	} {
		body := get(h, at+"?lang="+lang, nil).Body.String()
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in\n%s", lang, want, body)
			}
		}
		title := regexp.MustCompile(`property="og:title" content="([^"]*)"`).FindStringSubmatch(body)
		if len(title) < 2 || !strings.Contains(title[1], "Flood damaged") {
			t.Errorf("%s: the preview is %q", lang, title)
		}
		if strings.Count(between(body, `id="mind"`, "</section>"), "<li class=") > 4 {
			t.Errorf("%s: more than four doubts and warnings", lang)
		}
	}
}

func TestTheAnswerIsShownInBothLanguages(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	at := ask(t, h, "u=https://cars.example/1")
	for lang, want := range map[string]string{"en": "TSh 45.2 million", "sw": "TSh milioni 45.2"} {
		w := get(h, at+"?lang="+lang, nil)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `id="number">`+want+"<") {
			t.Errorf("%s: %d\n%s", lang, w.Code, w.Body)
		}
	}
	if again := ask(t, h, "u=https://cars.example/1"); again != at {
		t.Errorf("the same request has the addresses %s and %s", at, again)
	}
	if other := ask(t, h, "u=https://cars.example/1&modelBody=X"); other == at {
		t.Error("another request has the same address")
	}
	if w := get(h, at+"/choose", nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "PASSO - M700A") ||
		strings.Count(w.Body.String(), "ost not known yet") != 1 {
		t.Errorf("choose: %d\n%s", w.Code, w.Body)
	}
}

func TestLinksToOneCarShareAPage(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	first := ask(t, h, "u=https://cars.example/1")
	for n := range 5 {
		if at := ask(t, h, fmt.Sprintf("u=https://cars.example/1?utm_source=%d", n)); at != first {
			t.Errorf("another page: %s", at)
		}
	}
	keys, err := pages.options.Redis.Keys(t.Context(), "page:link:*").Result()
	if err != nil || len(keys) != 1 {
		t.Errorf("%d links, %v", len(keys), err)
	}
}
