package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// TestABuyerChangesTheAnswer follows a buyer who enters a price, a freight and the agent's fee as
// people say them, makes a mistake, and goes back: with scripts, without, and with scripts that
// never arrive. The mistake stands in the language to which the buyer switches.
func TestABuyerChangesTheAnswer(t *testing.T) {
	service := start(t)
	ways := map[string][]chromedp.Action{
		"with scripts":    nil,
		"without scripts": {emulation.SetScriptExecutionDisabled(true)},
		"scripts that fail to load": {
			network.Enable(), network.SetBlockedURLs([]string{"*/static/*.js"}),
		},
	}
	if !testenv.IsLong() {
		delete(ways, "scripts that fail to load")
	}
	for way, prepare := range ways {
		for _, lang := range []string{"en", "sw"} {
			t.Run(way+", "+lang, func(t *testing.T) {
				b := open(t)
				b.view(360, "light")
				b.run(prepare...)
				b.run(chromedp.Navigate(service.URL+"/?lang="+lang), chromedp.SendKeys("#u", service.Site+listingtest.Cars()[0].Path()),
					chromedp.Click("form button"), chromedp.WaitVisible("#number"))
				own := b.text(`document.getElementById("number").textContent`)
				b.run(chromedp.Click("#change > summary"), chromedp.SetValue("#price", "bei poa"), chromedp.Click("#change form button"),
					chromedp.WaitVisible("#problem"))
				b.run(chromedp.Click("header a[hreflang]"), chromedp.WaitVisible(`#price[aria-invalid][value="bei poa"]`))
				b.run(chromedp.Click("header a[hreflang]"), chromedp.WaitVisible(`html[lang=`+lang+`] #price[aria-invalid]`))
				b.run(chromedp.SetValue("#price", "USD 5,000"), chromedp.SetValue("#freight", "1,200"), chromedp.SetValue("#agent", "laki 5"),
					chromedp.Click("#change form button"))
				b.await(`location.search.includes("sig=") && document.readyState === "complete"`)
				if changed := b.text(`document.getElementById("number").textContent`); changed == own {
					t.Errorf("the number is still %s", changed)
				}
				if tags := b.text(`document.querySelectorAll(".why .tag").length`); tags != "3" {
					t.Errorf("%s figures are marked as the buyer's, want 3", tags)
				}
				b.shoot("changed-" + lang)
				b.run(chromedp.Click("#change > summary"), chromedp.Click(`#change a.button`))
				b.await(`location.search === "" && document.readyState === "complete"`)
				if back := b.text(`document.getElementById("number").textContent`); back != own {
					t.Errorf("got %s after the way back, want %s", back, own)
				}
			})
		}
	}
}

// TestAnswerOnPaper checks what a printer gets of the answer and of the paper for the agent: that
// figures are simulated in black, the key of the colours, the address, and nothing folded or to be
// pressed.
func TestAnswerOnPaper(t *testing.T) {
	service, b := start(t), open(t)
	b.view(360, "light")
	b.ask(service.URL+"/?lang=en", service.Site+listingtest.Cars()[0].Path())
	at := b.text("location.origin + location.pathname")
	for _, path := range []string{"", "/paper"} {
		b.run(chromedp.Navigate(at+path), emulation.SetEmulatedMedia().WithMedia("print"))
		for what, expression := range map[string]string{
			"the banner is black":  `getComputedStyle(document.querySelector(".banner")).color === "rgb(0, 0, 0)"`,
			"the key is printed":   `getComputedStyle(document.querySelector(".key")).printColorAdjust === "exact"`,
			"the address is there": fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, at),
			"the lines are there":  `[...document.querySelectorAll(".lines li")].some(row => row.getBoundingClientRect().height > 0)`,
			"nothing is pressed":   `[...document.querySelectorAll("button, .actions")].every(part => !part.checkVisibility())`,
			"no offer":             `document.body.innerText.includes("not an offer")`,
			"about":                `document.body.innerText.includes("About")`,
		} {
			if got := b.text(expression); got != "true" {
				t.Errorf("%q: not so: %s", path, what)
			}
		}
		b.shoot("print" + strings.ReplaceAll(path, "/", "-"))
		b.run(emulation.SetEmulatedMedia().WithMedia(""))
	}
	b.check(service.URL)
}
