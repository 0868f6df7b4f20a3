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

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
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

// TestADealerCalculatesATable follows a dealer from the key to the results, in both
// languages, on a phone and on a desk, light and dark.
func TestADealerCalculatesATable(t *testing.T) {
	service, b := start(t), open(t)
	table := tableOfCars(t, service)
	b.view(360, "light")
	b.run(chromedp.Navigate(service.URL + "/lots?lang=sw"))
	b.shoot("lots-login-sw")
	b.checkLots(service, "sw")
	b.run(chromedp.SendKeys("#key", service.Key), chromedp.Click("form.card button"))
	b.await(`document.getElementById("file") && document.readyState === "complete"`)
	for _, lang := range []string{"en", "sw"} {
		for _, width := range []int64{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				name := fmt.Sprintf("%s-%d-%s", lang, width, scheme)
				b.view(width, scheme)
				b.run(chromedp.Navigate(service.URL + "/lots?lang=" + lang))
				b.shoot("lots-home-" + name)
				b.check(service.URL)
				b.run(chromedp.SetUploadFiles("#file", []string{table}), chromedp.Click("form.card button"))
				b.await(`document.getElementById("columns") && document.readyState === "complete"`)
				b.shoot("lots-preview-" + name)
				b.checkLots(service, lang)
				b.run(chromedp.Click(`input[name=skip]`), chromedp.Click("form.card button"))
				b.await(`document.getElementById("rows") && !document.querySelector("[data-reload]") && document.readyState === "complete"`)
				b.run(chromedp.SetValue("#sort", "onTheRoad"), chromedp.Click("form[method=get] button"))
				b.await(`location.search.includes("onTheRoad") && document.readyState === "complete"`)
				b.shoot("lots-batch-" + name)
				b.checkLots(service, lang)
			}
		}
	}
	if rows := b.text(`document.querySelectorAll("#rows ~ .lines li").length`); rows != "6" {
		t.Errorf("the batch shows %s rows", rows)
	}
	for format, begin := range map[string]string{"xlsx": "PK", "csv": "\uFEFF", "html": "<!"} {
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
