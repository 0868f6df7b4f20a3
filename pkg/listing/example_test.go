package listing_test

import (
	"context"
	"fmt"

	"ushuru/pkg/listing"
)

// A page of any site is read by its labels. The chassis code loses its emission
// prefix; the price needs a currency.
func ExampleRead() {
	page := listing.FromFile([]byte(`<title>2012 TOYOTA PASSO for sale</title><table>
		<tr><th>Make</th><td>TOYOTA</td><th>Model</th><td>PASSO</td></tr>
		<tr><th>Model Code</th><td>DBA-KGC30</td><th>Engine Size</th><td>996cc</td></tr>
		<tr><th>Manufacture Year/month</th><td>2012/5</td><th>Fuel</th><td>Petrol</td></tr>
		<tr><th>FOB Price</th><td>US$ 2,350</td></tr></table>`), "https://cars.example.com/passo/1")
	read, err := listing.Read(context.Background(), page)
	if err != nil {
		fmt.Println(err)
		return
	}
	car := read.Car
	fmt.Println(car.Make, car.Model, car.ModelCode, car.Year, car.YearBasis)
	fmt.Println(car.EngineCC, car.Fuel, car.FOBPriceUSD)
	// Output:
	// TOYOTA PASSO KGC30 2012 manufacture
	// 996 PETROL 2350
}

// The error of a page that is not a listing has a code and a sentence.
func ExampleRead_refused() {
	_, err := listing.Read(context.Background(), listing.FromFile([]byte("<p>Welcome</p>"), "https://cars.example.com/"))
	fmt.Println(err)
	// Output: The page does not describe exactly one car. You can send the page from your browser in "html", or enter the car yourself (POST /v1/quote).
}

// Links to the same car have one canonical form, which is the key of its cached
// estimate. FetchURL adds what the site needs to quote a price to Tanzania.
func ExampleCanonical() {
	canonical, err := listing.Canonical("https://sp.beforward.jp/fr/honda/fit/BW726274/id/9989384/?utm_source=x#top", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(canonical)
	fmt.Println(listing.FetchURL(canonical))
	_, err = listing.Canonical("https://www.beforward.jp/stocklist/make=1", false)
	fmt.Println(err)
	// Output:
	// https://www.beforward.jp/honda/fit/bw726274/id/9989384/
	// https://www.beforward.jp/honda/fit/bw726274/id/9989384/?tp_country_id=40
	// This URL is a list of cars. Open one car and send its URL.
}
