package listing

import (
	"fmt"
	"strings"
	"testing"
)

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
