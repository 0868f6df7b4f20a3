package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ushuru/api/web/links"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// shop is an API whose answer depends on the listing that is asked for: /1 and /2 are two cars,
// /gone is none. A described car is a PASSO.
func shop(t *testing.T) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			URL string `json:"url"`
		}
		_ = json.Unmarshal(body, &asked)
		switch {
		case strings.HasSuffix(asked.URL, "/gone"), r.Method == http.MethodGet:
			said := message.Text{EN: "It is gone.", SW: "Halipo."}
			failing(vehicle.Error{Code: "listing_gone", Message: said.EN, Text: &said, Car: &vehicle.Car{Make: "NISSAN", Model: "NOTE"}})(w, r)
		default:
			saying(estimate(t, func(e *vehicle.Estimate) {
				e.Input.URL = asked.URL
				if !strings.HasSuffix(asked.URL, "/1") {
					e.Car.Model, e.Car.Year, e.Car.FrameNumber, e.Car.StockNo, e.Matched.Confidence = "PASSO", 2017, "", "", vehicle.Low
				}
			}), nil)(w, r)
		}
	}
}

// led posts a form, and returns where it leads.
func led(t *testing.T, h http.Handler, path, body string) string {
	t.Helper()
	w := post(h, path, body, http.Header{})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%s with %s: got %d, want an address\n%s", path, body, w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// pairs returns where the form for two cars leads.
func pairs(t *testing.T, h http.Handler, u1, u2 string) string {
	t.Helper()
	return led(t, h, "/c", url.Values{"u1": {u1}, "u2": {u2}}.Encode())
}

func TestAnyTwoAnswersAreCompared(t *testing.T) {
	t.Parallel()
	_, h := served(t, shop(t))
	link := led(t, h, "/go", "u=https://cars.example/1")
	priced := led(t, h, "/go", "u=https://cars.example/2&price=5000&basis=cf")
	hand := led(t, h, "/hand", "make=TOYOTA&model=PASSO&year=2017&price=4000&basis=fob")
	chosen := led(t, h, "/go", "u=https://cars.example/2&modelBody=PASSO+-+M700A")
	rated := led(t, h, "/go", "u=https://cars.example/1&rate=2700")
	bid := asked(t, h, "/bid", "u=https://cars.example/2&target=30000000")
	for name, c := range map[string]struct {
		u1, u2 string
		want   []string
	}{
		"a link and a price of the visitor": {link, priced, []string{"USD 5,000 C&amp;F", "you gave", "has the freight in it", "not sure"}},
		"an answer by hand":                 {"http://example.com" + link, hand, []string{"USD 4,000 FOB", "you gave", "They differ most in"}},
		"a chosen entry":                    {chosen, link, []string{"Car 1: TOYOTA PASSO 2017", "Car 2: TOYOTA COROLLA FIELDER 2016"}},
		"another rate":                      {chosen, rated, []string{"Make them alike", "2700", "2650"}},
		"a highest price and a pasted text": {bid, "see http://example.com" + priced + " ok", []string{"seem to show the same car"}},
		"an answer and a link":              {priced, "https://cars.example/1", []string{"Car 2: TOYOTA COROLLA FIELDER 2016"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := pairs(t, h, c.u1, c.u2)
			body := shows(t, h, partOf(at, "", "en"), append(c.want, "On the road", "about", "Whole cost of car 1", `href="/e/`, "wa.me", "/c?u1=")...)
			if strings.Count(body, `<th scope="col">`) != 3 || strings.Count(body, "<details>") < 3 {
				t.Errorf("want two columns and folded details, got\n%s", body)
			}
			shows(t, h, partOf(at, "", "sw"), "Gari 1: TOYOTA", "Gari 2: TOYOTA", "Linganisha magari mengine")
			w := get(h, at, http.Header{"Accept": {"application/json"}})
			var c vehicle.Comparison
			if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || c.Verdict == nil {
				t.Errorf("got %v and %s, want the comparison", err, w.Body)
			}
		})
	}
}

func TestWhatCannotBeComparedIsSaidSo(t *testing.T) {
	t.Parallel()
	_, h := served(t, shop(t))
	link := led(t, h, "/go", "u=https://cars.example/1&price=5000")
	for name, c := range map[string]struct{ u1, u2, want string }{
		"the same answer":   {link, "http://example.com" + link, "Both lead to the same car"},
		"an expired answer": {link, "/e/AAAAAAAAAAAAAAAAAAAAAAAAAA", "Car 2: this answer is no longer kept"},
		"a forged price":    {strings.Replace(link, "5000", "50", 1), link, "Car 1: this answer is no longer kept"},
		"a sheet":           {asked(t, h, "/s", "u=https://cars.example/1.jpg"), link, "it is not about one car"},
		"another server":    {link, "http://elsewhere.example" + link, ""},
		"no words of a car": {link, "hello", "Car 2: this is not the link of a car"},
		"a sum":             {"30 million", link, "Car 1: this is not the link of a car"},
		"one car alone":     {link, "", "Please enter both cars"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := post(h, "/c", url.Values{"u1": {c.u1}, "u2": {c.u2}}.Encode(), http.Header{})
			if c.want == "" {
				if at := w.Header().Get("Location"); !strings.HasPrefix(at, "/c/") {
					t.Errorf("got %d %s, want the page of another server read as a listing", w.Code, at)
				}
				return
			}
			if body := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, c.want) {
				t.Errorf("got %d, want %q\n%s", w.Code, c.want, body)
			}
		})
	}
}

// A car that has no answer yet keeps the other one through each step to it.
func TestTheOtherCarIsKeptOnTheWay(t *testing.T) {
	t.Parallel()
	_, h := served(t, shop(t))
	link := led(t, h, "/go", "u=https://cars.example/1&price=5000")
	form := shows(t, h, "/c?"+url.Values{"u1": {link}}.Encode(), "Car 1: TOYOTA COROLLA FIELDER 2016", `data-field="u2"`, `method="post"`, `id="u2"`)
	if strings.Contains(form, `id="u1"`) {
		t.Errorf("the car that is known is asked for again\n%s", form)
	}
	shows(t, h, "/c", `data-field="u1"`, `method="get"`)
	if at := led(t, h, "/go", url.Values{"u": {"look: http://example.com" + link}}.Encode()); at != link {
		t.Errorf("a shared answer in the one field leads to %s, want %s", at, link)
	}

	at := pairs(t, h, link, "toyota axio 2019")
	shows(t, h, at, `name="with" value="`+strings.ReplaceAll(link, "&", "&amp;"), `id="year"`, `value="2019"`)
	if !strings.HasPrefix(at, "/hand?") {
		t.Errorf("got %s, want the form by hand", at)
	}
	end := led(t, h, "/hand", "make=TOYOTA&model=PASSO&year=2017&price=4000&basis=fob&with="+url.QueryEscape(link))
	shows(t, h, end, "Car 1: TOYOTA COROLLA FIELDER 2016", "Car 2: TOYOTA PASSO 2017")

	both := pairs(t, h, "toyota axio 2019", "toyota passo")
	half := led(t, h, "/hand", "make=TOYOTA&model=AXIO&year=2019&with=toyota+axio+2019")
	if w := get(h, half, nil); !strings.HasPrefix(both, "/hand?") || !strings.HasPrefix(w.Header().Get("Location"), "/c?u1=toyota+axio+2019&u2=") {
		t.Errorf("got %s, then %s; want the form with the car that is left", both, w.Header().Get("Location"))
	}

	for _, sides := range [][2]string{{link, "https://cars.example/gone"}, {"https://cars.example/gone", link}} {
		at := pairs(t, h, sides[0], sides[1])
		for w := get(h, at, nil); w.Code == http.StatusSeeOther; w = get(h, at, nil) {
			at = w.Header().Get("Location")
		}
		shows(t, h, at, "no longer on the site", "This car is to be compared with", strings.ReplaceAll(link, "&", "&amp;"))
	}
}

// An answer that is no longer kept leaves its field empty, so that the buttons of the cars that the
// visitor has looked at send the one that is picked alone.
func TestAnAddressThatIsGoneDoesNotStay(t *testing.T) {
	t.Parallel()
	_, h := served(t, shop(t))
	link := led(t, h, "/go", "u=https://cars.example/1&price=5000")
	const gone = "/e/AAAAAAAAAAAAAAAAAAAAAAAAAA"
	for name, c := range map[string]struct{ u1, u2, empty string }{
		"alone":          {gone, "", "u1"},
		"first":          {gone, link, "u1"},
		"second":         {link, gone, "u2"},
		"a sheet":        {link, asked(t, h, "/s", "u=https://cars.example/1.jpg"), "u2"},
		"a forged price": {link, strings.Replace(link, "5000", "50", 1), "u2"},
	} {
		body := get(h, "/c?"+url.Values{"u1": {c.u1}, "u2": {c.u2}}.Encode(), nil).Body.String()
		_, field, _ := strings.Cut(body, `id="`+c.empty+`"`)
		if field, _, _ = strings.Cut(field, ">"); !strings.Contains(field, `value=""`) || !strings.Contains(field, `aria-invalid="true"`) {
			t.Errorf("%s: got the field %q, want it empty and blamed\n%s", name, field, body)
		}
		if strings.Contains(body, gone) || !strings.Contains(body, "this answer is no longer kept") && name != "a sheet" {
			t.Errorf("%s: got the address again or no reason\n%s", name, body)
		}
	}
}

// A comparison names a car that an entry of the authority alone describes by that entry, as its
// answer does, and so do the forms for another car and another entry.
func TestACarOfAnEntryAloneHasAName(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathQuote {
			shop(t)(w, r)
			return
		}
		saying(estimate(t, func(e *vehicle.Estimate) {
			e.Car.Model, e.Car.Year, e.Matched.ModelBody, e.Input.URL = "", 2011, "IST - NCP110", ""
		}), nil)(w, r)
	})
	link := led(t, h, "/go", "u=https://cars.example/2")
	hand := led(t, h, "/hand", "make=TOYOTA&modelBody=IST+-+NCP110&year=2011&price=4000&basis=fob")
	shows(t, h, hand, "TOYOTA IST 2011")
	shows(t, h, partOf(hand, "/choose", "en"), "TOYOTA IST 2011", `value="IST"`)
	shows(t, h, "/c?"+url.Values{"u1": {hand}}.Encode(), "Car 1: TOYOTA IST 2011")
	shows(t, h, pairs(t, h, hand, link), "Car 1: TOYOTA IST</b>", "Car 1: TOYOTA IST 2011", "TOYOTA IST 2011 – TOYOTA PASSO 2017")
}

// A comparison says of the match of a page that was sent what the answer says, and asks for the car
// as it was read: the page cannot be read again.
func TestASentPageIsComparedAsItsAnswerSays(t *testing.T) {
	t.Parallel()
	cached, chosen := shop(t), answering(t, func(e *vehicle.Estimate) { e.Matched.MatchedBy = vehicle.ByCaller })
	pages, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == pathQuote {
			chosen(w, r)
			return
		}
		cached(w, r)
	})
	const ofPage, ofVisitor = "The match is that of the page you sent", "You chose it"
	sent, link := sendPage(t, h).Header().Get("Location"), led(t, h, "/go", "u=https://cars.example/2")
	another, _ := follow(t, h, sent+"?change=1&year=2014&freight=1300")
	picked := led(t, h, "/hand", "make=TOYOTA&modelBody=OTHER&matched=X&year=2014&price=4000&basis=cf")
	for _, sides := range [][2]string{{another, link}, {link, another}, {picked, link}} {
		want, not := ofPage, ofVisitor
		if sides[0] == picked {
			want, not = not, want
		}
		if body := shows(t, h, pairs(t, h, sides[0], sides[1]), want); strings.Contains(body, not) {
			t.Errorf("%v: got %q\n%s", sides, not, body)
		}
	}

	token := strings.TrimPrefix(sent, "/e/")
	made := time.Now().AddDate(0, 0, -10).Unix()
	if err := pages.links.Redis.HSet(t.Context(), links.Key(token), "made", made).Err(); err != nil {
		t.Fatal(err)
	}
	for _, sides := range [][2]string{{sent, link}, {link, sent}} {
		body := get(h, pairs(t, h, sides[0], sides[1]), nil).Body.String() // the sent one is older
		again := between(body, `class="note"><p>Figures of`, "</form>")
		for _, want := range []string{`action="/hand"`, `name="make" value="TOYOTA"`, `name="price"`, `name="year"`, `name="with" value="` + link} {
			if !strings.Contains(again, want) || strings.Contains(again, `name="u"`) {
				t.Errorf("%v: got the form that calculates again\n%s\nwant %s in it and no address of a page\n%s", sides, again, want, body)
			}
		}
	}
}
