package listing

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
	"ushuru/pkg/vehicle"
)

// card returns the card of a car in a list.
func listCard(id int, name, price string) string {
	return fmt.Sprintf(`<div class="card"><a href="/stock/toyota/%d"><img src="/%d.jpg" alt=""></a><h3>%s</h3><p>%s</p><p>Mileage: 71,000 km</p></div>`, id, id, name, price)
}

func listOf(title, markup string) string {
	return "<title>" + title + "</title><h1>" + title + "</h1><main>" + markup + "</main>"
}

// A page that lists cars is not its first car: it is refused with the cars, so that the
// caller chooses one.
func TestAListOfCarsIsRefusedWithItsCars(t *testing.T) {
	t.Parallel()
	cards := listCard(70021, "2012 TOYOTA PASSO", "US$ 2,350") + listCard(70022, "TOYOTA VITZ", "ASK") + listCard(70023, "Toyota Noah 2014", "$ 5,900 FOB")
	car := func(name string) string {
		return `{"@type":"Car","name":"` + name + `","brand":"Toyota","model":"` + name + `","vehicleModelDate":"2014","mileageFromOdometer":"70000","fuelType":"Petrol","offers":{"@type":"Offer","price":4000,"priceCurrency":"USD"}}`
	}
	want := []vehicle.ListedCar{
		{Name: "2012 TOYOTA PASSO", Year: 2012, Price: "US$ 2,350", URL: "https://cars.example.com/stock/toyota/70021"},
		{Name: "TOYOTA VITZ", URL: "https://cars.example.com/stock/toyota/70022"},
		{Name: "Toyota Noah 2014", Year: 2014, Price: "$ 5,900", URL: "https://cars.example.com/stock/toyota/70023"},
	}
	for name, c := range map[string]struct {
		page string
		cars []vehicle.ListedCar
	}{
		"results":           {listOf("Toyota cars for sale in Nairobi", cards), want},
		"counted":           {listOf("234 results", cards), want},
		"with a year":       {listOf("Toyota 2012 to 2014: 3 cars found", cards), want},
		"one car found":     {listOf("1 car found", listCard(70021, "2012 TOYOTA PASSO", "US$ 2,350")), want[:1]},
		"one hit":           {listOf("1 result", listCard(70021, "2012 TOYOTA PASSO", "US$ 2,350")), want[:1]},
		"a sold one":        {listOf("Used cars", strings.Replace(cards, "ASK", "SOLD", 1)), want},
		"a hidden one":      {listOf("Used cars", cards+`<div hidden>`+listCard(70024, "TOYOTA IST", "US$ 1")+`</div>`), want},
		"free cars":         {listOf("Our stock", "") + schemaPage("["+car("Vitz")+","+car("Noah")+"]"), nil},
		"favourites":        {listOf("Your favourites", cards), want},
		"list in Kiswahili": {listOf("Magari yanayouzwa", cards), want},
	} {
		_, err := Read(t.Context(), FromFile([]byte(c.page), "https://cars.example.com/stock/toyota/10000?page=2"))
		failure, ok := errors.AsType[*fetch.Error](err)
		if !ok || failure.Code != SeveralCars {
			t.Errorf("%s: got %v, want %s", name, err, SeveralCars)
			continue
		}
		var got SeveralDetails
		if len(c.cars) > 0 {
			if err := json.Unmarshal(failure.Details, &got); err != nil {
				t.Errorf("%s: details %q: %v", name, failure.Details, err)
			}
		}
		if fmt.Sprint(got.Cars) != fmt.Sprint(c.cars) {
			t.Errorf("%s: got %+v, want %+v", name, got.Cars, c.cars)
		}
	}
}

// A page with a car of its own is that car's, whatever stands beside it.
func TestAPageWithItsOwnCarIsNoList(t *testing.T) {
	t.Parallel()
	cards := listCard(70031, "2013 TOYOTA RACTIS", "US$ 2,950") + listCard(70022, "TOYOTA VITZ", "ASK") + listCard(70023, "Toyota Noah 2014", "$ 5,900 FOB")
	row := "<tr><th>FOB Price</th><td>US$ 2,350</td></tr>"
	for name, page := range map[string]string{
		"beside":            strings.NewReplacer("PRICE", row, "OTHER", cards).Replace(ownCar),
		"a count elsewhere": strings.NewReplacer("PRICE", row, "OTHER", "<p>25 results in our stock</p>"+cards).Replace(ownCar),
		"a used car":        listOf("Toyota Passo 2012 used car", `<p>Mileage: 71,300 km</p><p>Price: US$ 2,350</p>`),
		"for sale in": strings.NewReplacer("PRICE", row, "OTHER", cards, "<title>2012 TOYOTA PASSO", "<title>2012 Toyota Passo for sale in Nairobi",
			"<h1>2012 TOYOTA PASSO", "<h1>Toyota Passo").Replace(ownCar),
	} {
		if l := read(t, page, "https://cars.example.com/stock/toyota/70021"); l.Car.Model != "PASSO" || amountOf(l.Car.FOBPriceUSD) != "2350" {
			t.Errorf("%s: got %+v", name, l.Car)
		}
	}
}

// A page of results is never its first car, whatever its cards, its markup and its filters
// look like.
func TestResultPagesAreNotTheirFirstCar(t *testing.T) {
	t.Parallel()
	marked := func(i int, name string) string {
		return fmt.Sprintf(`<li class="result" itemscope itemtype="https://schema.org/Car"><a itemprop="url" href="/ad/%d"><h3 itemprop="name">%s</h3></a><span itemprop="brand">Toyota</span> <span itemprop="model">Vitz</span><p itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price">%d</b><meta itemprop="priceCurrency" content="USD"></p><dl><dt>Year</dt><dd>2012</dd><dt>Mileage</dt><dd>71,000 km</dd><dt>Fuel</dt><dd>Petrol</dd></dl></li>`, i, name, 3000+i)
	}
	free := func(i int) string {
		return fmt.Sprintf(`<div class="ad"><h2>Toyota Vitz 2012</h2><p>71,%03d km</p><p>US$ 3,%03d</p><p>Mileage: 71,%03d km</p><p>Engine: 1300cc</p><p>Fuel: Petrol</p></div>`, i, i, i)
	}
	from := func(first int) func(func(int) string, int) string {
		return func(f func(int) string, n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(f(first + i))
			}
			return b.String()
		}
	}
	many, small := from(70001), from(100)
	card := func(i int) string { return marked(i, "2012 Toyota Vitz") }
	filters := `<aside class="filters"><dl><dt>Make</dt><dd>Toyota</dd><dt>Model</dt><dd>Vitz</dd><dt>Year</dt><dd>2012</dd><dt>Fuel</dt><dd>Petrol</dd></dl></aside>`
	chosen := `<div class="chosen"><dl><dt>Make</dt><dd>Toyota</dd><dt>Model</dt><dd>Vitz</dd><dt>Fuel</dt><dd>Petrol</dd><dt>Engine</dt><dd>1300cc</dd></dl></div>`
	objects := func(n int) string {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(`{"@type":"Car","name":"2012 Toyota Vitz","brand":"Toyota","model":"Vitz","vehicleModelDate":"2012","fuelType":"Petrol","mileageFromOdometer":"71%03d km","offers":{"@type":"Offer","price":%d,"priceCurrency":"USD"}}`, i, 3000+i))
		}
		return `<script type="application/ld+json">[` + strings.Join(items, ",") + `]</script>`
	}
	const url = "https://cars.example.com/toyota/vitz"
	checkHostile(t, []hostileCase{
		{"microdata cards", url, "<title>Toyota Vitz for sale</title><h1>Toyota Vitz</h1><ul>" + many(card, 12) + "</ul>", "error=several_cars"},
		{"microdata cards, year searched", url, "<title>Toyota Vitz 2012 for sale</title><h1>Toyota Vitz 2012 for sale</h1><ul>" + many(card, 12) + "</ul>", "error=several_cars"},
		{"two microdata cards", url, "<title>Toyota Vitz</title><h1>Toyota Vitz</h1><ul>" + many(card, 2) + "</ul>", "error=several_cars"},
		{"one card", url, "<title>Used Toyota Vitz for sale</title><h1>Used Toyota Vitz for sale</h1><p>1 car</p><ul>" + many(card, 1) + "</ul>", "error=several_cars"},
		{"cards without links", url, "<title>Toyota Vitz</title><h1>Toyota Vitz in Kenya</h1>" + small(free, 8), "error=several_cars"},
		{"cards without links, year", url, "<title>Toyota Vitz 2012</title><h1>Toyota Vitz 2012</h1>" + small(free, 8), "error=several_cars"},
		{"two cards without links", url, "<title>Our cars</title><h1>Our cars</h1>" + small(free, 2), "error=not_a_listing"},
		{"with filters", url, "<title>Toyota Vitz for sale</title><h1>Toyota Vitz</h1>" + filters + "<ul>" + many(card, 12) + "</ul>", "error=several_cars"},
		{"with the filters that were chosen", url, "<title>Toyota Vitz for sale</title><h1>Toyota Vitz</h1>" + chosen + "<ul>" + many(card, 12) + "</ul>", "error=several_cars"},
		{"free JSON-LD", url, "<title>Toyota Vitz</title><h1>Toyota Vitz</h1><p>x</p>" + objects(5), "error=several_cars"},
		{"free JSON-LD with cards", url, "<title>Toyota Vitz</title><h1>Toyota Vitz</h1>" + small(free, 5) + objects(5), "error=several_cars"},
		{"free JSON-LD, year", url, "<title>2012 Toyota Vitz</title><h1>2012 Toyota Vitz</h1><p>x</p>" + objects(5), "error=several_cars"},
		{"number of items", url, `<title>Toyota Vitz</title><p>x</p><script type="application/ld+json">{"@type":"ItemList","numberOfItems":1,"itemListElement":[{"@type":"ListItem","item":{"@type":"Car","name":"2012 Toyota Vitz","brand":"Toyota","model":"Vitz","fuelType":"Petrol","vehicleModelDate":"2012"}}]}</script>`, "error=several_cars"},
		{"a results page type", url, `<title>Toyota Vitz</title><p>x</p><script type="application/ld+json">{"@type":"SearchResultsPage","mainEntity":{"@type":"Car","name":"2012 Toyota Vitz","brand":"Toyota","model":"Vitz","fuelType":"Petrol","vehicleModelDate":"2012"}}</script>`, "error=several_cars"},
	})
}
