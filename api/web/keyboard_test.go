package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// tabOrders are the controls of the pages in the order in which the key Tab reaches
// them, in English. Each page begins with the skip link, the name and the language, and
// ends with the foot.
var tabOrders = map[string][]string{
	"home":            {"#u", "Show the cost", "#file", "Send the file", "Auction sheet", "Compare two cars", "Check a bill", "Describe the car yourself", "What may I bid?", "A whole list of cars"},
	"extension":       {"Download the extension", "Another car"},
	"hand, make":      {"#make", "Next"},
	"hand, model":     {"another make", "#q", "Find", "#model", "Next"},
	"hand, last step": {"another car", "#year", "#cc", "#fuel", "#price", "radio basis", "Calculate"},
	"answer": {
		"See the sheet", "Ask the seller", "#send", "Choose another", "Change a figure", "TRA's own lines, and those to expect", "The message to send",
		"What you pay when", "Every line", "Not included", "Before you pay", "The same car, made in another year", "Cost by month of landing",
		"Show pictures (3)", "Notes about these figures",
	},
	"choose, nothing found": {"#q", "Find", "Back to the answer"},
	"price missing": {
		"Ask the seller", "#send", "#asked", "radio basis", "Calculate", "Choose another", "Change a figure",
		"TRA's own lines, and those to expect", "The message to send", "What you pay when", "Every line", "Not included", "Before you pay",
		"Notes about these figures",
	},
	"year missing": {"#missing", "Calculate", "Page of the car", "Another car"},
	"ambiguous": {
		"radio modelBody", "Calculate with this one", "See all of TRA's list for this make", "Page of the car", "Another car",
	},
	"compare": {"#u1", "#u2", "Compare"},
	"bid":     {"#u", "#target", "Find the highest price"},
	"bill":    {"#text", "#u", "Check the bill"},
	"sheet":   {"#file", "Read the sheet", "#u", "Read the sheet"},
	"comparison": {
		"Send by WhatsApp", "Car 1: TOYOTA COROLLA AXIO 2019", "Car 2: TOYOTA PASSO 2013", "How they compare",
	},
	"highest price": {
		"#target", "Calculate with this sum", "Choose another", "Show the whole cost", "Send by WhatsApp", "Print or PDF", "Compare with …", "Page of the car", "Another car",
	},
	"report of a sheet": {
		"The car unfolded with the codes of its damage; the list below says the same in words.",
		"Show the sheet beside it",
		"Identity", "Condition outside", "Inside", "Mechanical and underside", "Repair and accident evidence", "Mileage evidence", "Equipment and documents", "What could not be read",
		"The message to send",
		"Page of the car", "Send by WhatsApp", "Print or PDF", "Picture of the sheet", "Another sheet or picture", "Another car",
	},
	"blocked": {"Button for your browser", "Describe the car yourself", "Page of the car", "Another car"},
	"gone":    {"Page of the car", "Another car"},
}

// focused describes what has the focus.
const focused = `(e => e === document.body ? "" : ["radio", "checkbox"].includes(e.type) ? e.type + " " + e.name : e.id ? "#" + e.id : e.textContent.trim() || (e.querySelector("img") || {}).alt)(document.activeElement)`

// isMarked reports whether the focus is seen: an outline of 3 px.
const isMarked = `(style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 3)(getComputedStyle(document.activeElement))`

// TestTabReachesEverythingInOrder presses Tab from the first control to the last.
func TestTabReachesEverythingInOrder(t *testing.T) {
	testenv.Long(t)
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
		want = slices.Concat([]string{"Skip to the content", "Ushuru", "Kiswahili"}, want, []string{"Who runs this", "For programmers"})
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
	testenv.Long(t)
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
	chosen := ""
	for range 30 { // to the wagon with the same chassis: not every entry has an engine of this size
		b.Run(chromedp.KeyEvent(kb.ArrowDown))
		if chosen = b.Text(`document.activeElement.value`); strings.Contains(chosen, "NKE165 - HYBRID - WAGON") {
			break
		}
	}
	b.tabTo("Calculate with this one")
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.Await(`location.pathname !== "` + first + `" && document.getElementById("number")`)
	if said := b.Text(`document.querySelector("main").textContent`); !strings.Contains(said, chosen) {
		t.Errorf("the answer is not that of %q", chosen)
	}
	b.tabTo("#send")

	site := service.Site
	car, sheet := site+listingtest.Cars()[0].Path(), site+carsWithSheets()[0].Sheet()
	b.keysAlone(service.URL+"/c", "c", [2]string{"#u1", car}, [2]string{"#u2", site + listingtest.Cars()[1].Path()})
	b.keysAlone(service.URL+"/bid", "bid", [2]string{"#u", car}, [2]string{"#target", "40,000,000"})
	b.keysAlone(service.URL+"/s", "s", [2]string{"#u", sheet})
}

// keysAlone fills the fields of a form and sends it with Enter: first with a value in the
// last one that is wrong, then with the right one.
func (b *browser) keysAlone(form, kind string, fields ...[2]string) {
	b.t.Helper()
	b.Run(chromedp.Navigate(form + "?lang=en"))
	for i, field := range fields {
		b.tabTo(field[0])
		if i == len(fields)-1 {
			field[1] = "ftp://cars.example/1"
		}
		b.Run(chromedp.KeyEvent(field[1]))
	}
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.Await(`document.activeElement.getAttribute("role") === "alert"`)
	last := fields[len(fields)-1]
	b.tabTo(last[0])
	b.Run(chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), chromedp.KeyEvent(last[1]), chromedp.KeyEvent(kb.Enter))
	b.Await(ended(kind))
	if b.Text(`document.querySelectorAll("main h1").length`) != "1" {
		b.t.Errorf("%s leads to no page", form)
	}
	b.tabTo("Send by WhatsApp")
}
