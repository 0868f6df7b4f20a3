package listing

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/listing/sites"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// truth reads testdata/truth.txt: fixture → field → value.
func truth(t *testing.T) map[string]map[string]string {
	t.Helper()
	table := map[string]map[string]string{}
	page := ""
	for line := range strings.Lines(fixture(t, "truth.txt")) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			page = strings.TrimSuffix(name, "]")
			table[page] = map[string]string{}
		} else if field, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			table[page][field] = value
		}
	}
	return table
}

// truthFields are the fields that are counted, in the order of the table.
var truthFields = []string{
	"make", "model", "modelCode", "rawModelCode", "version", "year", "engine_cc", "fuel", "fobPriceUSD", "cfPriceUSD", "currency", "images",
	"conditionReportUrl", "frameNumber", "bodyType", "colour", "mileage_km", "transmission", "steering", "stockNo", "location", "m3",
	"auction.house", "auction.date", "auction.lotNo", "auction.score", "auction.startPriceJPY", "auction.endPriceJPY",
}

// flatten writes the fields of a car as texts, "" for those it leaves open.
func flatten(car *vehicle.Car) map[string]string {
	whole := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	amount := func(n *money.Number) string {
		if n == nil {
			return ""
		}
		return n.String()
	}
	lot := car.Auction
	if lot == nil {
		lot = &vehicle.Auction{}
	}
	got := map[string]string{
		"make": car.Make, "model": car.Model, "modelCode": car.ModelCode, "rawModelCode": car.RawModelCode, "version": car.Version,
		"year": whole(car.Year), "engine_cc": whole(car.EngineCC), "fuel": car.Fuel, "fobPriceUSD": amount(car.FOBPriceUSD), "cfPriceUSD": amount(car.CFPriceUSD),
		"currency": car.Currency, "images": whole(len(car.Images)), "frameNumber": car.FrameNumber, "bodyType": car.BodyType, "colour": car.Colour, "transmission": car.Transmission,
		"steering": car.Steering, "stockNo": car.StockNo, "location": car.Location, "m3": amount(car.M3),
		"auction.house": lot.House, "auction.date": lot.Date, "auction.lotNo": lot.LotNo, "auction.score": lot.Score,
		"auction.startPriceJPY": whole(lot.StartPriceJPY), "auction.endPriceJPY": whole(lot.EndPriceJPY),
	}
	if car.ConditionReportURL != nil {
		got["conditionReportUrl"] = *car.ConditionReportURL
	}
	if car.MileageKM != nil {
		got["mileage_km"] = strconv.Itoa(*car.MileageKM)
	}
	return got
}

// TestPrecisionAndCoverage counts, per field over all fixtures, how many of the
// values given are right, and how many of those on the pages are given. No
// value may be wrong.
func TestPrecisionAndCoverage(t *testing.T) {
	known := truth(t)
	type count struct{ there, given, right int }
	counts := map[string]*count{}
	for _, field := range truthFields {
		counts[field] = &count{}
	}
	for name, url := range fixtures {
		if known[name] == nil {
			t.Errorf("%s is not in truth.txt", name)
		}
		car := read(t, fixture(t, name+".html"), url).Car
		got := flatten(&car)
		for field := range known[name] {
			if !slices.Contains(truthFields, field) {
				t.Errorf("%s: %s is not counted", name, field)
			}
		}
		for _, field := range truthFields {
			c, want := counts[field], known[name][field]
			if want != "" {
				c.there++
			}
			switch {
			case got[field] == "" && want != "":
				t.Logf("%s: %s is left open, the page says %q", name, field, want)
			case got[field] == "":
			case got[field] == want:
				c.given++
				c.right++
			default:
				c.given++
				t.Errorf("%s: %s is %q, the page says %q", name, field, got[field], want)
			}
		}
	}
	share := func(part, whole int) string {
		if whole == 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
	}
	var total count
	t.Logf("%-22s %6s %6s %10s %9s", "field", "there", "given", "precision", "coverage")
	for _, field := range truthFields {
		c := counts[field]
		t.Logf("%-22s %6d %6d %10s %9s", field, c.there, c.given, share(c.right, c.given), share(c.right, c.there))
		total.there, total.given, total.right = total.there+c.there, total.given+c.given, total.right+c.right
	}
	t.Logf("%-22s %6d %6d %10s %9s", "all", total.there, total.given, share(total.right, total.given), share(total.right, total.there))
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
