package listing

import (
	"strings"
	"testing"
)

// What a page hides is not on it: a veil that says SOLD, a price of a form, a heading or a
// table of facts of another state of the page.
func TestWhatIsHiddenIsNotOnThePage(t *testing.T) {
	t.Parallel()
	const price = "<tr><th>FOB Price</th><td>US$ 2,350</td></tr>"
	for name, c := range map[string]struct {
		head, rows, other, fob string
		sold                   bool
	}{
		"veil, attribute":           {other: `<div hidden><p>SOLD</p></div>`, rows: price, fob: "2350"},
		"veil, class":               {other: `<div class="veil is-hidden"><p>This car has been sold</p></div>`, rows: price, fob: "2350"},
		"veil, style sheet":         {head: `<style>.veil{display:none}</style>`, other: `<div class="veil"><b>SOLD OUT</b></div>`, rows: price, fob: "2350"},
		"veil that is lifted":       {head: `<style>.veil{display:none}.veil.on{display:block}</style>`, other: `<div class="veil on"><b>SOLD OUT</b></div>`, rows: price, fob: "null", sold: true},
		"heading, class":            {other: `<h1 class="d-none">SOLD</h1>`, rows: price, fob: "2350"},
		"price, class":              {rows: `<tr class="hidden"><th>FOB Price</th><td>US$ 9,990</td></tr>` + price, fob: "2350"},
		"price, style sheet":        {head: `<style>#old td{visibility:hidden}</style>`, rows: `<tr id="old"><th>FOB Price</th><td>US$ 9,990</td></tr>` + price, fob: "2350"},
		"price on wide screens":     {rows: `<tr class="d-none d-md-table-row"><th>FOB Price</th><td>US$ 2,350</td></tr>`, fob: "2350"},
		"retail words of the foot":  {other: `<div hidden>plus sales tax</div>`, rows: strings.Replace(price, "FOB ", "", 1) + "<tr><th>Location</th><td>Thailand</td></tr>", fob: "2350"},
		"retail words of the page":  {other: `<div>plus sales tax</div>`, rows: strings.Replace(price, "FOB ", "", 1) + "<tr><th>Location</th><td>Thailand</td></tr>", fob: "null"},
		"dollars of a hidden box":   {other: `<div hidden>All prices in AUD</div>`, rows: "<tr><th>FOB Price</th><td>$ 2,350</td></tr>", fob: "null"},
		"dollars of the page":       {other: `<div>All prices in USD</div>`, rows: "<tr><th>FOB Price</th><td>$ 2,350</td></tr>", fob: "2350"},
		"dollars of a script alone": {other: `<script>var currency="USD"</script>`, rows: "<tr><th>FOB Price</th><td>$ 2,350</td></tr>", fob: "null"},
	} {
		markup := c.head + strings.NewReplacer("PRICE", c.rows, "OTHER", c.other).Replace(ownCar)
		l := read(t, markup, "https://cars.example.com/toyota/passo/70021")
		if got := amountOf(l.Car.FOBPriceUSD); got != c.fob || l.Sold != c.sold {
			t.Errorf("%s: got FOB %s, sold %t; want %s, %t; %+v", name, got, l.Sold, c.fob, c.sold, l.Warnings)
		}
	}
}
