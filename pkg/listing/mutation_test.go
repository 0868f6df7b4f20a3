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
