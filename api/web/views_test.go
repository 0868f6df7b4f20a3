package web_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// view is a page as people see it, once.
type view struct {
	name    string
	english bool                                        // it is for programmers
	foreign bool                                        // the controls are of a library: only WCAG binds them
	path    string                                      // of the page
	car     string                                      // path of a listing whose link is asked for; the page is that of its answer
	then    string                                      // what is added to the path of the answer: /choose
	made    func(b *browser, service *demo.Demo) string // makes the page and returns its address; nil for none
	do      func(b *browser, service *demo.Demo)        // what leads from there to the view; nil for nothing
}

// views are all views of the pages. A new page is a line here: then it is accessible in
// both languages, light and dark, on small screens.
var views = []view{
	{name: "home", path: "/"},
	{name: "home filled", path: "/?u=https://cars.example/1"},
	{name: "home with history", path: "/?u=", do: func(b *browser, _ *demo.Demo) { b.Await(`!document.getElementById("history").hidden`) }},
	{name: "a bad link", path: "/", do: func(b *browser, _ *demo.Demo) {
		b.Run(chromedp.SendKeys("#u", "ftp://cars.example/1\r"))
		b.Await(`document.activeElement.id === "problem"`)
	}},
	{name: "nothing there", path: "/e/AAAAAAAAAAAAAAAAAAAAAAAAAA"},
	{name: "extension", path: "/extension"},
	{name: "about", path: "/about"},
	{name: "hand, make", path: "/hand"},
	{name: "hand, model", path: "/hand?make=TOYOTA"},
	{name: "hand, nothing found", path: "/hand?make=TOYOTA&q=zzzz"},
	{name: "hand, last step", path: "/hand?make=TOYOTA&q=passo&year=2018"},
	{name: "several cars", path: "/", do: func(b *browser, _ *demo.Demo) {
		b.Run(chromedp.SendKeys("#u", "https://cars.example/1 https://cars.example/2\r"))
		b.Await(`document.activeElement.id === "problem"`)
	}},
	{name: "answer", car: "/toyota/corolla-axio/sm100001/id/9100001/"},
	{name: "answer unfolded", car: "/toyota/corolla-axio/sm100001/id/9100001/", do: func(b *browser, _ *demo.Demo) {
		b.Text(`document.querySelectorAll("details").forEach(part => { part.open = true; })`)
	}},
	{name: "answer, a bad figure", car: "/toyota/corolla-axio/sm100001/id/9100001/", do: func(b *browser, _ *demo.Demo) {
		b.Run(chromedp.Click("#change > summary"), chromedp.SetValue("#price", "?"), chromedp.Click("#change form button"))
		b.Await(`document.activeElement.id === "problem"`)
	}},
	{name: "paper", car: "/toyota/corolla-axio/sm100001/id/9100001/", then: "/paper"},
	{name: "answer with pictures", car: "/toyota/corolla-axio/sm100001/id/9100001/", then: "?pictures=1"},
	{name: "choose", car: "/toyota/corolla-axio/sm100001/id/9100001/", then: "/choose"},
	{name: "choose, nothing found", car: "/toyota/corolla-axio/sm100001/id/9100001/", then: "/choose?q=zzzz"},
	{name: "price missing", car: "/stock/toyota-corolla-axio/9200002"},
	{name: "ambiguous", car: "/stock/nissan-note/9200003"},
	{name: "year missing", car: "/stock/toyota-roomy/9200004"},
	{name: "blocked", car: "/blocked"},
	{name: "gone", car: "/gone"},
	{name: "sold", car: "/sold"},
	{name: "not a car", car: "/nothing-here"},
	{name: "docs", path: "/docs", english: true},
	{name: "compare", path: "/c?u1=https://cars.example/1"},
	{name: "bid", path: "/bid"},
	{name: "bill", path: "/bill"},
	{name: "a checked bill", made: func(b *browser, s *demo.Demo) string {
		return b.send(s.URL+"/bill", "bill", [2]string{"u", s.Site + listingtest.Cars()[0].Path()}, [2]string{"text", "Wharfage 900,000"})
	}},
	{name: "sheet", path: "/s"},
	{name: "comparison", made: func(b *browser, s *demo.Demo) string {
		return b.send(s.URL+"/c", "c", [2]string{"u1", s.Site + listingtest.Cars()[0].Path()}, [2]string{"u2", s.Site + listingtest.Cars()[1].Path()})
	}},
	{name: "highest price", made: func(b *browser, s *demo.Demo) string {
		return b.send(s.URL+"/bid", "bid", [2]string{"u", s.Site + listingtest.Cars()[0].Path()}, [2]string{"target", "40,000,000"})
	}},
	{name: "report of a sheet", made: func(b *browser, s *demo.Demo) string {
		return b.send(s.URL+"/s", "s", [2]string{"u", s.Site + carsWithSheets()[0].Sheet()})
	}},
	{name: "table, key", path: "/lots", do: func(b *browser, _ *demo.Demo) {
		if b.Text(`!document.getElementById("key")`) == "true" {
			b.Run(chromedp.Click(`form[action="/lots/logout"] button`))
		}
		b.Await(`document.getElementById("key") && document.readyState === "complete"`)
	}},
	{name: "table", path: "/lots", do: func(b *browser, s *demo.Demo) {
		b.Run(chromedp.SendKeys("#key", s.Key), chromedp.Click("form.card button"))
		b.Await(`document.getElementById("file") && document.readyState === "complete"`)
	}},
	{name: "table, columns", path: "/lots", do: func(b *browser, s *demo.Demo) { b.lookAt(tableOfCars(b.t, s)) }},
	{name: "table, results", path: "/lots", do: func(b *browser, s *demo.Demo) {
		b.lookAt(tableOfCars(b.t, s))
		b.calculate()
	}},
	{name: "docs, try it out", path: "/docs/api/", english: true, foreign: true, do: func(b *browser, _ *demo.Demo) {
		b.await(`document.querySelectorAll(".opblock").length > 20`)
	}},
}

var allLooks = flag.Bool("looks", false, "check every view in four ways, not in two")

// TestEveryViewIsAccessible checks WCAG 2.0 to 2.2, A and AA, in every view.
func TestEveryViewIsAccessible(t *testing.T) {
	testenv.Long(t)
	service, b := start(t), open(t)
	addresses := b.addressesOf(service)
	checked := []struct {
		lang, scheme string
		width        int64
	}{{"en", "light", 360}, {"sw", "dark", 320}, {"sw", "light", 360}, {"en", "dark", 320}}
	if !*allLooks {
		checked = checked[:2] // each language, scheme and width once
	}
	for _, look := range checked {
		for i, v := range views {
			b.View(look.width, look.scheme)
			b.see(service, v, addresses[i], look.lang)
			practice := []string{"best-practice"}
			if v.foreign {
				practice = nil
			}
			if found := b.Violations(practice...); len(found) > 0 {
				t.Errorf("%s, %s, %s, %d px:\n%s", v.name, look.lang, look.scheme, look.width, strings.Join(found, "\n"))
			}
			if wide := b.Text(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide != "0" {
				t.Errorf("%s, %s, %d px: scrolls sideways by %s px", v.name, look.lang, look.width, wide)
			}
			if size := b.Text(smallTargets); size != "" && !v.foreign {
				t.Errorf("%s, %s, %d px: too small to be pressed: %s", v.name, look.lang, look.width, size)
			}
			b.Shoot(*shots, fmt.Sprintf("view-%s-%s-%s-%d", strings.ReplaceAll(v.name, " ", "-"), look.lang, look.scheme, look.width))
		}
	}
}

// smallTargets names the controls that are less than 44 px high; links within sentences
// may be as high as their line.
const smallTargets = `[...document.querySelectorAll("button, .button, input:not([type=hidden]):not([type=radio]):not([type=checkbox]), select, textarea, summary, header a")]
	.filter(part => part.checkVisibility() && part.getBoundingClientRect().height < 44)
	.map(part => part.outerHTML.slice(0, 80)).join(", ")`

// addressesOf asks for all cars, and returns the address of each view.
func (b *browser) addressesOf(service *demo.Demo) []string {
	b.t.Helper()
	answers := map[string]string{}
	addresses := make([]string, len(views))
	for i, v := range views {
		if v.made != nil {
			addresses[i] = v.made(b, service)
			continue
		}
		if v.car == "" {
			addresses[i] = service.URL + v.path
			continue
		}
		if answers[v.car] == "" {
			b.ask(service.URL+"/", service.Site+v.car)
			answers[v.car] = service.URL + b.Text("location.pathname")
		}
		addresses[i] = answers[v.car] + v.then
	}
	return addresses
}

// see leads to a view in a language.
func (b *browser) see(service *demo.Demo, v view, address, lang string) {
	b.t.Helper()
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	b.Run(chromedp.Navigate(address + mark + "lang=" + lang))
	if v.do != nil {
		v.do(b, service)
	}
	if got := b.Text("document.documentElement.lang"); got != lang && !v.english {
		b.t.Errorf("%s is in %s, want %s", v.name, got, lang)
	}
}
