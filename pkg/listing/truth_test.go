package listing

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"testing"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/vehicle"
)

// truthFields are the fields of a car that are compared.
var truthFields = []string{
	"make", "model", "modelCode", "rawModelCode", "version", "year", "engine_cc", "fuel", "fobPriceUSD", "cfPriceUSD", "currency", "images",
	"conditionReportUrl", "frameNumber", "bodyType", "colour", "mileage_km", "transmission", "steering", "stockNo", "location", "m3",
	"auction.house", "auction.date", "auction.lotNo", "auction.score", "auction.startPriceJPY", "auction.endPriceJPY",
}

// flatten writes the fields of a car that are compared as texts.
func flatten(car *vehicle.Car) map[string]string {
	flat, err := listingtest.Flatten(car)
	if err != nil {
		panic(err)
	}
	maps.DeleteFunc(flat, func(field, _ string) bool { return !slices.Contains(truthFields, field) })
	return flat
}

// No value that is read of a fixture may be wrong, and no field of the truth unknown.
// "go run ./pkg/lab eval listings" counts them by field.
func TestNoValueOfAFixtureIsWrong(t *testing.T) {
	t.Parallel()
	for name, url := range fixtures {
		car := read(t, fixture(t, name+".html"), url).Car
		got := flatten(&car)
		for field := range truth[name] {
			if field != "url" && !slices.Contains(truthFields, field) {
				t.Errorf("%s: %s is not counted", name, field)
			}
		}
		for _, field := range truthFields {
			if want := truth[name][field]; got[field] != "" && got[field] != want {
				t.Errorf("%s: got %s %q, the page says %q", name, field, got[field], want)
			}
		}
	}
}

// TestSitesGiveWhatTheySay holds sites.json against the fixtures: each field that
// a site gives is read from one of its fixtures.
func TestSitesGiveWhatTheySay(t *testing.T) {
	elsewhere := map[string]string{"aleado": "Aleado", "ajes": "AJES"} // fixtures on a host that is not the site's
	given := map[string]map[string]bool{}                              // by the name of the site
	for name, address := range fixtures {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		site := cmp.Or(elsewhere[name], sites.NameOf(u.Hostname()))
		if given[site] == nil {
			given[site] = map[string]bool{}
		}
		car := read(t, fixture(t, name+".html"), address).Car
		for field, value := range flatten(&car) {
			given[site][field] = given[site][field] || value != ""
		}
		given[site]["auction"] = given[site]["auction"] || car.Auction != nil
		given[site]["askingPrice"] = given[site]["askingPrice"] || car.AskingPrice != nil
	}
	for _, s := range sites.All() {
		if given[s.Name] == nil {
			t.Errorf("%s has no fixture", s.Name)
			continue
		}
		for _, field := range s.Gives {
			if !given[s.Name][field] {
				t.Errorf("%s says that it gives %s", s.Name, field)
			}
		}
	}
}
