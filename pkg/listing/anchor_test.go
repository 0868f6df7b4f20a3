package listing

import (
	"strings"
	"testing"
)

// suggestions are cars that a page suggests in boxes that no class name tells apart.
const suggestions = `<div class="cars"><h3>Customers also viewed</h3><div class="item"><a href="/toyota/vitz/qx999111/id/90099111/">2013 TOYOTA VITZ</a>
	<p class="vehicle-price"><span class="price">$3,333</span></p></div></div>`

func TestASuggestionsPriceIsNeverTheCars(t *testing.T) {
	t.Parallel()
	own := `<p class="vehicle-price"><span class="currency-label"></span><span class="price ip-usd-price"><s>$4,990</s> $4,350</span></p>`
	for name, changes := range map[string][]string{
		"on request":          {`<s>$4,990</s> $4,350`, `ASK`},
		"no amount":           {`<s>$4,990</s> $4,350`, ``},
		"no price":            {own, ``, ` data-display-current-price="4350"`, ``},
		"no price, and above": {own, ``, ` data-display-current-price="4350"`, ``, `<h1>`, suggestions + `<h1>`},
	} {
		markup := replaced(t, fixture(t, "beforward.html"), append(changes, "</body>", suggestions+"</body>")...)
		l := read(t, markup, beForwardURL)
		if l.Car.FOBPriceUSD != nil || l.Car.AskingPrice != nil {
			t.Errorf("%s: got the price %s, want none", name, amountOf(l.Car.AskingPrice))
		}
	}
}

func TestAPriceNeedsAnAnchorOfTheCar(t *testing.T) {
	t.Parallel()
	const facts = `<table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>VITZ</td></tr><tr><th>Model Code</th><td>DBA-NSP130</td></tr>` +
		`<tr><th>Year of manufacture</th><td>2012/05</td></tr>ROW</table>`
	const heading = `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1>`
	table := func(row string) string { return strings.Replace(facts, "ROW", row, 1) }
	for _, c := range []struct{ name, page, want string }{
		{"in the table", heading + table(`<tr><th>Price</th><td>US$ 3,500</td></tr>`), "3500"},
		{"in a box beside the heading", heading + `<div><span>Price</span> <b>US$ 3,500</b></div>` + table(""), "3500"},
		{"ends of a slider before the car", `<div><div>Price</div><div>US$ 1,200</div><div>US$ 48,000</div></div>` + heading + table(""), "null"},
		{"ends of a slider beside the car", heading + table("") + `<div class="refine"><p>Price</p><p>US$ 1,200</p></div>`, "null"},
		{"car of the week above", `<div><h2>Car of the week</h2><p>Price: US$ 4,000</p></div>` + heading + table(""), "null"},
		{"car of the week below", heading + table("") + `<p><b>Car of the Week</b></p><div>Price: US$ 4,000</div>`, "null"},
		{"behind another car", heading + table("") + `<h2>Similar cars</h2><p>NISSAN NOTE</p><div><div>Price: US$ 4,000</div></div>`, "null"},
		{"on request, and another sum", heading + table(`<tr><th>Price</th><td>ASK</td></tr>`) + `<div>Price: US$ 4,000</div>`, "null"},
		{"call, in a box", heading + `<div><span>Price</span> <b>Call for details</b></div>` + table("") + `<div>FOB Price: US$ 4,000</div>`, "null"},
		{"on request, and markup", heading + table(`<tr><th>Price</th><td>Contact us</td></tr>`) + schemaPage(`{"@type":"Car","name":"TOYOTA VITZ","offers":{"price":"4000","priceCurrency":"USD"}}`), "null"},
		{"you pay", heading + table(`<tr><th>Price</th><td>US$ 4,000</td></tr><tr><th>You pay</th><td>US$ 3,500</td></tr>`), "3500"},
		{"after a discount, in another box", heading + `<div>After discount: US$ 3,500</div>` + table(`<tr><th>Price</th><td>US$ 4,000</td></tr>`), "3500"},
		{"list price and price", heading + table(`<tr><th>List price</th><td>US$ 4,000</td></tr><tr><th>Price</th><td>US$ 3,500</td></tr>`), "3500"},
		{"old and new side by side", heading + `<div><span>Price</span> <s>US$ 4,000</s> <b>US$ 3,500</b></div>` + table(""), "3500"},
	} {
		l := read(t, c.page, "https://cars.example.com/stock/70021")
		if got := amountOf(l.Car.FOBPriceUSD); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
