package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ushuru/pkg/demo"
	"ushuru/pkg/testenv"
	"ushuru/pkg/testenv/browsertest"
)

// views are the pages of the console. A new one is a line here.
var views = []string{
	"/console?still", "/console/do/key-new", "/console/do/site-pause", "/console/do/ai-budget", "/console/do/authority-sync",
}

func TestEveryViewIsAccessible(t *testing.T) {
	testenv.Long(t)
	s := start(t)
	s.batch(2)
	b := browsertest.Open(t)
	check := func(view, scheme string) {
		t.Helper()
		if found := b.Violations("best-practice"); len(found) > 0 {
			t.Errorf("%s, %s:\n%s", view, scheme, strings.Join(found, "\n"))
		}
		b.Check(s.URL)
	}
	b.View(360, "dark")
	b.Run(chromedp.Navigate(s.URL + "/console/login"))
	check("login", "dark")
	b.Run(chromedp.SendKeys("#name", demo.OperatorUser), chromedp.SendKeys("#password", s.Password), chromedp.Submit("#password"))
	b.Await(`document.querySelectorAll("main section").length === 10`)
	for scheme, width := range map[string]int64{"light": 360, "dark": 1280} {
		b.View(width, scheme)
		for _, view := range views {
			b.Run(chromedp.Navigate(s.URL + view))
			check(view, scheme)
		}
	}
}
