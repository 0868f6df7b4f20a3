package web_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ushuru/api/web"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/localtime"
	"ushuru/pkg/testenv"
)

// ended is true when a page of a kind shows what came of the work.
func ended(kind string) string {
	return fmt.Sprintf(`location.pathname.startsWith("/%s/") && document.readyState === "complete" && !document.getElementById("steps")`, kind)
}

// send fills in the fields of a form by their ids, sends it, and waits for what the page
// says at the end. It returns the address without its query.
func (b *browser) send(form, kind string, fields ...[2]string) string {
	b.t.Helper()
	b.run(chromedp.Navigate(form))
	for _, f := range fields {
		b.run(chromedp.SetValue("#"+f[0], f[1]))
	}
	b.run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById(%q).form.querySelector("button").click()`, fields[0][0]), nil))
	b.await(ended(kind))
	return b.text("location.href")
}

// sendFile sends a file as an auction sheet.
func (b *browser) sendFile(home, file string) string {
	b.t.Helper()
	b.run(chromedp.Navigate(home+"/s"), chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("form button"))
	b.await(ended("s"))
	return b.text("location.href")
}

// sheetFile writes the sheet of a car of the demo into a file, as a phone would have it.
func sheetFile(t *testing.T, service *demo.Demo) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sheet.jpg")
	if err := os.WriteFile(path, download(t, service.Site+carsWithSheets()[0].Sheet()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// carsWithSheets returns the cars of the demo that have an auction sheet.
func carsWithSheets() (list []listingtest.Car) {
	for _, car := range listingtest.Cars() {
		if car.Sheet() != "" {
			list = append(list, car)
		}
	}
	return list
}

// TestComparisonSheetAndBidInEveryForm follows a buyer who compares two cars, has an
// auction sheet read, by its link and by a photo, and looks for a price.
func TestComparisonSheetAndBidInEveryForm(t *testing.T) {
	service, b := start(t), open(t)
	b.view(360, "light")
	pages := b.newPages(service)
	for _, l := range looks() {
		b.view(l.width, l.scheme)
		for name, address := range pages {
			b.run(chromedp.Navigate(web.PartOf(address, "", l.lang)))
			b.await(`document.readyState === "complete" && [...document.images].every(i => i.complete && i.naturalWidth)`)
			b.check(service.URL)
			b.checkHeadings(name)
			if l.lang == "sw" {
				b.checkSwahili()
			}
			if name == "comparison" {
				b.checkColumns(name)
			}
			b.shoot(name + "-" + l.String())
		}
	}
	b.checkSizes(service.URL)
	b.run(chromedp.Navigate(service.URL + "/"))
	if n := b.text(`document.querySelectorAll("#history a").length`); n != "4" {
		t.Errorf("the history has %s entries, want the comparison, the bid and two sheets", n)
	}
	for address := range strings.Lines(b.text(`[...document.querySelectorAll("#history a")].map(a => a.href).join("\n")`)) {
		download(t, strings.TrimSpace(address)) // with its terms
	}
}

// newPages returns the addresses of the forms, and of what comes of them.
func (b *browser) newPages(service *demo.Demo) map[string]string {
	b.t.Helper()
	cars := carsWithSheets()
	first, second := service.Site+cars[0].Path(), service.Site+cars[1].Path()
	pages := map[string]string{
		"compare-form": service.URL + "/c", "sheet-form": service.URL + "/s", "bid-form": service.URL + "/bid",
		"comparison": b.send(service.URL+"/c", "c", [2]string{"u1", first}, [2]string{"u2", second}),
		"bid":        b.send(service.URL+"/bid", "bid", [2]string{"u", first}, [2]string{"target", "40,000,000"}),
		"sheet":      b.send(service.URL+"/s", "s", [2]string{"u", service.Site + cars[0].Sheet()}),
		"upload":     b.sendFile(service.URL, sheetFile(b.t, service)),
	}
	pages["choose"] = web.PartOf(pages["bid"], "/choose", "en")
	return pages
}

// TestComparisonSheetAndBidAreAccessible holds them to what all views are held to.
func TestComparisonSheetAndBidAreAccessible(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	for name, address := range b.newPages(service) {
		for lang, scheme := range map[string]string{"en": "light", "sw": "dark"} {
			b.view(320, scheme)
			b.run(chromedp.Navigate(web.PartOf(address, "", lang)))
			if found := b.Violations(); len(found) > 0 {
				t.Errorf("%s, %s: %s", name, lang, strings.Join(found, "\n"))
			}
			if size := b.text(smallTargets); size != "" {
				t.Errorf("%s, %s: too small to be pressed: %s", name, lang, size)
			}
			b.check(service.URL)
		}
	}
}

// checkHeadings checks that the page has one h1, and skips no level.
func (b *browser) checkHeadings(name string) {
	b.t.Helper()
	levels := b.text(`[...document.querySelectorAll("h1,h2,h3,h4")].map(h => h.tagName[1]).join("")`)
	last := '0'
	for _, level := range levels {
		if level > last+1 {
			b.t.Errorf("%s: the headings have the levels %s", name, levels)
		}
		last = level
	}
	if strings.Count(levels, "1") != 1 {
		b.t.Errorf("%s: the headings have the levels %s", name, levels)
	}
}

// checkColumns checks that two cars stand beside each other, and that what is not folded fits on two
// screens of a phone.
func (b *browser) checkColumns(name string) {
	b.t.Helper()
	at := b.text(`(() => {
		const [, first, second] = [...document.querySelectorAll(".two thead th")].map(head => head.getBoundingClientRect());
		const end = document.querySelector("main .actions").getBoundingClientRect().bottom + scrollY;
		return first.right <= second.left + 1 && second.right <= innerWidth && (innerWidth > 360 || end <= 2 * 640) ? "" : [first.right, second.left, second.right, end].join(", ");
	})()`)
	if at != "" {
		b.t.Errorf("%s: the columns and the end of the page are at %s, want two beside each other within two screens", name, at)
	}
}

// checkSizes checks that no page is larger than an answer may be.
func (b *browser) checkSizes(home string) {
	b.t.Helper()
	for _, load := range b.Loads() {
		if load.Bytes > maxAnswer && !strings.Contains(load.URL, "map.svg") {
			b.t.Errorf("%s has %.0f bytes, want at most %d", strings.TrimPrefix(load.URL, home), load.Bytes, maxAnswer)
		}
	}
}

// TestComparisonSheetAndBidWithoutJavaScript follows the same buyer with a browser that
// runs no scripts, from one page to the next by links and buttons only.
func TestComparisonSheetAndBidWithoutJavaScript(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	cars := carsWithSheets()
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(service.URL+"/"))
	b.run(chromedp.SendKeys("#u", service.Site+cars[0].Path()), chromedp.Click("form button"), chromedp.WaitVisible("#number"))

	b.run(chromedp.Click(".menu > summary"), chromedp.Click(`a[href^="/bid?"]`), chromedp.WaitVisible("#target"), chromedp.SendKeys("#target", "40000000"),
		chromedp.Click("form button"), chromedp.WaitVisible(`#target[value="40,000,000"]`))
	b.check(service.URL)

	b.run(chromedp.Navigate(service.URL+"/c?"+url.Values{"u1": {service.Site + cars[0].Path()}}.Encode()),
		chromedp.SendKeys("#u2", service.Site+cars[1].Path()), chromedp.Click("main form:first-of-type button"), chromedp.WaitVisible("table.two"))
	b.check(service.URL)

	b.run(chromedp.Navigate(service.URL+"/"), chromedp.SendKeys("#u", service.Site+cars[0].Path()), chromedp.Click("form button"),
		chromedp.WaitVisible("#number"), chromedp.Click("#change > summary"), chromedp.SetValue("#price", "USD 5,000"),
		chromedp.Click("#change form button"))
	b.await(`location.search.includes("sig=") && document.readyState === "complete"`)
	b.run(chromedp.Click(".menu > summary"), chromedp.Click(`a[href^="/c?"]`), chromedp.WaitVisible("#u2"),
		chromedp.SendKeys("#u2", "toyota passo 2014"), chromedp.Click("main form:first-of-type button"), chromedp.WaitVisible("#year"),
		chromedp.SendKeys("#cc", "996"), chromedp.SendKeys("#price", "3000"), chromedp.Click("input[value=fob]"), chromedp.Click("main form button"),
		chromedp.WaitVisible("input[name=modelBody]"), chromedp.Click("input[name=modelBody]"), chromedp.Click("form.card button"), chromedp.WaitVisible("table.two"))
	b.checkColumns("without scripts")
	b.check(service.URL)

	b.run(chromedp.Navigate(service.URL+"/s"), chromedp.SetUploadFiles("#file", []string{sheetFile(t, service)}),
		chromedp.Click("form button"), chromedp.WaitVisible("img.map"))
	b.check(service.URL)
}

// TestTheStatesOfComparisonSheetAndBid shows what can go wrong, and the way on.
func TestTheStatesOfComparisonSheetAndBid(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	car := service.Site + listingtest.Cars()[0].Path()
	note := filepath.Join(t.TempDir(), "note.jpg")
	if err := os.WriteFile(note, []byte("not a picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"compare-gone":  b.send(service.URL+"/c?lang=sw", "c", [2]string{"u1", car}, [2]string{"u2", service.Site + "/gone"}),
		"bid-blocked":   b.send(service.URL+"/bid", "bid", [2]string{"u", service.Site + "/blocked"}, [2]string{"target", "30000000"}),
		"bid-ambiguous": b.send(service.URL+"/bid", "bid", [2]string{"u", service.Site + "/stock/nissan-note/9200003"}, [2]string{"target", "30000000"}),
		"bid-low":       b.send(service.URL+"/bid", "bid", [2]string{"u", car}, [2]string{"target", "1000000"}),
		"sheet-none":    b.sendFile(service.URL, note),
	} {
		for _, lang := range []string{"en", "sw"} {
			b.run(chromedp.Navigate(web.PartOf(address, "", lang)))
			if lang == "sw" {
				b.checkSwahili()
			}
			b.check(service.URL)
			b.checkHeadings(name)
			b.shoot("state-" + name + "-" + lang)
			if ways := b.text(`document.querySelectorAll("main a.button, main form").length`); ways == "0" {
				t.Errorf("%s is a dead end", name)
			}
		}
	}
}

// TestWhatLeavesTheAnswer checks what a buyer takes along: the sum before the taxes rise,
// a message for the seller, one for friends, and a print.
func TestWhatLeavesTheAnswer(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	b.view(360, "light")
	axio := service.Site + carsWithSheets()[0].Path()
	b.ask(service.URL+"/?lang=en", axio)
	if _, month, _ := localtime.Of(time.Now()).Date(); month >= time.October {
		if said := b.text(`document.querySelector("main").textContent`); !strings.Contains(said, "If it lands by 31 December") {
			t.Error("the page does not say what the car costs before the taxes rise")
		}
	}
	share := b.text(`document.querySelector('a[href^="https://wa.me/"]').href`)
	said, err := url.QueryUnescape(share)
	if err != nil || !strings.Contains(said, "TOYOTA COROLLA AXIO 2019: about TSh ") || !strings.Contains(said, "SIMULATED") ||
		!strings.HasSuffix(said, "\n"+b.text("location.href")+"?lang=en") {
		t.Errorf("WhatsApp: %s", said)
	}
	b.run(chromedp.Evaluate(`document.getElementById("message").closest("details").open = true`, nil), chromedp.Click("[data-copy]"))
	b.await(`document.querySelector("[data-copy]").textContent === "Copied"`)
	if message := b.text(`document.getElementById("message").value`); !strings.Contains(message, axio) || !strings.Contains(message, "1. ") {
		t.Errorf("the message for the seller: %s", message)
	}
	b.run(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	if folded := b.text(`document.querySelectorAll("details:not([open])").length`); folded != "0" {
		t.Errorf("%s parts stay folded on paper", folded)
	}
	var paper []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		paper, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if len(paper) < 5<<10 || len(paper) > 300<<10 {
		t.Errorf("the print has %d bytes", len(paper))
	}
	b.check(service.URL)
	b.showPictures() // from the seller's site
}

// showPictures presses the link that shows the pictures of the car, and waits until the
// browser has loaded them from the site.
func (b *browser) showPictures() {
	b.t.Helper()
	want := b.text(`document.querySelector('a[href^="?pictures=1"]').textContent.match(/[0-9]+/)[0]`)
	b.run(chromedp.Click(`a[href^="?pictures=1"]`))
	b.await(`document.querySelectorAll(".pictures img").length === ` + want + ` &&
		[...document.images].every(image => image.complete && image.naturalWidth > 300)`)
}
