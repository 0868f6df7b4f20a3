package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/localtime"
)

// follow returns the page to which a form leads, and its address.
func follow(t *testing.T, h http.Handler, address string) (at, body string) {
	t.Helper()
	w := get(h, address, nil)
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
			w := get(h, plain+"?"+typed+"&lang="+lang, nil)
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
	for _, site := range []string{"cross-site", "same-site", "none"} {
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
