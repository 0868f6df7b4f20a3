package listing

import (
	"strings"
	"testing"
)

// ownCar is a page of a Passo. PRICE is its row of a price, OTHER what follows.
const ownCar = `<title>2012 TOYOTA PASSO</title><div id="main"><h1>2012 TOYOTA PASSO</h1><table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>PASSO</td></tr>
<tr><th>Model Code</th><td>DBA-KGC30</td></tr><tr><th>YOM</th><td>2012</td></tr><tr><th>Engine Size</th><td>996cc</td></tr>PRICE</table></div>OTHER`

func TestAPriceOfAnotherCarNeverFillsTheGap(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"card with a link":          `<div><a href="/stock/toyota/vitz/70022"><img src="1.jpg">2010 TOYOTA VITZ</a><p>Price: US$ 9,990</p></div>`,
		"card with a link inside":   `<div class="x"><p>Price: US$ 9,990</p><a href="/stock/toyota/passo/70022">Details</a></div>`,
		"link alone":                `<p><a href="/stock/nissan/note/70023">NISSAN NOTE</a> Price: US$ 9,990</p>`,
		"aside":                     `<aside><p>Price: US$ 9,990</p></aside>`,
		"footer":                    `<footer><p>Price: US$ 9,990</p></footer>`,
		"class similar":             `<div class="similar-cars"><p>Price: US$ 9,990</p></div>`,
		"class suggested":           `<div id="suggest_box"><dl><dt>Price</dt><dd>US$ 9,990</dd></dl></div>`,
		"heading similar":           `<h2>Similar cars</h2><div><p>Price: US$ 9,990</p></div>`,
		"heading in a box":          `<div><div class="head"><h3>You may also like</h3></div><div><p>Price: US$ 9,990</p></div></div>`,
		"bold heading":              `<p><b>More from this seller</b></p><dl><dt>Price</dt><dd>US$ 9,990</dd></dl>`,
		"heading in Kiswahili":      `<h3>Magari mengine</h3><p>Price: US$ 9,990</p>`,
		"heading in French":         `<h3>Véhicules similaires</h3><p>Price: US$ 9,990</p>`,
		"heading in Japanese":       `<h3>おすすめの車</h3><p>Price: US$ 9,990</p>`,
		"heading in Russian":        `<h3>Похожие автомобили</h3><p>Price: US$ 9,990</p>`,
		"list of three":             `<ul>` + strings.Repeat(`<li><img src="a.jpg"><span>Price</span> <span>US$ 9,990</span></li>`, 3) + `</ul>`,
		"boxes of three":            `<div>` + strings.Repeat(`<div class="card"><a href="#"><img src="a.jpg"></a><p>Price: US$ 9,990</p></div>`, 3) + `</div>`,
		"table of other cars":       `<table><tr><th>Model</th><th>Price</th></tr><tr><td>VITZ</td><td>US$ 9,990</td></tr><tr><td>NOTE</td><td>US$ 8,990</td></tr></table>`,
		"table of one other car":    `<table><tr><th>Model</th><td>VITZ</td></tr><tr><th>YOM</th><td>2008</td></tr><tr><th>Price</th><td>US$ 9,990</td></tr></table>`,
		"named box":                 `<div><h4>NISSAN NOTE</h4><p>Price: US$ 9,990</p></div>`,
		"another model of the make": `<div><h4>2011 TOYOTA VITZ</h4><p>Price: US$ 9,990</p></div>`,
		"named in bold":             `<p><b>MAZDA DEMIO</b><br>Price: US$ 9,990<br>YOM: 2009</p>`,
		"picture":                   `<div><img src="x.jpg" alt="HONDA FIT 2014"><span>Price</span><span>US$ 9,990</span></div>`,
		"JSON-LD of another":        schemaPage(`{"@type":"Car","url":"/stock/toyota/vitz/70022","brand":"Toyota","model":"Vitz","offers":{"@type":"Offer","price":9990,"priceCurrency":"USD"}}`)[len("<title>x</title>"):],
		"JSON-LD without a link":    schemaPage(`{"@type":"Car","brand":"Toyota","model":"Vitz","offers":{"@type":"Offer","price":9990,"priceCurrency":"USD"}}`)[len("<title>x</title>"):],
		"microdata of another":      `<div itemscope itemtype="http://schema.org/Car"><b itemprop="name">NISSAN NOTE</b><i itemprop="offers" itemscope itemtype="http://schema.org/Offer"><b itemprop="price">9990</b><b itemprop="priceCurrency">USD</b></i></div>`,
		"struck out":                `<p>Price: <s>US$ 9,990</s></p>`,
		"struck by class":           `<p>Price: <span class="price-old">US$ 9,990</span></p>`,
		"a month":                   `<p>Price: US$ 9,990 per month</p>`,
		"a month, beside":           `<div><span>Price</span><span>US$ 990</span><span>/ month</span></div>`,
		"from":                      `<p>Price: from US$ 9,990</p>`,
	} {
		for kind, row := range map[string]string{
			"none": "", "ask": "<tr><th>FOB Price</th><td>ASK</td></tr>", "sold": "<tr><th>FOB Price</th><td>SOLD</td></tr>", "own": "<tr><th>FOB Price</th><td>US$ 2,350</td></tr>",
		} {
			page := strings.NewReplacer("PRICE", row, "OTHER", other).Replace(ownCar)
			want := "null"
			if kind == "own" {
				want = "2350"
			}
			for _, place := range []string{page, strings.Replace(strings.Replace(page, other, "", 1), `<div id="main">`, other+`<div id="main">`, 1)} {
				l := read(t, place, shapeURL)
				if got := amountOf(l.Car.FOBPriceUSD); got != want || l.Car.Model != "PASSO" || l.Car.Year != 2012 || l.Car.ModelCode != "KGC30" {
					t.Errorf("%s, own price %s: %s, %s of %d, want %s", name, kind, got, l.Car.Model, l.Car.Year, want)
				}
			}
		}
	}
}

func TestEqualValuesDoNotContradict(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"dollars": {"<tr><th>FOB Price</th><td>USD 6,210</td></tr>", "<tr><th>FOB Price</th><td>$6,210</td></tr>"},
		"cents":   {"<tr><th>FOB Price</th><td>US$ 6,210</td></tr>", "<tr><th>FOB Price</th><td>6,210.00 USD</td></tr>"},
		"year":    {"<tr><th>Registration</th><td>2013/05</td></tr>", "<tr><th>Registration Year</th><td>2013</td></tr>"},
		"month":   {"<tr><th>Registration</th><td>05.2013</td></tr>", "<tr><th>Registration Year</th><td>2013, May</td></tr>"},
		"engine":  {"<tr><th>Displacement</th><td>996cc</td></tr>", "<tr><th>Displacement</th><td>1.0L</td></tr>"},
		"cc":      {"<tr><th>CC</th><td>1,000</td></tr>", "<tr><th>CC</th><td>1000 cc</td></tr>"},
		"mileage": {"<tr><th>Mileage</th><td>234,100 km</td></tr>", "<tr><th>Mileage</th><td>234 100</td></tr>"},
		"miles":   {"<tr><th>Mileage</th><td>100,000 km</td></tr>", "<tr><th>Mileage</th><td>62,137 miles</td></tr>"},
		"code":    {"<tr><th>Chassis Code</th><td>DBA-KGC30</td></tr>", "<tr><th>Chassis Code</th><td>kgc30</td></tr>"},
		"model":   {"<tr><th>Model</th><td>Passo</td></tr>", "<tr><th>Model</th><td>PASSO X</td></tr>"},
		"fuel":    {"<tr><th>Fuel</th><td>Gasoline</td></tr>", "<tr><th>Fuel</th><td>PETROL</td></tr>"},
		"gearbox": {"<tr><th>Transmission</th><td>AT</td></tr>", "<tr><th>Transmission</th><td>Automatic</td></tr>"},
		"stock":   {"<tr><th>Stock No.</th><td>REF-70021</td></tr>", "<tr><th>Stock No.</th><td>70021</td></tr>"},
	} {
		one, two := "<table><tr><th>Steering</th><td>Right</td></tr>"+pair[0]+"</table>", "<table><tr><th>Location</th><td>KOBE</td></tr>"+pair[1]+"</table>"
		for _, other := range []string{one + two, two + one} {
			l := read(t, strings.NewReplacer("PRICE", "", "OTHER", other).Replace(ownCar), shapeURL)
			if l.Car.Steering == "" || l.Car.Location == "" || len(l.Notes) != 0 {
				t.Errorf("%s: steering %v, location %v, notes %v", name, l.Car.Steering, l.Car.Location, l.Notes)
			}
		}
	}
}
