package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ushuru/api/web/links"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// ownForm is what a browser says that sends the form of a page of ours.
var ownForm = http.Header{"Sec-Fetch-Site": {"same-origin"}}

// follow returns the page to which a form leads, and its address.
func follow(t *testing.T, h http.Handler, address string) (at, body string) {
	t.Helper()
	w := get(h, address, ownForm)
	at = w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || at == "" {
		t.Fatalf("%s: got %d, want 303\n%s", address, w.Code, w.Body)
	}
	page := get(h, at, nil)
	if page.Code != http.StatusOK {
		t.Fatalf("%s: got %d, want 200\n%s", at, page.Code, page.Body)
	}
	return at, page.Body.String()
}

// What a buyer changes stands in the address of the same answer and is marked; sums are read as
// people say them.
func TestAFigureIsChangedOnTheAnswer(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	plain := ask(t, h, "u=https://cars.example/1")
	day := time.Now().In(localtime.Zone).AddDate(0, 2, 0).Format(time.DateOnly)
	for name, c := range map[string]struct{ entered, term, says string }{
		"price":      {"price=USD+5%2C000", "price=5000", "USD 5,000"},
		"C&F":        {"price=7%2C500&basis=cf", "basis=cf", "USD 7,500"},
		"freight":    {"freight=1%2C900", "freight=1900", "USD 1,900"},
		"no freight": {"agent=&freight=0", "freight=0", "USD 0"},
		"rate":       {"rate=2%2C700%2F%3D", "rate=2700", "2700"},
		"landing":    {"landing=" + day, "landing=" + day, ""},
		"agent":      {"agent=laki+5", "agent=500000", "TSh 500,000"},
		"two":        {"freight=1200&agent=elfu+400", "agent=400000&freight=1200", "USD 1,200"},
	} {
		at, body := follow(t, h, plain+"?change=1&year=&insurance=&"+c.entered)
		if path, query, _ := strings.Cut(at, "?"); path != plain || !strings.Contains(query, c.term) || !strings.Contains(query, "sig=") {
			t.Errorf("%s: got the address %s, want that of the answer with %s, signed", name, at, c.term)
		}
		if !strings.Contains(body, "you gave") || !strings.Contains(body, c.says) || !strings.Contains(body, `href="`+plain+`"`) {
			t.Errorf("%s: the page does not say %q, that the buyer gave it, and the way back\n%s", name, c.says, body)
		}
	}
	body := get(h, plain, nil).Body.String()
	if strings.Contains(body, "you gave") || strings.Contains(body, "Back to the page") {
		t.Errorf("an unchanged answer has a figure of the buyer\n%s", body)
	}
}

// A field that cannot be read is named in the buyer's language and marked, and keeps what was
// typed; the other language of that page has it too.
func TestABadFigureIsNamedAndMarked(t *testing.T) {
	t.Parallel()
	cached := answering(t, nil)
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"year":17`) {
			refusing(http.StatusBadRequest, `{"error":"In \"known\", \"year\" …","code":"field_invalid","param":"known.year"}`)(w, r)
			return
		}
		cached(w, r)
	})
	plain := ask(t, h, "u=https://cars.example/1")
	for field, c := range map[string]struct{ typed, en, sw string }{
		"price":     {"cheap", "The price must be US dollars", "Bei iwe dola"},
		"freight":   {"TSh 500,000", "The sea freight must be US dollars", "Nauli ya meli iwe dola"},
		"insurance": {"-5", "The marine insurance must be", "Bima ya baharini iwe"},
		"year":      {"17", "The year of manufacture must be", "Mwaka wa kutengenezwa uwe"},
		"landing":   {"1999-01-01", "The day of landing must be", "Siku ya kufika iwe"},
		"rate":      {"26", "The rate must be shillings", "Kiwango kiwe shilingi"},
		"agent":     {"USD 200", "The agent&#39;s fee must be shillings", "Ada ya wakala iwe shilingi"},
	} {
		typed := url.Values{"change": {"1"}, field: {c.typed}}.Encode()
		for lang, want := range map[string]string{"en": c.en, "sw": c.sw} {
			w := get(h, plain+"?"+typed+"&lang="+lang, ownForm)
			body := w.Body.String()
			input := `name="` + field + `"`
			_, after, _ := strings.Cut(body, input)
			tag, _, _ := strings.Cut(after, ">")
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, want) || !strings.Contains(tag, `aria-invalid="true"`) ||
				!strings.Contains(tag, `value="`+c.typed+`"`) || strings.Count(body, "aria-invalid") != 1 {
				t.Errorf("%s, %s: got %d, field %s, want %q\n%s", field, lang, w.Code, tag, want, body)
			}
			_, other, _ := strings.Cut(body, `<a href="`+plain+`?`)
			if other, _, _ = strings.Cut(other, `"`); !strings.Contains(other, url.QueryEscape(c.typed)) && !strings.Contains(other, strings.ReplaceAll(url.QueryEscape(c.typed), "+", "&#43;")) {
				t.Errorf("%s: the other language loses %q: %s", field, c.typed, other)
			}
		}
	}
}

// Another year of manufacture is a question to the authority: it has a page of its own, on the same
// terms.
func TestAnotherYearIsAskedFor(t *testing.T) {
	t.Parallel()
	cached := answering(t, nil)
	var asked []byte
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked, _ = io.ReadAll(r.Body)
		}
		cached(w, r)
	})
	plain := ask(t, h, "u=https://cars.example/1&modelBody=X")
	at, _ := follow(t, h, plain+"?change=1&year=2014&freight=1300")
	var sent struct {
		URL       string `json:"url"`
		ModelBody string `json:"modelBody"`
		Known     struct {
			Year int `json:"year"`
		} `json:"known"`
	}
	if err := json.Unmarshal(asked, &sent); err != nil {
		t.Fatal(err)
	}
	if sent.URL != "https://cars.example/1" || sent.ModelBody != "X" || sent.Known.Year != 2014 ||
		strings.HasPrefix(at, plain) || !strings.Contains(at, "?freight=1300&sig=") {
		t.Errorf("got %s and the address %s, want the same car of 2014 on the same terms", asked, at)
	}
	if at, _ := follow(t, h, plain+"?change=1&year=2016&freight=1300"); !strings.HasPrefix(at, plain) {
		t.Errorf("the year of the page: got the address %s, want that of the answer", at)
	}
}

// A link of another site fills in the form, and neither changes the answer nor starts work.
func TestALinkOfAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	plain := ask(t, h, "u=https://cars.example/1")
	for _, site := range []string{"cross-site", "same-site", "none", ""} {
		w := get(h, plain+"?change=1&price=1&year=2014", http.Header{"Sec-Fetch-Site": {site}})
		if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, "you gave") || !strings.Contains(body, `<details open id="change">`) {
			t.Errorf("%s: got %d, want the page's own figures and the form\n%s", site, w.Code, body)
		}
	}
	w := get(h, plain+"?change=1&price=5000", http.Header{"Sec-Fetch-Site": {"same-origin"}})
	if w.Code != http.StatusSeeOther {
		t.Errorf("the form of the page: got %d, want 303", w.Code)
	}
}

// A number that JSON does not write is read as the number it is, or refused as a bad figure.
func TestANumberIsReadHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	plain := ask(t, h, "u=https://cars.example/1")
	for entered, want := range map[string]int{
		"freight=00": http.StatusSeeOther, "freight=0.": http.StatusSeeOther, "freight=%2B5": http.StatusSeeOther,
		"freight=-.5": http.StatusUnprocessableEntity, "price=00": http.StatusUnprocessableEntity,
		"price=-.5": http.StatusUnprocessableEntity, "price=%2B5000": http.StatusSeeOther, "agent=.5": http.StatusSeeOther,
	} {
		w := get(h, plain+"?change=1&"+entered, nil)
		if w.Code != want {
			t.Errorf("%s: got %d, want %d\n%s", entered, w.Code, want, w.Body)
		}
		if at := w.Header().Get("Location"); at != "" && get(h, at, nil).Code != http.StatusOK {
			t.Errorf("%s leads to %s, which is no page", entered, at)
		}
	}
}

// What the API refuses of a change is said on the answer, which keeps what was typed.
func TestARefusedChangeKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	cached := answering(t, nil)
	for code, c := range map[string]struct {
		status int
		says   string
	}{
		"rate_limited":     {http.StatusTooManyRequests, "asked for many cars"},
		"overloaded":       {http.StatusServiceUnavailable, "Too much at once."},
		"something_wicked": {http.StatusBadRequest, "Too much at once."},
	} {
		_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"year":2014`) {
				w.Header().Set("Retry-After", "17")
				refusing(c.status, `{"error":"Too much at once.","code":"`+code+`"}`)(w, r)
				return
			}
			cached(w, r)
		})
		w := get(h, ask(t, h, "u=https://cars.example/1")+"?change=1&year=2014&freight=1300", ownForm)
		want := c.status
		if want == http.StatusBadRequest {
			want = http.StatusUnprocessableEntity
		}
		body := w.Body.String()
		if w.Code != want || !strings.Contains(body, c.says) || !strings.Contains(body, `value="1300"`) ||
			!strings.Contains(body, `<details open id="change">`) || c.status != http.StatusBadRequest && w.Header().Get("Retry-After") != "17" {
			t.Errorf("%s: got %d %v, want %d with %q and what was typed\n%s", code, w.Code, w.Header(), want, c.says, body)
		}
	}
}

// The address of an answer on a day of landing works for as long as the answer does; what is asked
// again is not on a day that is past.
func TestAPastDayOfLandingStaysReadable(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	var asked []time.Time
	pages.options.Costs = func(_ context.Context, _ vehicle.Car, _ []string, _ url.Values, made time.Time) (map[string]vehicle.Estimate, error) {
		asked = append(asked, made)
		return map[string]vehicle.Estimate{}, nil
	}
	plain := ask(t, h, "u=https://cars.example/1")
	if get(h, plain, nil); len(asked) == 0 {
		t.Error("the other years of an answer of today were not looked up")
	}
	asked = nil
	token := strings.TrimPrefix(plain, "/e/")
	made := time.Now().AddDate(0, 0, -10)
	if err := pages.links.Redis.HSet(t.Context(), links.Key(token), "made", made.Unix()).Err(); err != nil {
		t.Fatal(err)
	}
	day := made.AddDate(0, 0, 5).In(localtime.Zone).Format(time.DateOnly)
	at, err := pages.addressOf(t.Context(), pathEstimate, token, url.Values{termLanding: {day}, termFreight: {"1300"}})
	if err != nil {
		t.Fatal(err)
	}
	w := get(h, at, nil)
	body := w.Body.String()
	again := between(body, `class="note"`, "</form>")
	if w.Code != http.StatusOK || !strings.Contains(again, `name="freight"`) || strings.Contains(again, termLanding) {
		t.Errorf("got %d, want the answer, and again on its terms without the past day: %s\n%s", w.Code, again, body)
	}
	if len(asked) > 0 {
		t.Errorf("got the years as of %v beside figures of another day, want none", asked)
	}
	if w := get(h, strings.Replace(at, "?", "/choose?", 1), nil); w.Code != http.StatusOK || len(asked) != 1 || asked[0].Unix() != made.Unix() {
		t.Errorf("the list of entries: got %d as of %v, want it as of %v", w.Code, asked, made)
	}
	if w := get(h, plain+"?change=1&landing="+day, nil); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("a past day in the form: got %d, want 422", w.Code)
	}
}

// An answer on the buyer's own price and freight says both: on the page, for the clearing agent and
// in what is shared. The seller's site and price in yen do not stand beside the buyer's price.
func TestEveryFigureOfTheBuyerIsSaid(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		yen, _ := money.ParseNumber("850000")
		e.Car.AskingPrice, e.Car.Currency = &yen, "JPY"
	}))
	plain := ask(t, h, "u=https://cars.example/1")
	if body := get(h, plain, nil).Body.String(); !strings.Contains(between(body, `class="why"`, "</dl>"), "JPY 850,000") {
		t.Errorf("the seller's price in yen is not said\n%s", body)
	}
	at, body := follow(t, h, plain+"?change=1&price=5000&freight=1300")
	both := []string{"With the price you gave, USD 5,000.", "With figures of your own"}
	_, shared, _ := strings.Cut(body, "wa.me/?text=")
	shared, _, _ = strings.Cut(shared, `"`)
	shared = strings.NewReplacer("%20", " ", "%2C", ",").Replace(shared)
	paper := get(h, strings.Replace(at, "?", "/paper?", 1), nil).Body.String()
	for where, text := range map[string]string{"page": body, "paper": paper, "shared": shared} {
		for _, want := range both {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q\n%s", where, want, text)
			}
		}
	}
	if why := between(body, `class="why"`, "</dl>"); strings.Contains(why, "JPY 850,000") || strings.Contains(why, "cars.example") {
		t.Errorf("the buyer's price has the seller's beside it\n%s", why)
	}
	if !strings.Contains(paper, "USD 1,300") || strings.Count(paper, "you gave</span>") != 1 {
		t.Errorf("the paper does not say which figure is the buyer's\n%s", paper)
	}
	if _, body = follow(t, h, plain+"?change=1&price=5000"); strings.Contains(body, both[1]) {
		t.Errorf("the price alone is called other figures too\n%s", body)
	}
}

// The form for the highest price, and the one by hand, keep the terms of the answer they were
// opened on.
func TestTheFormsKeepTheTerms(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	at, body := follow(t, h, ask(t, h, "u=https://cars.example/1")+"?change=1&price=5000&freight=1300&rate=2700")
	bid, _, _ := strings.Cut(body[strings.Index(body, `href="/bid?`)+len(`href="`):], `"`)
	form := get(h, strings.ReplaceAll(bid, "&amp;", "&"), nil).Body.String()
	hand := get(h, "/hand?make=TOYOTA&model=PASSO&freight=1300&rate=2700", nil).Body.String()
	for _, want := range []string{`name="freight" value="1300"`, `name="rate" value="2700"`} {
		if !strings.Contains(form, want) || !strings.Contains(hand, want) {
			t.Errorf("%s leads to %s; no %s in one of\n%s\n%s", at, bid, want, form, hand)
		}
	}
}
