package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// priced returns what computes the cost of an estimate again after a change.
func priced(change func(*vehicle.Estimate)) func(*vehicle.Estimate) {
	return func(e *vehicle.Estimate) {
		change(e)
		*e = cost.Embedded().Apply(*e, vehicle.Terms{}, time.Now())
	}
}

// between returns what stands in a page between two texts; "" without them.
func between(body, from, to string) string {
	_, after, _ := strings.Cut(body, from)
	found, _, _ := strings.Cut(after, to)
	return found
}

// Beside the number stands the one gravest doubt: what is grave of the car before a danger of the
// figures, and that before what a buyer should settle.
func TestTheGravestDoubtStandsBesideTheNumber(t *testing.T) {
	t.Parallel()
	flood := vehicle.Statement{Category: "flood", Level: "disqualify", Quote: "Flood damaged"}
	danger := message.New("warning/in_tanzania", nil)
	for name, c := range map[string]struct {
		change      func(*vehicle.Estimate)
		style, says string
	}{
		"a flood": {func(e *vehicle.Estimate) {
			e.Car.Condition, e.Warnings = []vehicle.Statement{flood}, []vehicle.Warning{danger}
		}, "danger", "Flood damaged"},
		"a danger": {func(e *vehicle.Estimate) { e.Warnings = []vehicle.Warning{danger} }, "danger", "in Tanzania already"},
		"no sheet": {func(*vehicle.Estimate) {}, "caution", "Nobody has shown"},
	} {
		_, h := served(t, answering(t, priced(c.change)))
		body := get(h, ask(t, h, "u=https://cars.example/1"), nil).Body.String()
		if one := between(body, `<p class="mind one">`, "</p>"); !strings.Contains(one, `<b class="`+c.style+`">`) || !strings.Contains(one, c.says) {
			t.Errorf("%s: got %q beside the number, want %q as %s", name, one, c.says, c.style)
		}
		if strings.Count(body, c.says) > 3 { // on the page, in the preview, for a messenger
			t.Errorf("%s: %q stands twice on the page\n%s", name, c.says, body)
		}
	}
}

// A substituted year and an entry that an AI chose are seen by everybody, and what is not sure has
// the reason of its doubt, not that of the code.
func TestADoubtfulMatchIsSeenWithItsReason(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, priced(func(e *vehicle.Estimate) {
		said := message.Say("match/code", message.Values{"code": "NKE165", "under": "COROLLA"})
		e.Matched.MatchedBy, e.Matched.Text, e.Matched.Confidence = vehicle.ByCode, &said, vehicle.Low
		e.Matched.Adjustments = []vehicle.Adjustment{vehicle.Adjusted("yom", 2016, 2015, "nearest_year", message.Values{"from": "2016", "to": "2015"})}
	})))
	body := get(h, ask(t, h, "u=https://cars.example/1"), nil).Body.String()
	entry := between(body, "TRA&#39;s entry</dt>", "</dd>")
	if !strings.Contains(entry, "not sure") || !strings.Contains(entry, "2015") || strings.Contains(entry, "listed once") {
		t.Errorf("got the entry %q, want that the year was substituted and no reason of certainty", entry)
	}
	if minded := between(body, `id="mind"`, "</section>"); !strings.Contains(minded, `<li class="caution">TRA has no entry for its year`) {
		t.Errorf("the substituted year is not among what to keep in mind: %q", minded)
	}
}

// The page says only of the authority's own figures that they are the authority's: its value, the
// taxes on that, and its lines.
func TestOnlyTheAuthoritysFiguresAreCalledItsOwn(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, priced(func(*vehicle.Estimate) {})))
	body := get(h, ask(t, h, "u=https://cars.example/1"), nil).Body.String()
	if says := between(body, "TRA&#39;s value of it</dt>", "</dd>"); !strings.Contains(says, "USD 4,510") || !strings.Contains(says, "TSh 13.8 million") {
		t.Errorf("got %q of TRA's value, want USD 4,510 and TSh 13.8 million of tax", says)
	}
	for _, want := range []string{
		"<td>4,512</td>", "<td>1,128</td>", "<td>282</td>", "<td>1,974</td>", "<td>1,483</td>", "<td>100,000</td>", "<td>13,807,283</td>",
	} {
		if lines := between(body, `<table class="taxes">`, "</table>"); !strings.Contains(lines, want) {
			t.Errorf("TRA's own lines lack %s: %s", want, lines)
		}
	}
	if price := between(body, "Price the page gives</dt>", "</dd>"); !strings.Contains(price, "USD 6,180") || !strings.Contains(price, "FOB") ||
		!strings.Contains(price, "cars.example") || !strings.Contains(price, "JPY 921,000") {
		t.Errorf("got %q of the price, want USD 6,180 FOB, where it was read, and the price in yen", price)
	}
}

// One amount has one rounding in every sentence: the number, its range and the taxes.
func TestAnAmountHasOneRounding(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, priced(func(*vehicle.Estimate) {})))
	body := get(h, ask(t, h, "u=https://cars.example/1"), nil).Body.String()
	seen := map[string]string{}
	for _, match := range regexp.MustCompile(`TSh ([0-9.]+) million`).FindAllStringSubmatch(body, -1) {
		digits := strings.ReplaceAll(match[1], ".", "")
		if len(digits) > 3 {
			t.Errorf("%s has more than three digits", match[0])
		}
		seen[digits] = match[0]
	}
	if len(seen) < 5 {
		t.Errorf("the page has %d sums", len(seen))
	}
}

// What is sent by WhatsApp and what a messenger shows of the link say what the page says: about, the
// range, the day, the one doubt, that figures are simulated and that it is no offer, in the language
// of the sender, and the link leads to that language.
func TestWhatIsSharedSaysWhatThePageSays(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, priced(func(e *vehicle.Estimate) {
		e.Car.Condition = []vehicle.Statement{{Category: "flood", Level: "disqualify", Quote: "Flood damaged"}}
	})))
	at := ask(t, h, "u=https://cars.example/1")
	for lang, wants := range map[string][]string{
		"en": {"about TSh ", " million to TSh ", "figures of ", "Flood damaged", "not our advice", "not by TRA", "?lang=en"},
		"sw": {"takriban TSh milioni ", " hadi TSh milioni ", "takwimu za tarehe ", "Flood damaged", "Hatushauri", "si ya TRA", "?lang=sw"},
	} {
		body := get(h, at+"?lang="+lang, nil).Body.String()
		text, err := url.QueryUnescape(strings.ReplaceAll(between(body, "https://wa.me/?text=", `"`), "&amp;", "&"))
		if err != nil {
			t.Fatal(err)
		}
		preview := between(body, `og:title" content="`, `"`) + between(body, `og:description" content="`, `"`) + between(body, `og:url" content="`, `"`)
		for _, want := range wants {
			for where, said := range map[string]string{"WhatsApp": text, "the preview": preview} {
				if !strings.Contains(said, want) {
					t.Errorf("%s, %s: no %q in %q", lang, where, want, said)
				}
			}
		}
	}
}

// The paper for the agent has what the agent asks for, on one page that folds nothing.
func TestThePaperForTheAgent(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, priced(func(e *vehicle.Estimate) { e.Car.FrameNumber = "NKE165-7161960" })))
	at := ask(t, h, "u=https://cars.example/1")
	for _, address := range []string{at + "/paper", strings.Replace(post(h, "/go", "u=https://cars.example/1&price=5000", http.Header{}).Header().Get("Location"), "?", "/paper?", 1)} {
		w := get(h, address, nil)
		body := w.Body.String()
		for _, want := range []string{"NKE165-7161960", "SIM-25264000001", "4,512", "13,807,283", "CIF", "About", at, `class="key car"`} {
			if w.Code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: got %d, want %q\n%s", address, w.Code, want, body)
			}
		}
		if strings.Contains(body, "<details") {
			t.Errorf("%s folds something", address)
		}
	}
	if w := get(h, "/e/AAAAAAAAAAAAAAAAAAAAAAAAAA/paper", nil); w.Code != http.StatusNotFound {
		t.Errorf("an unknown address: got %d, want 404", w.Code)
	}
}

// TestThePriceSaysWhereAndWhenItWasRead: on the site, under the number of the car, on a day.
func TestThePriceSaysWhereAndWhenItWasRead(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.StockNo, e.Car.ReadAt = "SM100001", "2026-11-20T10:11:12+03:00"
	}))
	at := ask(t, h, "u=https://cars.example/1")
	shows(t, h, at, "· cars.example SM100001 · ", "· read on 20 November 2026</small>")
	shows(t, h, at+"?lang=sw", "imesomwa tarehe 20 Novemba 2026")
}
