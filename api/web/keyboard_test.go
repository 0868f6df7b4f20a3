package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ushuru/pkg/listing/listingtest"
)

// tabOrders are the controls of the pages in the order in which the key Tab reaches
// them, in English. Each page begins with the skip link, the name and the language, and
// ends with the foot.
var tabOrders = map[string][]string{
	"home":            {"#u", "Show the cost", "Compare two cars", "What may I bid?", "Auction sheet", "Describe the car yourself", "A whole list of cars"},
	"extension":       {"Download the extension", "Another car"},
	"hand, make":      {"#make", "Next"},
	"hand, entry":     {"#q", "Find", "radio modelBody", "Next", "Start again"},
	"hand, last step": {"#year", "#cc", "#fuel", "#price", "radio basis", "Calculate", "Start again"},
	"answer": {
		"As a message", "Every line", "Every month", "Choose another", "Show pictures (3, about 100 KB)", "Notes about these figures",
		"Send by WhatsApp", "Print or PDF", "Compare two cars", "What may I bid?", "Auction sheet", "Page of the car", "Another car",
	},
	"choose, nothing found": {"#q", "Find", "Back to the answer"},
	"price missing": {
		"#price", "radio basis", "Calculate", "As a message", "Every line", "Choose another", "Notes about these figures",
		"Send by WhatsApp", "Print or PDF", "Compare two cars", "What may I bid?", "Page of the car", "Another car",
	},
	"year missing": {"#missing", "Calculate", "Page of the car", "Another car"},
	"ambiguous": {
		"radio modelBody", "Calculate with this one", "See all of TRA's list for this make", "Page of the car", "Another car",
	},
	"blocked": {"Button for your browser", "Describe the car yourself", "Page of the car", "Another car"},
	"gone":    {"Page of the car", "Another car"},
}

// focused describes what has the focus.
const focused = `(e => e === document.body ? "" : e.type === "radio" ? "radio " + e.name : e.id ? "#" + e.id : e.textContent.trim())(document.activeElement)`

// isMarked reports whether the focus is seen: an outline of 3 px.
const isMarked = `(style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 3)(getComputedStyle(document.activeElement))`

// TestTabReachesEverythingInOrder presses Tab from the first control to the last.
func TestTabReachesEverythingInOrder(t *testing.T) {
	service, b := start(t), open(t)
	b.View(360, "light")
	addresses := b.addressesOf(service)
	for name, want := range tabOrders {
		i := slices.IndexFunc(views, func(v view) bool { return v.name == name })
		if i < 0 {
			t.Errorf("no view %q", name)
			continue
		}
		b.Run(chromedp.Evaluate(`localStorage.clear()`, nil))
		b.see(service, views[i], addresses[i], "en")
		want = slices.Concat([]string{"Skip to the content", "Ushuru", "Kiswahili"}, want, []string{"For programmers"})
		// Which warnings have more to say depends on the season.
		got := slices.DeleteFunc(b.tabs(), func(at string) bool { return at == "More" })
		if !slices.Equal(got, want) {
			t.Errorf("%s: the order is\n%q, want\n%q", name, got, want)
		}
	}
}

// tabs presses Tab until the focus leaves the page, and returns what had it.
func (b *browser) tabs() (reached []string) {
	b.t.Helper()
	for range 100 {
		b.Run(chromedp.KeyEvent(kb.Tab))
		at := b.Text(focused)
		if at == "" || len(reached) > 0 && at == reached[0] {
			return reached
		}
		if b.Text(isMarked) != "true" {
			b.t.Errorf("the focus on %q is not seen", at)
		}
		reached = append(reached, at)
	}
	b.t.Fatalf("Tab never leaves the page: %q", reached)
	return nil
}

// tabTo presses Tab until something has the focus.
func (b *browser) tabTo(what string) {
	b.t.Helper()
	var passed []string
	for range 60 {
		b.Run(chromedp.KeyEvent(kb.Tab))
		at := b.Text(focused)
		if at == what {
			return
		}
		passed = append(passed, at)
	}
	b.t.Fatalf("Tab does not reach %q, but %q", what, passed)
}

// TestKeysAloneLeadToAnAnswer does everything without a mouse: a bad link, a good one,
// the answer, another entry of the list, and the answer to that.
func TestKeysAloneLeadToAnAnswer(t *testing.T) {
	service, b := start(t), open(t)
	b.View(360, "light")
	b.Run(chromedp.Navigate(service.URL + "/?lang=en"))

	// The skip link is seen when it has the focus, and passes the header.
	b.Run(chromedp.KeyEvent(kb.Tab))
	if at := b.Text(focused + ` + " " + (document.activeElement.getBoundingClientRect().left >= 0)`); at != "Skip to the content true" {
		t.Errorf("first: %s", at)
	}
	b.Run(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if at := b.Text(focused); at != "#u" {
		t.Errorf("after the skip link: %s", at)
	}

	b.Run(chromedp.KeyEvent("ftp://cars.example/1"), chromedp.KeyEvent(kb.Enter))
	b.Await(`document.activeElement.getAttribute("role") === "alert"`)
	b.tabTo("#u")
	if kept := b.Text(`document.getElementById("u").value`); kept != "ftp://cars.example/1" {
		t.Errorf("the field has lost what was typed: %q", kept)
	}

	b.Run(chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), // Ctrl+A
		chromedp.KeyEvent(service.Site+listingtest.Cars()[0].Path()), chromedp.KeyEvent(kb.Enter))
	b.Await(`document.getElementById("number")`)
	first := b.Text("location.pathname")

	b.tabTo("Choose another")
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.Await(`location.pathname.endsWith("/choose")`)
	b.tabTo("radio modelBody")
	b.Run(chromedp.KeyEvent(kb.ArrowDown))
	chosen := b.Text(`document.activeElement.value`)
	b.tabTo("Calculate with this one")
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.Await(`location.pathname !== "` + first + `" && document.getElementById("number")`)
	if said := b.Text(`document.querySelector("main").textContent`); !strings.Contains(said, chosen) {
		t.Errorf("the answer is not that of %q", chosen)
	}
	b.tabTo("Send by WhatsApp")
}
