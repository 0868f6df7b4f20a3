package web_test

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/testenv/browsertest"
)

var shots = flag.String("shots", "", "folder for pictures of the pages")

// start starts the demo, whose figures are simulated.
func start(t *testing.T) *demo.Demo {
	t.Helper()
	conn := redistest.Embedded(t)
	service, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	return service
}

// browser is a tab of a real Chromium. It records what the pages complain of and load.
type browser struct {
	*browsertest.Tab

	t *testing.T
}

// open starts Chromium with an empty tab.
func open(t *testing.T, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	return &browser{browsertest.Open(t, more...), t}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	b.Run(actions...)
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	return b.Text(expression)
}

func (b *browser) view(width int64, scheme string) {
	b.t.Helper()
	b.View(width, scheme)
}

func (b *browser) await(expression string) {
	b.t.Helper()
	b.Await(expression)
}

// shoot writes a picture of the page when the flag is set.
func (b *browser) shoot(name string) {
	b.t.Helper()
	b.Shoot(*shots, name)
}

func (b *browser) check(home string) {
	b.t.Helper()
	b.Check(home)
}

// ask pastes the link of a car into the form, and waits for what the page says at the
// end.
func (b *browser) ask(home, link string) {
	b.t.Helper()
	b.run(chromedp.Navigate(home), chromedp.SendKeys("#u", link), chromedp.Click("form button"))
	b.await(`location.pathname.startsWith("/e/") && document.readyState === "complete" && !document.getElementById("steps")`)
}

// look is how a buyer sees a page.
type look struct {
	lang   string
	width  int64
	scheme string
}

func (l look) String() string { return fmt.Sprintf("%s-%d-%s", l.lang, l.width, l.scheme) }

// looks are both languages on a phone and on a desk, light and dark; in the short tier each
// of these once.
func looks() (list []look) {
	if !testenv.IsLong() {
		return []look{{"en", 1280, "light"}, {"sw", 360, "dark"}}
	}
	for _, lang := range []string{"en", "sw"} {
		for _, width := range []int64{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				list = append(list, look{lang, width, scheme})
			}
		}
	}
	return list
}

// TestABuyerSeesTheCost follows a buyer from the link to the number, in both languages,
// on a phone and on a desk, light and dark, and measures what a visit loads.
func TestABuyerSeesTheCost(t *testing.T) {
	service, b := start(t), open(t)
	link := service.Site + listingtest.Cars()[0].Path()

	b.view(360, "light")
	b.ask(service.URL+"/?lang=en", link)
	b.await(`!document.querySelector("[data-reading]")`) // until what its sheet says stands there too
	b.checkBudget(service.URL)
	if said := b.text(`document.getElementById("doubt").textContent`); !strings.Contains(said, "Auction sheet: ") || !strings.Contains(said, "grade 4.5") {
		t.Errorf("the answer says of its sheet: %q", said)
	}
	address := b.text("location.href")
	for _, l := range looks() {
		b.view(l.width, l.scheme)
		b.run(chromedp.Navigate(address+"?lang="+l.lang), chromedp.WaitVisible("#number"))
		b.checkAnswer(l.lang, l.width)
		b.shoot("answer-" + l.String())
		b.run(chromedp.Navigate(service.URL + "/"))
		b.shoot("home-" + l.String())
		b.check(service.URL)
	}
	if n := b.text(`document.querySelectorAll("#history a").length`); n != "1" {
		t.Errorf("the history has %s entries", n)
	}
}

// checkAnswer checks the number: what it says, and that it is seen without scrolling.
func (b *browser) checkAnswer(lang string, width int64) {
	b.t.Helper()
	number := b.text(`document.getElementById("number").textContent`)
	if want := map[string]string{"en": " million", "sw": "TSh milioni "}[lang]; !strings.Contains(number, want) {
		b.t.Errorf("the number is %q in %s", number, lang)
	}
	bottom := b.text(`Math.round(document.getElementById("number").getBoundingClientRect().bottom)`)
	var at int
	if _, err := fmt.Sscan(bottom, &at); err != nil || width == 360 && at > 400 {
		b.t.Errorf("the number ends %s px from the top, want at most 400", bottom)
	}
	if lang == "sw" {
		b.checkSwahili()
	}
}

// checkSwahili checks that the page has no sentence in English.
func (b *browser) checkSwahili() {
	b.t.Helper()
	said := b.text(`(() => { const copy = document.body.cloneNode(true);
		copy.querySelectorAll('[lang=en], cite, h1, .facts').forEach(e => e.remove()); return copy.textContent; })()`)
	for word := range strings.FieldsSeq(strings.ToLower(said)) {
		if slices.Contains([]string{"the", "of", "and", "is", "are", "you", "your", "to", "from", "with"}, strings.Trim(word, ".,:;()")) {
			b.t.Errorf("the Swahili page says %q", word)
		}
	}
}

// Budgets of a visit in bytes as they came over the line, headers included.
const (
	maxHome   = 8 << 10
	maxAnswer = 12 << 10
	maxVisit  = 16 << 10
	maxScript = 4 << 10 // of all scripts of the visit
	maxStyle  = 4 << 10
)

// checkBudget checks what the visit so far has loaded.
func (b *browser) checkBudget(home string) {
	b.t.Helper()
	total, start := 0.0, 0.0
	kinds, asked := map[string]float64{}, map[string]bool{}
	for _, load := range b.Loads() {
		address, size := strings.TrimPrefix(load.URL, home), load.Bytes
		b.t.Logf("%6.0f bytes %s", size, address)
		if strings.HasSuffix(load.URL, "/doubts") && asked[load.URL] { // again, while the sheet is read: as often as that takes
			continue
		}
		asked[load.URL] = true
		total += size
		kinds[path.Ext(address)] += size
		if !strings.HasPrefix(address, "/e/") && address != "/go" && !strings.HasPrefix(address, "/s/") &&
			!strings.HasPrefix(address, "/static/wait.") {
			start += size
		}
		if strings.HasPrefix(address, "/e/") && size > maxAnswer {
			b.t.Errorf("%s has %.0f bytes, want at most %d", address, size, maxAnswer)
		}
	}
	if start > maxHome {
		b.t.Errorf("the start page loaded %.0f bytes, want at most %d", start, maxHome)
	}
	if scripts, styles := kinds[".js"], kinds[".css"]; scripts == 0 || scripts > maxScript || styles == 0 || styles > maxStyle {
		b.t.Errorf("the visit loaded %.0f bytes of scripts and %.0f of styles, want at most %d and %d", scripts, styles, maxScript, maxStyle)
	}
	if total > maxVisit {
		b.t.Errorf("the visit loaded %.0f bytes, want at most %d", total, maxVisit)
	}
}

// TestThePagesWorkWithoutJavaScript follows the same buyer with a browser that runs no
// scripts.
func TestThePagesWorkWithoutJavaScript(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	b.run(emulation.SetScriptExecutionDisabled(true))
	b.run(chromedp.Navigate(service.URL+"/"), chromedp.SendKeys("#u", service.Site+listingtest.Cars()[1].Path()),
		chromedp.Click("form button"), chromedp.WaitVisible("#number"))
	b.check(service.URL)
	b.showPictures() // from the seller's site
}

// TestThePageOfEveryState shows what the demo's site and TRA can do to a buyer.
func TestThePageOfEveryState(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	for name, path := range map[string]string{
		"blocked": "/blocked", "gone": "/gone", "sold": "/sold", "not-a-car": "/nothing-here",
		"no-price": "/stock/toyota-corolla-axio/9200002", "no-year": "/stock/toyota-roomy/9200004",
		"ambiguous": "/stock/nissan-note/9200003",
	} {
		b.ask(service.URL+"/?lang=sw", service.Site+path)
		b.checkSwahili()
		b.shoot("state-" + name + "-sw")
		b.run(chromedp.Navigate(b.text("location.pathname ? location.origin + location.pathname : ''") + "?lang=en"))
		b.shoot("state-" + name + "-en")
		b.check(service.URL)
	}
	b.run(chromedp.Navigate(service.URL+"/?lang=en"), chromedp.SendKeys("#u", "toyota\r"))
	b.await(`document.getElementById("model")`)
	b.shoot("hand-2")
	b.run(chromedp.SetValue("#model", "PASSO"), chromedp.Click(`form:has(#model) button`))
	b.await(`document.getElementById("year")`)
	b.shoot("hand-3")
	b.run(chromedp.SendKeys("#year", "2009"), chromedp.SendKeys("#price", "USD 4,500"), chromedp.Click("input[value=fob]"), chromedp.Click("main form button"))
	b.await(`location.pathname.startsWith("/e/") && document.readyState === "complete" && !document.getElementById("steps")`)
	b.shoot("hand-codes")
	b.run(chromedp.Click(`input[name=modelBody]`), chromedp.Click("form.card button"))
	b.await(`document.getElementById("number") && document.readyState === "complete"`)
	b.shoot("hand-answer")
	if heading := b.text(`document.querySelector("h1").textContent`); !strings.Contains(heading, "TOYOTA") {
		t.Errorf("the heading after the form by hand: %q", heading)
	}
	b.check(service.URL)
}

// download returns what an address of the demo's site has.
func download(t *testing.T, address string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, response.Status, err)
	}
	return data
}
