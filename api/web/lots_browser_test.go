package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// tableOfCars writes a table with links, a described car, a row that repeats another, and
// one that cannot be read.
func tableOfCars(t *testing.T, service *demo.Demo) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("Stock No,URL,Make,Model,Year,Fuel,FOB Price (USD),Colour <b>it\n")
	for i, car := range listingtest.Cars()[:3] {
		fmt.Fprintf(&table, "A%d,%s%s,,,,,,red\n", i, service.Site, car.Path())
	}
	fmt.Fprintf(&table, "A3,%s%s,,,,,,\n", service.Site, listingtest.Cars()[0].Path())
	table.WriteString("A4,,TOYOTA,PASSO,2018,petrol,4500,\n")
	table.WriteString("A5,http://169.254.169.254/,,,,,,\n")
	path := filepath.Join(t.TempDir(), "cars <i>.csv")
	if err := os.WriteFile(path, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lookAt sends a table, and waits for how it is understood.
func (b *browser) lookAt(table string) {
	b.t.Helper()
	b.run(chromedp.SetUploadFiles("#file", []string{table}), chromedp.Click("form.card button"))
	b.await(`document.getElementById("columns") && document.readyState === "complete"`)
}

// calculate starts the table without the rows that cannot be read, and waits for its end.
func (b *browser) calculate() {
	b.t.Helper()
	b.run(chromedp.Click(`input[name=skip]`), chromedp.Click("form.card > button"))
	b.await(`document.getElementById("rows") && !document.querySelector("[data-reload]") && document.readyState === "complete"`)
}

// stays is true when the page of a running batch is there, and will not load itself again.
const stays = `document.querySelector("[data-reload]") && document.readyState === "complete" &&
	(() => { for (let timer = setTimeout(() => {}); timer; timer--) clearTimeout(timer); return true; })()`

// TestKeysAloneCalculateATable has the operator log in, and calculate a table, without a
// mouse: only the file is chosen for the browser, whose own window for it is not a page. What
// stands there while it runs, and after an error, is accessible.
func TestKeysAloneCalculateATable(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	dir, car := t.TempDir(), "URL\n"+service.Site+listingtest.Cars()[0].Path()+"\n"
	table, short, empty := filepath.Join(dir, "cars.csv"), filepath.Join(dir, "short.csv"), filepath.Join(dir, "empty.csv")
	for name, text := range map[string]string{
		table: car + service.Site + "/slow\nhttp://169.254.169.254/\n", short: car, empty: "nothing\nhere\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.view(360, "light")
	b.run(chromedp.Navigate(service.URL + "/lots?lang=en"))
	b.tabTo("Console")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.await(`document.getElementById("password") && document.readyState === "complete"`)
	b.tabTo("#name")
	b.run(chromedp.KeyEvent(demo.OperatorUser))
	b.tabTo("#password")
	b.run(chromedp.KeyEvent(service.Password), chromedp.KeyEvent(kb.Enter))
	b.await(`location.pathname === "/lots" && document.readyState === "complete"`)

	b.run(chromedp.SetUploadFiles("#file", []string{empty}))
	b.press("Look at the table", `document.querySelector("[role=alert]")`)
	b.accessible("an error", "en", 1280, "dark")
	if said := b.text(`document.querySelector("[role=alert]").textContent`); !strings.Contains(said, "in the first row") {
		t.Errorf("a table without a header: %s", said)
	}
	b.run(chromedp.SetUploadFiles("#file", []string{table}))
	b.press("Look at the table", `document.getElementById("columns")`)
	b.tabTo("checkbox skip")
	b.run(chromedp.KeyEvent(" "))
	b.press("Calculate (2)", stays)
	batch := b.text("location.origin + location.pathname")
	b.accessible("running", "en", 360, "light")
	b.run(chromedp.Navigate(batch + "?lang=sw"))
	b.await(stays)
	b.checkSwahili()
	b.accessible("running", "sw", 1280, "dark")
	b.run(chromedp.Navigate(batch + "?lang=en"))
	b.await(stays)
	b.press("Cancel the rest", `document.getElementById("rows") && !document.querySelector('form[action$="/cancel"]')`)

	b.run(chromedp.Navigate(service.URL+"/lots"), chromedp.SetUploadFiles("#file", []string{short}))
	b.press("Look at the table", `document.getElementById("columns")`)
	b.press("Calculate (1)", `document.querySelector("b.sum") && !document.querySelector("[data-reload]")`)
	b.tabTo("Excel")
	b.tabTo("CSV")
	b.tabTo("#sort")
	b.run(chromedp.KeyEvent(kb.ArrowDown))
	b.press("Show", `location.search.includes("onTheRoad")`)
	b.accessible("finished", "en", 1280, "dark")
	b.run(chromedp.Navigate(service.URL + "/lots"))
	b.press("Log out", `location.pathname === "/console/login"`)
	b.run(chromedp.Navigate(batch))
	b.await(`document.getElementById("key")`)
}

// press presses a button by the keyboard, and waits for what comes of it.
func (b *browser) press(button, comes string) {
	b.t.Helper()
	b.tabTo(button)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.await(comes + ` && document.readyState === "complete"`)
}

// accessible checks the page as it is.
func (b *browser) accessible(what, lang string, width int64, scheme string) {
	b.t.Helper()
	b.view(width, scheme)
	if found := b.Violations("best-practice"); len(found) > 0 {
		b.t.Errorf("%s, %s, %d px, %s:\n%s", what, lang, width, scheme, strings.Join(found, "\n"))
	}
	if got := b.text("document.documentElement.lang"); got != lang {
		b.t.Errorf("%s is in %s, want %s", what, got, lang)
	}
	b.shoot(fmt.Sprintf("lots-%s-%s-%d-%s", strings.ReplaceAll(what, " ", "-"), lang, width, scheme))
}

// TestADealerCalculatesATable follows a dealer from the key to the results, in both
// languages, on a phone and on a desk, light and dark.
func TestADealerCalculatesATable(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	table := tableOfCars(t, service)
	b.view(360, "light")
	b.run(chromedp.Navigate(service.URL + "/lots?lang=sw"))
	b.shoot("lots-login-sw")
	b.checkLots(service, "sw")
	b.run(chromedp.SendKeys("#key", service.Key), chromedp.Click("form.card button"))
	b.await(`document.getElementById("file") && document.readyState === "complete"`)
	for _, l := range looks() {
		b.view(l.width, l.scheme)
		b.run(chromedp.Navigate(service.URL + "/lots?lang=" + l.lang))
		b.shoot("lots-home-" + l.String())
		b.check(service.URL)
		b.lookAt(table)
		b.shoot("lots-preview-" + l.String())
		b.checkLots(service, l.lang)
		b.calculate()
		b.run(chromedp.SetValue("#sort", "onTheRoad"), chromedp.Click("form[method=get] button"))
		b.await(`location.search.includes("onTheRoad") && document.readyState === "complete"`)
		b.shoot("lots-batch-" + l.String())
		b.checkLots(service, l.lang)
	}
	if rows := b.text(`document.querySelectorAll(".wide tbody tr").length`); rows != "6" {
		t.Errorf("the batch shows %s rows", rows)
	}
	for format, begin := range map[string]string{"xlsx": "PK", "csv": "\uFEFF"} {
		var got string
		b.run(chromedp.Evaluate(`fetch(document.querySelector('a[href*="format=`+format+`"]').href).then(r => r.arrayBuffer())`+
			`.then(data => new TextDecoder("utf-8", {ignoreBOM: true}).decode(data).slice(0, 2))`, &got,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		if !strings.HasPrefix(strings.ToLower(got), strings.ToLower(begin)) {
			t.Errorf("%s begins with %q", format, got)
		}
	}
	if seen := b.text(`document.cookie + document.documentElement.outerHTML`); strings.Contains(seen, service.Key) || strings.Contains(seen, "k=") {
		t.Error("the page can read the key")
	}
	b.run(chromedp.Navigate(service.URL+"/lots"), chromedp.Click(`form[action="/lots/logout"] button`))
	b.await(`document.getElementById("key")`)
}

// checkLots checks a page of batches.
func (b *browser) checkLots(service *demo.Demo, lang string) {
	b.t.Helper()
	b.check(service.URL)
	if lang == "sw" {
		b.checkSwahili()
	}
}

// TestATableWithoutJavaScript follows the same dealer with a browser that runs no scripts.
func TestATableWithoutJavaScript(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	b.run(emulation.SetScriptExecutionDisabled(true))
	b.run(chromedp.Navigate(service.URL+"/lots"), chromedp.SendKeys("#key", service.Key), chromedp.Click("form.card button"),
		chromedp.WaitVisible("#file"), chromedp.SetUploadFiles("#file", []string{tableOfCars(t, service)}),
		chromedp.Click("form.card button"), chromedp.WaitVisible("#columns"), chromedp.Click(`input[name=skip]`),
		chromedp.Click("form.card button"), chromedp.WaitVisible(`form[action$="/cancel"], form[action$="/retry"], ul.parts`),
		chromedp.WaitNotPresent("progress"), chromedp.WaitVisible("b.sum"))
	b.check(service.URL)
}
