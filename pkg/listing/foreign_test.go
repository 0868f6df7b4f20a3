package listing

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
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

// mutations is how many pages the mutation test reads.
var mutations = flag.Int("mutations", testenv.Pick(1000, 200), "pages with another car inserted that TestNoValueOfAnotherCarIsTaken reads")

// foreign is the other car: each of its values is on no fixture.
var foreign = map[string]string{
	"make": "ISUZU", "model": "BIGHORN", "code": "UBS69", "year": "1997", "engine": "3,456", "price": "9,990", "mileage": "77,777", "stock": "OTHER77001",
}

// foreignCars are ways in which pages show another car. URL is its listing.
var foreignCars = []string{
	`<div class="item"><a href="URL"><img src="/other/1.jpg"><h3>1997 ISUZU BIGHORN</h3></a><p>Price: US$ 9,990</p><ul><li>Mileage: 77,777 km</li><li>Engine: 3,456cc</li></ul></div>`,
	`<li class="car"><a href="URL"><b>1997 ISUZU BIGHORN</b> <span>US$ 9,990</span></a></li>`,
	`<a href="URL">1997 ISUZU BIGHORN, 77,777 km, US$ 9,990</a>`,
	`<table><tr><th>Make</th><td>ISUZU</td></tr><tr><th>Model</th><td>BIGHORN</td></tr><tr><th>Model Code</th><td>DBA-UBS69</td></tr><tr><th>Year of manufacture</th><td>1997/3</td></tr>
	<tr><th>Engine Size</th><td>3,456cc</td></tr><tr><th>FOB Price</th><td>US$ 9,990</td></tr><tr><th>Mileage</th><td>77,777 km</td></tr><tr><th>Stock No.</th><td>OTHER77001</td></tr>
	<tr><th>Fuel</th><td>LPG</td></tr><tr><th>Location</th><td>OTHERTOWN</td></tr><tr><th>Color</th><td>Otherblue</td></tr><tr><th>Grade</th><td>OTHERGRADE</td></tr></table>`,
	`<div><h4>ISUZU BIGHORN</h4><dl><dt>YOM</dt><dd>1997</dd><dt>Price</dt><dd>US$ 9,990</dd></dl></div>`,
	`<div class="row"><div>Price</div><div>US$ 9,990</div><a href="URL">ISUZU BIGHORN 1997</a></div>`,
	`<h3>You may also like</h3><div><p>FOB Price: US$ 9,990</p><p>Model Code: DBA-UBS69</p><p>Mileage: 77,777 km</p></div>`,
	`<section><h2>Similar cars</h2><div><span>Engine</span><span>3,456cc</span></div><div><span>YOM</span><span>1997</span></div><div><span>Price</span><span>US$ 9,990</span></div></section>`,
	`<p>ISUZU BIGHORN <b>Price:</b> US$ 9,990<br><b>YOM:</b> 1997<br><b>Mileage:</b> 77,777 km</p>`,
	`<script type="application/ld+json">{"@type":"Car","url":"URL","sku":"OTHER77001","name":"1997 Isuzu Bighorn","brand":"Isuzu","model":"Bighorn","productionDate":"1997",` +
		`"vehicleEngine":"3456 cc","mileageFromOdometer":{"value":77777,"unitCode":"KMT"},"offers":{"@type":"Offer","price":9990,"priceCurrency":"USD"}}</script>`,
	`<script type="application/ld+json">{"@type":["Product","Car"],"name":"1997 Isuzu Bighorn","brand":"Isuzu","model":"Bighorn","vehicleModelDate":"1997",` +
		`"offers":{"@type":"Offer","price":9990,"priceCurrency":"USD"}}</script>`,
	`<div itemscope itemtype="http://schema.org/Car"><a itemprop="url" href="URL"><span itemprop="name">1997 Isuzu Bighorn</span></a><span itemprop="brand">Isuzu</span>
	<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><span itemprop="price">9990</span><meta itemprop="priceCurrency" content="USD"></div></div>`,
}

// insertAt are the ends of the elements after which another car is inserted.
var insertAt = regexp.MustCompile(`(?i)<body[^>]*>|</(?:h1|h2|table|ul|ol|dl|div|p|section|form)>`)

var digitRun = regexp.MustCompile(`\d{3,}`)

// otherURL is the URL of another listing of the same site.
func otherURL(own string) string {
	other := digitRun.ReplaceAllStringFunc(own, func(id string) string { return strings.Repeat("7", len(id)) })
	if other == own {
		return strings.TrimRight(own, "0123456789") + "77"
	}
	return other
}

// takenFrom returns the fields of a car that have a value of the other car.
func takenFrom(car *vehicle.Car) (taken []string) {
	check := func(field, value, foreign string) {
		if value == foreign {
			taken = append(taken, field)
		}
	}
	check("make", car.Make, foreign["make"])
	check("model", car.Model, foreign["model"])
	check("code", car.ModelCode, foreign["code"])
	check("year", strconv.Itoa(car.Year), foreign["year"])
	check("engine", strconv.Itoa(car.EngineCC), "3456")
	check("stock", car.StockNo, foreign["stock"])
	check("location", car.Location, "OTHERTOWN")
	check("colour", car.Colour, "Otherblue")
	check("version", car.Version, "OTHERGRADE")
	check("fuel", car.Fuel, "LPG")
	check("price", amountOf(car.FOBPriceUSD), "9990")
	check("asking price", amountOf(car.AskingPrice), "9990")
	check("total", amountOf(car.CFPriceUSD), "9990")
	if car.MileageKM != nil {
		check("mileage", strconv.Itoa(*car.MileageKM), "77777")
	}
	for _, image := range car.Images {
		if strings.Contains(image, "/other/") {
			taken = append(taken, "image")
		}
	}
	return taken
}

// TestNoValueOfAnotherCarIsTaken inserts another car into the fixtures, at twenty
// places of each, with and without a price of their own.
func TestNoValueOfAnotherCarIsTaken(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(14, 3))
	names := make([]string, 0, len(fixtures))
	for name := range truth {
		if fixtures[name] != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	wants := truth
	lost, read, failed := map[string]int{}, 0, 0
	for i := range *mutations {
		name := names[i%len(names)]
		markup, url := fixture(t, name+".html"), fixtures[name]
		withPrice := random.IntN(2) == 0
		if price := wants[name]["fobPriceUSD"]; !withPrice && len(price) > 3 {
			grouped := price[:len(price)-3] + "," + price[len(price)-3:]
			markup = strings.NewReplacer(grouped, "ASK", price, "ASK").Replace(markup)
		}
		places := insertAt.FindAllStringIndex(markup, -1)
		if len(places) == 0 {
			continue
		}
		place := places[random.IntN(min(len(places), 20))][1]
		if len(places) > 20 {
			place = places[random.IntN(len(places))][1]
		}
		kind := random.IntN(len(foreignCars))
		other := strings.ReplaceAll(foreignCars[kind], "URL", otherURL(url))
		mutated := markup[:place] + other + markup[place:]
		for _, from := range []string{url, ""} {
			alone, err := Read(t.Context(), FromFile([]byte(markup), from))
			if err != nil {
				continue // the page needs its URL or its price
			}
			l, err := Read(t.Context(), FromFile([]byte(mutated), from))
			if err != nil {
				lost["page"]++
				continue
			}
			read++
			if taken := takenFrom(&l.Car); len(taken) > 0 {
				failed++
				if failed <= 40 {
					t.Errorf("%s, url %q, price %v, kind %d, at %d (…%s): %s of the other car", name, from, withPrice, kind, place,
						markup[max(0, place-40):place], strings.Join(taken, ", "))
				}
			}
			if from == "" {
				continue
			}
			got := flatten(&l.Car)
			for field, want := range flatten(&alone.Car) {
				if got[field] != want {
					lost[field]++
					t.Logf("%s kind %d: %s is %q, was %q (…%s)", name, kind, field, got[field], want, markup[max(0, place-40):place])
				}
			}
		}
	}
	t.Logf("%d pages read, %d with a value of the other car; own values lost: %v", read, failed, lost)
}
