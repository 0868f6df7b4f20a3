package lots

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"ushuru/api/web/frame/frametest"
	"ushuru/pkg/redisx/redistest"

	"github.com/gorilla/mux"
)

const goodKey = "ush_good"

// batches is an API that knows one key and starts batches, each name of a start once.
func batches(started *atomic.Int64) http.HandlerFunc {
	once := map[string]bool{}
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("X-Api-Key") != goodKey:
			frametest.Refusing(http.StatusUnauthorized, `{"error":"No.","code":"unauthorized"}`)(w, r)
		case r.Method == http.MethodPost && strings.HasPrefix(string(body), "thousands") && !r.URL.Query().Has("column"):
			if r.URL.Query().Get("dryRun") == "" {
				frametest.Refusing(http.StatusBadRequest, `{"error":"In which unit?","code":"unit_unclear"}`)(w, r)
				return
			}
			_, _ = fmt.Fprint(w, `{"rows":2,"valid":2,"questions":[{"column":"<b>Start","values":["690","450"],"readings":[`+
				`{"unit":"JPY","answer":"<b>Start=startPrice (JPY)","firstUSD":["4.60","3.00"]},`+
				`{"unit":"1000 JPY","answer":"<b>Start=startPrice (1000 JPY)","firstUSD":["4,600.00","3,000.00"]}]}]}`)
		case r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "true":
			_, _ = fmt.Fprintf(w, `{"rows":2,"valid":1,"rejected":1,"table":{"columns":[{"column":"<b>URL","field":"url","used":true},`+
				`{"column":"x","field":"known.body"}]},"first":[{"row":2,"url":"%d bytes"}],"problems":[{"row":3,"error":"Bad."}]}`, len(body))
		case r.Method == http.MethodPost:
			if name := r.Header.Get("Idempotency-Key"); !once[name] {
				once[name] = true
				started.Add(1)
			}
			w.Header().Set("Location", "/v1/batches/B1")
			w.WriteHeader(http.StatusCreated)
		case strings.HasSuffix(r.URL.Path, "/results"):
			_, _ = fmt.Fprint(w, `{"results":[{"row":2,"url":"javascript:alert(1)","state":"failed","error":{"code":"x","error":"<script>","car":{"make":"TOYOTA","model":"<b>VITZ"}}}]}`)
		case strings.HasSuffix(r.URL.Path, "/B1"):
			_, _ = fmt.Fprint(w, `{"id":"B1","state":"running","rows":2,"counts":{"running":1,"failed":1},"secondsLeft":61}`)
		default:
			_, _ = fmt.Fprint(w, `{"batches":[{"id":"B1","state":"completed","rows":2,"counts":{"failed":1}}]}`)
		}
	}
}

// served are pages in front of an API.
func served(t *testing.T, api http.Handler) (*Lots, http.Handler) {
	t.Helper()
	return servedTo(t, api, Operator{})
}

// servedTo are pages that an operator can open too.
func servedTo(t *testing.T, api http.Handler, operator Operator) (*Lots, http.Handler) {
	t.Helper()
	client := redistest.Embedded(t).Client()
	pages, err := New(Options{Frame: frametest.New(t), Keyed: api, Operator: operator, Redis: client})
	if err != nil {
		t.Fatal(err)
	}
	router := mux.NewRouter().SkipClean(true)
	pages.Register(router)
	return pages, router
}

// loggedIn returns the cookie of a session.
func loggedIn(t *testing.T, h http.Handler) string {
	t.Helper()
	w := frametest.Post(h, "/lots/login", "key="+goodKey+"&next=/lots/B1", nil)
	cookies := w.Header().Values("Set-Cookie") // that of the visitor comes first
	cookie := cookies[len(cookies)-1]
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/lots/B1" || !strings.HasPrefix(cookie, "k=") ||
		!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || strings.Contains(cookie, goodKey) {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	value, _, _ := strings.Cut(cookie, ";")
	return value
}

// sendTable posts a file.
func sendTable(h http.Handler, cookie string, file []byte, header http.Header) *httptest.ResponseRecorder {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", `<i>"cars".csv`)
	_, _ = part.Write(file)
	_ = form.Close()
	r := httptest.NewRequest(http.MethodPost, "/lots", &body)
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if at := w.Header().Get("Location"); w.Code == http.StatusSeeOther && at != "" {
		return frametest.Get(h, at, http.Header{"Cookie": {cookie}})
	}
	return w
}

func TestATableIsLookedAtAndStartedOnce(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	_, h := served(t, batches(&started))
	cookie := loggedIn(t, h)
	w := sendTable(h, cookie, []byte("url\nhttps://cars.example/1\n"), nil)
	body := w.Body.String()
	for _, want := range []string{"link of the car", ">known.body – understood, but not needed</option>", "&lt;b&gt;URL", "27 bytes", "Row 3", "Calculate (1)"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
	if w.Code != http.StatusOK || strings.Contains(body, "<i>") || strings.Contains(body, goodKey) || started.Load() != 0 {
		t.Fatalf("%d, %d batches\n%s", w.Code, started.Load(), body)
	}
	form := startForm(t, body)
	for range 2 {
		w := frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {cookie}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/lots/B1" {
			t.Errorf("%d %v\n%s", w.Code, w.Header(), w.Body)
		}
	}
	if started.Load() != 1 {
		t.Errorf("a form that was sent twice started %d batches", started.Load())
	}
	sendTable(h, cookie, []byte("url\nhttps://cars.example/2\n"), nil)
	if w := frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {cookie}}); w.Code != http.StatusConflict || started.Load() != 1 {
		t.Errorf("another table than was seen: %d, %d batches", w.Code, started.Load())
	}
}

// A table whose prices may be in thousands is not started before its unit is chosen.
func TestTheUnitOfPricesIsAskedFor(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	_, h := served(t, batches(&started))
	cookie := loggedIn(t, h)
	body := sendTable(h, cookie, []byte("thousands"), nil).Body.String()
	for _, want := range []string{
		"In which unit are the prices of &#34;&lt;b&gt;Start&#34;?", `value="&lt;b&gt;Start=startPrice (1000 JPY)" required`, "690 = USD 4,600.00; 450 = USD 3,000.00",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	form := startForm(t, body)
	w := frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {cookie}})
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Choose in which unit") || started.Load() != 0 {
		t.Errorf("without an answer: %d, %d batches\n%s", w.Code, started.Load(), w.Body)
	}
	w = frametest.Post(h, "/lots/start", form+"&unit0="+url.QueryEscape("<b>Start=startPrice (1000 JPY)"), http.Header{"Cookie": {cookie}})
	if w.Code != http.StatusSeeOther || started.Load() != 1 {
		t.Errorf("with an answer: %d, %d batches\n%s", w.Code, started.Load(), w.Body)
	}
}

// startForm returns the fields of the form that starts a batch.
func startForm(t *testing.T, body string) string {
	t.Helper()
	fields := regexp.MustCompile(`name="(sum|once)" value="([^"]+)"`).FindAllStringSubmatch(body, -1)
	if len(fields) != 2 {
		t.Fatalf("no form\n%s", body)
	}
	return "skip=1&" + fields[0][1] + "=" + fields[0][2] + "&" + fields[1][1] + "=" + fields[1][2]
}

func TestTheRowsOfABatchAreText(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	_, h := served(t, batches(&started))
	w := frametest.Get(h, "/lots/B1", http.Header{"Cookie": {loggedIn(t, h)}})
	body := w.Body.String()
	if w.Code != http.StatusOK || strings.Contains(body, `href="javascript:`) || strings.Contains(body, "<script>") ||
		!strings.Contains(body, "<td>2</td><th scope=\"row\">TOYOTA &lt;b&gt;VITZ") || !strings.Contains(body, "about 2 min left") || !strings.Contains(body, `content="5"`) {
		t.Errorf("%d\n%s", w.Code, body)
	}
}

// TestTheWholeAnswerIsOnTheTermsOfTheBatch: its page has the rate and the days of the batch; a row
// whose number that page cannot repeat does not lead to it.
func TestTheWholeAnswerIsOnTheTermsOfTheBatch(t *testing.T) {
	t.Parallel()
	terms := `"rate":2700,"landing":{"from":"2027-02-01","to":"2027-02-09"}`
	for name, c := range map[string]struct {
		basis, options string
		leads          bool
	}{
		"FOB": {"fob", terms, true}, "C&F": {"cf", terms, true}, "start": {"start", terms, false}, "hammer": {"hammer", terms, false},
		"costs": {"fob", terms + `,"costs":{"inspectionUSD":9}`, false},
	} {
		_, h := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/results") {
				_, _ = fmt.Fprintf(w, `{"results":[{"row":1,"state":"succeeded","priceBasis":%q,"car":{"make":"TOYOTA","model":"AXIO","fobPriceUSD":4100},`+
					`"estimate":{"car":{"make":"TOYOTA","model":"AXIO","year":2016},"matched":{"confidence":"high"}}}]}`, c.basis)
				return
			}
			_, _ = fmt.Fprintf(w, `{"id":"B1","state":"completed","rows":1,"options":{%s},"counts":{"succeeded":1}}`, c.options)
		}))
		body := frametest.Get(h, "/lots/B1", http.Header{"Cookie": {loggedIn(t, h)}}).Body.String()
		if got := strings.Contains(body, `<button class="link">TOYOTA AXIO`); got != c.leads || !strings.Contains(body, "TOYOTA AXIO") {
			t.Errorf("%s: the row leads to its whole answer: got %t, want %t\n%s", name, got, c.leads, body)
		}
		for _, field := range []string{`name="rate" value="2700"`, `name="landing" value="2027-02-01..2027-02-09"`} {
			if strings.Contains(body, field) != c.leads {
				t.Errorf("%s: %s: got %t, want %t", name, field, !c.leads, c.leads)
			}
		}
	}
}

// TestABatchIsPrintedFromItsPage: all rows stand on one page, with a button that prints it.
func TestABatchIsPrintedFromItsPage(t *testing.T) {
	t.Parallel()
	limits := make(chan string, 2)
	_, h := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/results") {
			limits <- r.URL.Query().Get("limit")
			_, _ = w.Write([]byte(`{"results":[{"row":1,"url":"https://cars.example/1","state":"waiting"}],"next":"50"}`))
			return
		}
		_, _ = w.Write([]byte(`{"id":"B1","state":"completed","rows":60,"counts":{"waiting":60}}`))
	}))
	cookie := http.Header{"Cookie": {loggedIn(t, h)}}
	some := frametest.Get(h, "/lots/B1?sort=onTheRoad", cookie).Body.String()
	if got := <-limits; got != "50" || !strings.Contains(some, `href="/lots/B1?all=1&amp;sort=onTheRoad"`) || !strings.Contains(some, "data-print") {
		t.Errorf("got %s rows\n%s", got, some)
	}
	all := frametest.Get(h, "/lots/B1?all=1&sort=onTheRoad", cookie).Body.String()
	if got := <-limits; got != "1000" || strings.Contains(all, "all=1&amp;sort=onTheRoad\"") {
		t.Errorf("of all rows: got %s rows\n%s", got, all)
	}
}

func TestOnlyTheHolderOfAKeySeesBatches(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, batches(&started))
	revoked, err := pages.session.Seal(t.Context(), "ush_revoked")
	if err != nil {
		t.Fatal(err)
	}
	another := pages.session
	another.With = "another secret"
	stranger, err := another.Seal(t.Context(), goodKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, cookie := range map[string]string{
		"none": "", "revoked": "k=" + revoked, "of another server": "k=" + stranger, "no session": "k=AAAA",
		"a key": "k=" + goodKey,
	} {
		for _, path := range []string{"/lots", "/lots/B1", "/lots/B1/results?format=csv"} {
			w := frametest.Get(h, path, http.Header{"Cookie": {cookie}})
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `name="key"`) || strings.Contains(w.Body.String(), "Excel") {
				t.Errorf("%s, %s: %d", name, path, w.Code)
			}
		}
		if w := sendTable(h, cookie, []byte("url\n"), nil); !strings.Contains(w.Body.String(), `name="key"`) {
			t.Errorf("%s: a table was taken", name)
		}
	}
	for _, typed := range []string{"", "ush_bad", strings.Repeat("a", 201), "a%0d%0ab"} {
		w := frametest.Post(h, "/lots/login", "key="+typed, nil)
		if w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Header().Get("Set-Cookie"), "k=") {
			t.Errorf("the key %.20q: %d", typed, w.Code)
		}
	}
	for range maxLogins {
		frametest.Post(h, "/lots/login", "key=ush_bad", nil)
	}
	if w := frametest.Post(h, "/lots/login", "key="+goodKey, nil); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("after %d tries: %d", maxLogins, w.Code)
	}
	for path, want := range map[string]string{"/lots/B1": "/lots/B1", "//evil.example": "/lots", "/lots/../x": "/lots", "/e/1": "/lots"} {
		if got := nextOf(path); got != want {
			t.Errorf("%s leads to %s", path, got)
		}
	}
}

func TestTablesAreBoundedAndOfThisSite(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, batches(&started))
	cookie := loggedIn(t, h)
	for name, c := range map[string]struct {
		file   []byte
		header http.Header
		want   int
	}{
		"too large":       {bytes.Repeat([]byte("a"), maxLotsFile+1), nil, http.StatusRequestEntityTooLarge},
		"50 MB":           {bytes.Repeat([]byte("a"), 50<<20), nil, http.StatusRequestEntityTooLarge},
		"empty":           {nil, nil, http.StatusUnprocessableEntity},
		"of another site": {[]byte("url\n"), http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
	} {
		if w := sendTable(h, cookie, c.file, c.header); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
	for _, path := range []string{"/lots/start", "/lots/logout", "/lots/login", "/lots/B1/cancel", "/lots/B1/retry"} {
		w := frametest.Post(h, path, "", http.Header{"Cookie": {cookie}, "Origin": {"https://evil.example"}})
		if w.Code != http.StatusForbidden {
			t.Errorf("%s from another site: %d", path, w.Code)
		}
	}
	keys, err := pages.options.Redis.Keys(t.Context(), "page:table:*").Result()
	if err != nil || len(keys) != 0 || started.Load() != 0 {
		t.Errorf("%q, %v, %d batches", keys, err, started.Load())
	}
}

func TestTheOperatorNeedsNoKey(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	keyed := batches(&started)
	broken := errors.New("Redis is away")
	operator := Operator{
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != "" {
				t.Error("the operator has a key")
			}
			r.Header.Set("X-Api-Key", goodKey)
			keyed(w, r)
		}),
		IsLoggedIn: func(r *http.Request) (bool, error) {
			cookie, err := r.Cookie("op")
			switch {
			case err != nil:
				return false, nil //nolint:nilerr // there is none
			case cookie.Value == "broken":
				return false, broken
			}
			return cookie.Value == "good", nil
		},
	}
	_, h := servedTo(t, keyed, operator)
	for cookie, want := range map[string]struct {
		code int
		has  string
	}{
		"op=good":   {http.StatusOK, `action="/console/logout"`},
		"op=forged": {http.StatusOK, `href="/console/login?next=%2flots"`},
		"":          {http.StatusOK, `href="/console/login?next=%2flots"`},
		"op=broken": {http.StatusInternalServerError, ""},
	} {
		w := frametest.Get(h, "/lots", http.Header{"Cookie": {cookie}})
		if w.Code != want.code || !strings.Contains(w.Body.String(), want.has) {
			t.Errorf("%q: %d\n%s", cookie, w.Code, w.Body)
		}
	}
	both := http.Header{"Cookie": {"op=good; " + loggedIn(t, h)}}
	if w := frametest.Get(h, "/lots", both); !strings.Contains(w.Body.String(), `action="/lots/logout"`) {
		t.Errorf("a key that was typed does not come first\n%s", w.Body)
	}
	form := startForm(t, sendTable(h, "op=good", []byte("url\nhttps://cars.example/1\n"), nil).Body.String())
	if w := frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {"op=forged"}}); w.Code != http.StatusOK || started.Load() != 0 {
		t.Errorf("a forged cookie: %d, %d batches", w.Code, started.Load())
	}
	if w := frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {"op=good"}}); w.Code != http.StatusSeeOther || started.Load() != 1 {
		t.Errorf("the operator: %d, %d batches", w.Code, started.Load())
	}
	if _, off := served(t, keyed); strings.Contains(frametest.Get(off, "/lots", http.Header{"Cookie": {"op=good"}}).Body.String(), "/console") {
		t.Error("without a console the page leads to it")
	}
}

// TestWhatTheBrokerSaysStandsInTheRequest: the target as it is said, the rate, the day and what
// the columns mean; and a field that cannot be read is named.
func TestWhatTheBrokerSaysStandsInTheRequest(t *testing.T) {
	t.Parallel()
	asked := make(chan url.Values, 10)
	_, h := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked <- r.URL.Query()
		}
		_, _ = w.Write([]byte(`{"rows":1,"valid":1,"table":{"columns":[{"column":"Preis","field":"fobPrice","unit":"USD","used":true}]},` +
			`"first":[{"row":2,"car":{"make":"TOYOTA","fobPriceUSD":4100},"priceBasis":"start"}]}`))
	}))
	cookie := loggedIn(t, h)
	body := sendTable(h, cookie, []byte("Preis\n4100\n"), nil).Body.String()
	<-asked
	for _, want := range []string{`value="Preis=startPrice (1000 JPY)"`, "USD 4,100", "start price of the auction", `id="target"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	form := startForm(t, body) + "&target=milioni+30&rate=2,650&landing=2027-02-01&column=&column=" + url.QueryEscape("Preis=cfPrice (USD)")
	frametest.Post(h, "/lots/start", form, http.Header{"Cookie": {cookie}})
	got := <-asked
	for name, want := range map[string]string{"target": "30000000", "rate": "2650", "landing": "2027-02-01", "column": "Preis=cfPrice (USD)"} {
		if got.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Get(name), want)
		}
	}
	for entered, want := range map[string]string{"149.875": "149.875", "150": "150", "148,5": "148.5", "JPY 151": "151"} {
		frametest.Post(h, "/lots/start", startForm(t, body)+"&yen="+url.QueryEscape(entered), http.Header{"Cookie": {cookie}})
		if got := <-asked; got.Get("jpyPerUSD") != want {
			t.Errorf("%s yen: got %q, want %q", entered, got.Get("jpyPerUSD"), want)
		}
	}
	for field, sums := range map[string][]string{
		"target": {"JPY 5,000,000", "USD 12,000"}, "rate": {"JPY 150", "USD 2,650"}, "yen": {"USD 150", "TSh 150"},
	} {
		for _, sum := range sums {
			w := frametest.Post(h, "/lots/start", startForm(t, body)+"&"+url.Values{field: {sum}}.Encode(), http.Header{"Cookie": {cookie}})
			if said := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(said, `value="`+sum+`" aria-invalid="true"`) {
				t.Errorf("%s %s: got %d, want the form with the field marked\n%s", field, sum, w.Code, said)
			}
			if got := <-asked; got.Get("dryRun") != "true" {
				t.Errorf("%s %s: a batch started with %v", field, sum, got)
			}
		}
	}
	w := frametest.Post(h, "/lots/start", startForm(t, body)+"&target=much", http.Header{"Cookie": {cookie}})
	if said := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(said, "milioni 30") ||
		!strings.Contains(said, `value="much" aria-invalid="true"`) {
		t.Errorf("a target that is no sum: %d\n%s", w.Code, said)
	}
}

func TestAFileThatIsNoTableIsNamed(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	_, h := served(t, batches(&started))
	cookie := loggedIn(t, h)
	for file, want := range map[string]string{"": "is empty", "%PDF-1.7 …": "is a PDF"} {
		w := sendTable(h, cookie, []byte(file), nil)
		if said := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(said, want) || !strings.Contains(said, "&lt;i&gt;") {
			t.Errorf("%q: %d, want %q with the name of the file\n%s", file, w.Code, want, said)
		}
	}
}

// TestOnlyWhatCanSucceedIsTriedAgain: rows that the site has answered for good are not offered.
func TestOnlyWhatCanSucceedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for retryable, want := range map[string]bool{"true": true, "false": false} {
		var asked atomic.Value
		_, h := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/items"):
				_, _ = fmt.Fprintf(w, `{"items":[{"row":1,"url":"","state":"failed","error":{"code":"x","error":"X.","retryable":%s}}]}`, retryable)
			case strings.HasSuffix(r.URL.Path, "/results"):
				_, _ = fmt.Fprintf(w, `{"results":[{"row":7,"sheet":"A & B","state":"failed","error":{"code":"x","error":"X.","retryable":%s}}]}`, retryable)
			default:
				asked.Store(r.Method + " " + r.URL.RequestURI())
				_, _ = w.Write([]byte(`{"id":"B1","state":"completed","rows":1,"counts":{"failed":1}}`))
			}
		}))
		cookie := http.Header{"Cookie": {loggedIn(t, h)}}
		body := frametest.Get(h, "/lots/B1", cookie).Body.String()
		for _, button := range []string{`action="/lots/B1/retry"><button`, `action="/lots/B1/retry"><input type="hidden" name="row" value="7"><input type="hidden" name="sheet" value="A &amp; B">`} {
			if got := strings.Contains(body, button); got != want {
				t.Errorf("retryable %s: %s is there: %t, want %t", retryable, button, got, want)
			}
		}
		frametest.Post(h, "/lots/B1/retry", "row=7&sheet=A+%26+B&lang=sw", cookie)
		if got, want := asked.Load(), "POST /v1/batches/B1/retry?fields=all&lang=all&row=7&sheet=A+%26+B"; got != want {
			t.Errorf("the API was asked %s, want %s", got, want)
		}
		// A row that is named badly is for the API to refuse: nothing else is tried again.
		frametest.Post(h, "/lots/B1/retry", "row=&row=7&lang=sw", cookie)
		if got, want := asked.Load(), "POST /v1/batches/B1/retry?fields=all&lang=all&row=&row=7"; got != want {
			t.Errorf("the API was asked %s, want %s", got, want)
		}
	}
}
