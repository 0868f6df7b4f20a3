package listing

import (
	"errors"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
)

// facts returns a page of a Vitz with a table of facts. ROWS are further rows, EXTRA what
// follows the table.
func vitz(rows, extra string) string {
	return `<title>2012 TOYOTA VITZ F | Kaze Motors</title><header><a href="/">Kaze Motors</a></header><main><h1>2012 TOYOTA VITZ F</h1>
<table class="facts"><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>VITZ</td></tr><tr><th>Model Code</th><td>DBA-NSP130</td></tr>
<tr><th>Year of manufacture</th><td>2012/05</td></tr>` + rows + `</table>` + extra + `</main>`
}

func vitzRow(label, value string) string {
	return "<tr><th>" + label + "</th><td>" + value + "</td></tr>"
}

const vitzURL = "https://cars.example.com/stock/toyota/vitz/70021"

// hostileCase is a page with what is to be read of it: "field=value", or "error=code".
type hostileCase struct{ name, url, page, want string }

func checkHostile(t *testing.T, cases []hostileCase) {
	t.Helper()
	for _, c := range cases {
		address := c.url
		if address == "" {
			address = vitzURL
		}
		l, err := Read(t.Context(), FromFile([]byte(c.page), address))
		code := ""
		if failure, ok := errors.AsType[*fetch.Error](err); ok {
			code = failure.Code
		}
		got := map[string]string{}
		if err == nil {
			got = flatten(&l.Car)
			for _, w := range l.Warnings {
				got["warnings"] += w.Code + "+"
			}
		}
		for want := range strings.SplitSeq(c.want, "; ") {
			field, value, _ := strings.Cut(want, "=")
			switch {
			case field == "error" && code == value, field != "error" && err == nil && got[field] == value:
			case field == "warning" && strings.Contains(got["warnings"], value+"+"):
			case field == "error":
				t.Errorf("%s: got %q %+v, want the error %s", c.name, code, got, value)
			case err != nil:
				t.Errorf("%s: got %v, want %s", c.name, err, want)
			default:
				t.Errorf("%s: got %s=%q (%s), want %s", c.name, field, got[field], got["warnings"], want)
			}
		}
	}
}

func TestHostileMoney(t *testing.T) {
	t.Parallel()
	price := func(value string) string { return vitzRow("Price", value) }
	checkHostile(t, []hostileCase{
		{"range slider inputs as text", "", vitz("", `<div><span>Price</span><span>US$ 1,200</span><span>-</span><span>US$ 48,000</span></div>`), "fobPriceUSD="},
		{"slider with min and max", "", vitz("", `<div><label>Price</label><div><div>Min US$ 500</div><div>Max US$ 90,000</div></div></div>`), "fobPriceUSD="},
		{"slider above in boxes of their own", "", `<div><p>Price</p><div><p>US$ 500</p></div><div><p>US$ 90,000</p></div></div>` + vitz("", ""), "fobPriceUSD="},
		{"deal of the day", "", vitz("", `<section><h2>Deal of the day</h2><div><h3>Best of all</h3><p>Price: US$ 4,000</p></div></section>`), "fobPriceUSD="},
		{"offer of the week before", "", `<section><h2>Offer of the week</h2><p>Price: US$ 4,000</p></section>` + vitz("", ""), "fobPriceUSD="},
		{"crossed out by CSS", "", `<style>.then{text-decoration:line-through}</style>` + vitz("", `<div>Price: <span class="then">US$ 4,000</span></div><div>You pay: US$ 3,500</div>`), "fobPriceUSD=3500"},
		{"crossed out total", "", vitz(price(`<del>US$ 4,000</del>`), `<p>You pay <b>US$ 3,500</b></p>`), "fobPriceUSD=3500"},
		{"special price", "", vitz(price(`US$ 4,000`)+vitzRow("Special Price", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"price of before", "", vitz(vitzRow("Price before", "US$ 4,000")+vitzRow("Price", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"two prices that no word ranks", "", vitz(price("US$ 4,000")+price("US$ 3,500"), ""), "fobPriceUSD=; warning=several_prices"},
		{"market average", "", vitz(vitzRow("Average price", "US$ 4,000")+vitzRow("Market price", "US$ 3,900"), ""), "fobPriceUSD="},
		{"booking", "", vitz(vitzRow("Booking fee", "US$ 100")+vitzRow("Deposit", "US$ 500"), ""), "fobPriceUSD="},
		{"US retail by tax", "https://cars.example.com/stock/70021", vitz(price("US$ 9,995")+vitzRow("Location", "Dallas, TX"), `<p>Plus sales tax, title and license.</p>`), "fobPriceUSD=; warning=retail_price"},
		{"US retail by address in markup", "", vitz("", schemaPage(`{"@type":"Car","name":"2012 TOYOTA VITZ F","url":"`+vitzURL+`","offers":{"@type":"Offer","price":9995,"priceCurrency":"USD","seller":{"@type":"AutoDealer","name":"Kaze","address":{"addressLocality":"Austin","addressRegion":"TX","addressCountry":"US"}}}}`)), "fobPriceUSD=; warning=retail_price"},
		{"US retail without a place", "", vitz(price("$9,995"), `<p>MSRP. Dealer fees, tax, title and license not included. US dollars.</p>`), "fobPriceUSD="},
		{"UK retail in dollars", "https://cars.example.co.uk/stock/70021", vitz(price("US$ 9,995"), `<p>MOT until May 2027</p>`), "fobPriceUSD="},
		{"EU retail", "https://autos.example.de/stock/70021", vitz(price("US$ 9,995"), `<p>inkl. MwSt.</p>`), "fobPriceUSD="},
		{"finance offered", "", vitz(price("US$ 9,995")+vitzRow("Location", "Miami, FL"), `<p>Finance from $199 a month</p>`), "fobPriceUSD="},
		{"OTR in a script", "", vitz(price("US$ 3,500")+vitzRow("Location", "KOBE, JAPAN"), `<script>var OTR = {"otr": "drive away MSRP"};</script><div data-x="MSRP OTR"></div>`), "fobPriceUSD=3500"},
		{"exporter with a place abroad", "", vitz(vitzRow("FOB Price", "US$ 3,500")+vitzRow("Location", "Singapore"), `<p>FOB prices. Ro-Ro freight.</p>`), "fobPriceUSD=3500; warning=outside_japan"},
		{"thousands by a point", "", vitz(price("US$ 3.500"), ""), "fobPriceUSD=3500"},
		{"European cents", "", vitz(price("US$ 3.500,00"), ""), "fobPriceUSD=3500"},
		{"apostrophe", "", vitz(price("US$ 3'500"), ""), "fobPriceUSD=3500"},
		{"shillings written in East Africa", "", vitz(price("TZS 12,500,000/="), ""), "currency=TZS"},
		{"negotiable", "", vitz(price("US$ 3,500 (negotiable)"), ""), "fobPriceUSD=3500"},
		{"range of prices", "", vitz(price("US$ 3,500 - 4,200"), ""), "fobPriceUSD="},
		{"from", "", vitz(price("from US$ 3,500"), ""), "fobPriceUSD="},
		{"a footnote", "", vitz(price("US$ 3,500 *"), ""), "fobPriceUSD=3500"},
		{"unit in the label", "", vitz(vitzRow("Price (US$)", "3,500"), ""), "fobPriceUSD=3500"},
		{"unit behind the label", "", vitz(vitzRow("FOB Price USD", "3,500"), ""), "fobPriceUSD=3500"},
		{"thousands of yen in the label", "", vitz(vitzRow("Price (thousand yen)", "350"), ""), "currency=JPY"},
		{"the label's unit against the value's", "", vitz(vitzRow("Price (US$)", "¥350,000"), ""), "fobPriceUSD="},
		{"FOB in Swahili", "", vitz(vitzRow("Bei ya FOB", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"FOB in Italian", "", vitz(vitzRow("Prezzo FOB", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"FOB in French", "", vitz(vitzRow("Prix FOB (USD)", "3 500"), ""), "fobPriceUSD=3500"},
		{"FOB in German", "", vitz(vitzRow("FOB-Preis", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"FOB in Korean", "", vitz(vitzRow("FOB 가격", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"FOB in Chinese", "", vitz(vitzRow("FOB价格", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"exchange rate", "", vitz(vitzRow("Rate", "US$ 1 = ¥150"), ""), "fobPriceUSD="},
		{"what an earlier buyer paid", "", vitz("", `<div class="review"><p>I bought this Vitz. Price: US$ 2,900</p></div>`), "fobPriceUSD="},
	})
}

func TestHostilePages(t *testing.T) {
	t.Parallel()
	head := func(title, body string) string { return "<title>" + title + "</title><h1>" + title + "</h1>" + body }
	facts := `<table>` + vitzRow("Make", "TOYOTA") + vitzRow("Model", "VITZ") + vitzRow("Model Code", "NSP130") + vitzRow("Year", "2012") +
		vitzRow("Mileage", "71,000 km") + vitzRow("Engine", "1,329cc") + vitzRow("Price", "US$ 450") + `</table>`
	checkHostile(t, []hostileCase{
		{"engine assembly", "", head("1NR-FE Engine Assembly Toyota Vitz NSP130", facts), "error=not_a_listing"},
		{"engine and gearbox", "", head("Toyota Vitz NSP130 2012 engine with gearbox", facts), "error=not_a_listing"},
		{"complete engine", "", head("Used 2012 Toyota Vitz complete engine 1NR", facts), "error=not_a_listing"},
		{"engine for sale", "", head("Engine for sale - Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"gearbox", "", head("Gearbox CVT Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"half cut", "", head("Toyota Vitz NSP130 half-cut", facts), "error=not_a_listing"},
		{"wheels", "", head("Alloy wheels for Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"front bumper", "", head("Front bumper Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"wanted", "", head("Wanted: Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"looking for", "", head("Looking for a Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"want to buy", "", head("WTB Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"wanted in Swahili", "", head("Natafuta Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"wanted by a budget", "", head("Toyota Vitz 2012", strings.Replace(facts, "Price", "Budget", 1)+`<p>I am looking for this car.</p>`), "error=not_a_listing"},
		{"insurance quotation", "", head("Insurance quotation: Toyota Vitz 2012", strings.Replace(facts, "Price", "Premium", 1)), "error=not_a_listing"},
		{"insurance by its labels", "", head("Toyota Vitz 2012 quotation", facts+"<table>"+vitzRow("Sum insured", "US$ 4,000")+vitzRow("Premium", "US$ 120")+vitzRow("Cover", "Comprehensive")+"</table>"), "error=not_a_listing"},
		{"register entry", "", head("Toyota Vitz NSP130, registered T 123 ABC", strings.Replace(facts, vitzRow("Price", "US$ 450"), vitzRow("Owners", "3")+vitzRow("Inspection", "2026-05-01")+vitzRow("Status", "In traffic"), 1)), "error=not_a_listing"},
		{"history report", "", head("Vehicle history report Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"plate check", "", head("Plate check: Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"duty", "", head("Import duty for Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"customs value", "", head("Customs value of a Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"valuation", "", head("Toyota Vitz 2012 valuation", facts), "error=not_a_listing"},
		{"proforma", "", head("Proforma invoice", facts+"<p>Buyer: John Doe. Invoice No. 1234</p>"), "error=not_a_listing"},
		{"rental", "", head("Toyota Vitz 2012 for hire", facts), "error=not_a_listing"},
		{"rental in Swahili", "", head("Kukodi Toyota Vitz 2012", facts), "error=not_a_listing"},
		{"brochure", "", head("Toyota Vitz 2010-2014 specifications", strings.Replace(facts, vitzRow("Price", "US$ 450"), "", 1)), "error=not_a_listing"},
		{"gearbox behind a car's name", "", head("2012 Toyota Vitz 5-speed manual gearbox", facts), "model=VITZ"},
		{"turbo engine in the name", "", head("2012 Toyota Vitz 1.3 turbo engine, one owner", facts), "model=VITZ"},
		{"hidden veil", "", `<div hidden><p>SOLD</p></div>` + vitz(vitzRow("Price", "US$ 3,500"), ""), "fobPriceUSD=3500"},
		{"hidden veil by class", "", vitz(vitzRow("Price", "US$ 3,500"), `<div class="veil is-hidden"><span>SOLD</span></div>`), "fobPriceUSD=3500"},
		{"hidden veil by style", "", `<style>#sold-veil,.x{display:none}</style>` + vitz(vitzRow("Price", "US$ 3,500"), `<div id="sold-veil"><strong>Sold</strong></div>`), "fobPriceUSD=3500"},
		{"veil in a template", "", vitz(vitzRow("Price", "US$ 3,500"), `<template><div>SOLD</div></template><noscript><p>SOLD</p></noscript><dialog><p>This car has been sold</p></dialog>`), "fobPriceUSD=3500"},
		{"veil shown", "", vitz(vitzRow("Price", "US$ 3,500"), `<div class="veil"><span>SOLD</span></div>`), "fobPriceUSD=; warning=sold"},
		{"legend of sold", "", vitz(vitzRow("Price", "US$ 3,500"), `<p>Cars marked SOLD are no longer for sale.</p><p>Sold by Kaze Motors</p>`), "fobPriceUSD=3500"},
		{"neighbour sold", "", vitz(vitzRow("Price", "US$ 3,500"), `<h2>Similar cars</h2><div><a href="/stock/toyota/vitz/70022">TOYOTA VITZ</a><span>SOLD</span></div>`), "fobPriceUSD=3500"},
		{"thead and tbody", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><table><thead><tr><th>Model Code</th><th>Engine</th><th>Fuel</th><th>Price</th></tr></thead><tbody><tr><td>NSP130</td><td>1,329cc</td><td>Petrol</td><td>US$ 3,500</td></tr></tbody></table>`, "modelCode=NSP130; engine_cc=1329; fobPriceUSD=3500"},
		{"an unknown head", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><table><thead><tr><th>Model Code</th><th>Warp</th><th>Engine</th><th>Fuel</th><th>Price</th></tr></thead><tbody><tr><td>NSP130</td><td>9</td><td>1,329cc</td><td>Petrol</td><td>US$ 3,500</td></tr></tbody></table>`, "modelCode=NSP130; engine_cc=1329; fobPriceUSD=3500"},
		{"colspans", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><table><tr><th colspan="2">Model Code</th><th>Engine</th><th>Fuel</th></tr><tr><td colspan="2">NSP130</td><td>1,329cc</td><td>Petrol</td></tr></table>`, "modelCode=NSP130; engine_cc=1329; fuel=PETROL"},
		{"two rows of heads, two of values", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><table><tr><th>Model Code</th><th>Engine</th></tr><tr><th>Fuel</th><th>Mileage</th></tr><tr><td>NSP130</td><td>1,329cc</td></tr><tr><td>Petrol</td><td>71,000 km</td></tr></table>`, "modelCode=NSP130; engine_cc=1329; fuel=PETROL; mileage_km=71000"},
		{"an empty second row", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><table><tr><th>Model Code</th><th>Engine</th><th>Fuel</th></tr><tr><td>NSP130</td><td>1,329cc</td><td>Petrol</td></tr><tr><td></td><td></td><td></td></tr></table>`, "modelCode=NSP130; engine_cc=1329; fuel=PETROL"},
		{"a stock list", "", `<title>Stock</title><table><thead><tr><th>Model</th><th>Year</th><th>Price</th></tr></thead><tbody><tr><td>VITZ</td><td>2012</td><td>US$ 3,500</td></tr><tr><td>NOTE</td><td>2013</td><td>US$ 4,500</td></tr><tr><td>FIT</td><td>2013</td><td>US$ 4,600</td></tr></tbody></table>`, "error=several_cars"},
		{"a body with nothing but JSON-LD", "", schemaPage(`{"@type":"Car","name":"2012 Toyota Vitz F Direct-Shift Gearbox","vehicleModelDate":"2012","mileageFromOdometer":{"@type":"QuantitativeValue","value":71000,"unitCode":"KMT"},"fuelType":"Petrol","offers":{"@type":"Offer","price":"3500","priceCurrency":"USD"}}`), "make=TOYOTA; model=VITZ; fuel=PETROL"},
	})
}

func TestHostileFacts(t *testing.T) {
	t.Parallel()
	engine := func(value string) string { return vitz(vitzRow("Engine Size", value), "") }
	mileage := func(value string) string { return vitz(vitzRow("Mileage", value), "") }
	checkHostile(t, []hostileCase{
		{"apostrophe", "", mileage("73'120 km"), "mileage_km=73120"},
		{"curly apostrophe", "", mileage("73’120 km"), "mileage_km=73120"},
		{"point", "", mileage("73.120 km"), "mileage_km=73120"},
		{"narrow space", "", mileage("73\u202f120 km"), "mileage_km=73120"},
		{"leading zeros", "", mileage("0038600 km"), "mileage_km=38600"},
		{"range", "", mileage("70,000 - 80,000 km"), "mileage_km=; warning=mileage_unclear"},
		{"range with to", "", mileage("70,000 km to 80,000 km"), "mileage_km="},
		{"two values", "", mileage("70,000 km / 90,000 km"), "mileage_km="},
		{"two units that agree", "", mileage("118,000 km / 73,322 miles"), "mileage_km=118000"},
		{"two units that do not", "", mileage("118,000 km / 118,000 miles"), "mileage_km="},
		{"replaced", "", mileage("45,000 km (meter replaced at 98,000 km)"), "mileage_km="},
		{"sum", "", mileage("98,000 + 45,000 km"), "mileage_km="},
		{"hours", "", mileage("71,000 km / 3,200 hours"), "mileage_km=71000"},
		{"masked", "", mileage("7x,xxx km"), "mileage_km="},
		{"masked stars", "", mileage("7*,*** km"), "mileage_km="},
		{"about", "", mileage("about 70,000 km"), "mileage_km="},
		{"consumption", "", mileage("9 km/L"), "mileage_km="},
		{"consumption written out", "", mileage("18 km per litre"), "mileage_km="},
		{"consumption in India", "", mileage("18.5 kmpl"), "mileage_km="},
		{"consumption in Europe", "", mileage("5.6 L/100 km"), "mileage_km="},
		{"consumption in miles", "", mileage("42 mpg"), "mileage_km="},
		{"consumption beside the distance", "", vitz(vitzRow("Mileage", "18 kmpl")+vitzRow("Kms Driven", "71,000"), ""), "mileage_km=71000"},
		{"thousands", "", mileage("73 thousand km"), "mileage_km=73000"},
		{"k", "", mileage("73k km"), "mileage_km=73000"},
		{"Russian thousands", "", mileage("73 тыс. км"), "mileage_km=73000"},
		{"unit in the label", "", vitz(vitzRow("Mileage (miles)", "50,000"), ""), "mileage_km=80467"},
		{"thousand km in the label", "", vitz(vitzRow("Mileage (thousand km)", "73"), ""), "mileage_km=73000"},
		{"odometer of a label", "", vitz(vitzRow("Odometer Reading", "71,000 km"), ""), "mileage_km=71000"},
		{"miles on .co.uk", "https://cars.example.co.uk/stock/70021", mileage("50,000"), "mileage_km=80467"},
		{"miles of a British seller", "", vitz(vitzRow("Mileage", "50,000")+vitzRow("Location", "Leeds, United Kingdom"), ""), "mileage_km=80467"},
		{"words beside", "", mileage("71,000 km (genuine)"), "mileage_km=71000"},
		{"engine range", "", engine("1000-1300cc"), "engine_cc="},
		{"two engines", "", engine("1,300cc / 1,500cc"), "engine_cc="},
		{"two engines with or", "", engine("1300 or 1500 cc"), "engine_cc="},
		{"two units", "", engine("1.3 L (1,329 cc)"), "engine_cc=1329"},
		{"rotary", "", engine("654cc x 2"), "engine_cc="},
		{"rotary with a sign", "", engine("654cc × 2 = 1,308cc"), "engine_cc="},
		{"power beside", "", engine("1,329 cc, 95 PS (70 kW)"), "engine_cc=1329"},
		{"name beside", "", engine("1NR-FE 1,329cc"), "engine_cc=1329"},
		{"name behind", "", engine("1.3L 1NR-FE DOHC 16 valve"), "engine_cc=1300"},
		{"whole litres", "", engine("4 L"), "engine_cc=4000"},
		{"Russian cc", "", engine("1329 см³"), "engine_cc=1329"},
		{"point in cc", "", engine("1.329 cc"), "engine_cc=1329"},
		{"comma litres", "", engine("1,3 L"), "engine_cc=1300"},
		{"year range", "", vitz(vitzRow("Registration Year", "2012-2015"), ""), "year=2012"},
		{"full-width make", "", strings.ReplaceAll(vitz("", ""), "TOYOTA", "ＴＯＹＯＴＡ"), "make=TOYOTA; model=VITZ"},
		{"make in katakana", "", strings.ReplaceAll(vitz("", ""), "TOYOTA", "トヨタ"), "make=TOYOTA; model=VITZ"},
		{"half-width katakana", "", strings.NewReplacer("TOYOTA", "ﾏﾂﾀﾞ", "VITZ", "DEMIO").Replace(vitz("", "")), "make=MAZDA; model=DEMIO"},
		{"make in Cyrillic", "", strings.ReplaceAll(vitz("", ""), "TOYOTA", "Тойота"), "make=TOYOTA"},
		{"model in katakana", "", strings.NewReplacer("TOYOTA", "トヨタ", "VITZ", "ヴィッツ").Replace(vitz("", "")), "make=TOYOTA; model=VITZ"},
		{"nameplate in katakana in the title only", "https://cars.example.com/d/70021", `<title>ダイハツ ムーヴコンテ 2012年</title><h1>ダイハツ ムーヴコンテ</h1><table>` + vitzRow("型式", "DBA-L575S") + vitzRow("排気量", "660cc") + vitzRow("走行距離", "7.3万km") + `</table>`, "make=DAIHATSU; model=MOVE CONTE; mileage_km=73000"},
		{"a cell that swallows", "", `<title>x</title><div itemscope itemtype="http://schema.org/Car"><h1 itemprop="name">2012 TOYOTA VITZ</h1><p>Model: <span itemprop="model">VITZ</span> Colour: <span itemprop="color">Red</span> Engine: <span itemprop="vehicleEngine">1,329cc</span></p><p>Mileage: <span itemprop="mileageFromOdometer">71,000 km</span></p><p>Fuel: <span itemprop="fuelType">Petrol</span></p></div>`, "model=VITZ; engine_cc=1329; colour=Red; mileage_km=71000"},
		{"bare values behind the markup", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><div itemscope itemtype="http://schema.org/Car"><div><b>Model:</b> <span itemprop="model">VITZ</span> <span itemprop="vehicleConfiguration">F</span> bare</div><div><b>Fuel:</b> <span itemprop="fuelType">Petrol</span></div><div><b>Mileage:</b> <span itemprop="mileageFromOdometer">71,000 km</span></div></div>`, "model=VITZ; version=F; fuel=PETROL"},
		{"label without a colon in p", "", `<title>2012 TOYOTA VITZ</title><h1>2012 TOYOTA VITZ</h1><p>Model Code <b>NSP130</b></p><p>Fuel <b>Petrol</b></p><p>Engine <b>1,329cc</b></p>`, "modelCode=NSP130; fuel=PETROL; engine_cc=1329"},
	})
}

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
