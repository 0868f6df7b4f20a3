package listing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/sites"
)

func TestSavedCardealPageReadsAsExpected(t *testing.T) {
	const name = "cardealpage_2020_detail.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	for _, url := range []string{expected["url"].(string), strings.Replace(expected["url"].(string), "http://", "https://", 1), ""} {
		listing := savedPage(t, folder, name, url)
		for _, key := range compare(t, listing, expected) {
			switch key {
			case "images_distinct_urls":
				if got := float64(len(listing.Car.Images)); got != expected[key] {
					t.Errorf("%v images, want %v", got, expected[key])
				}
			case "url", "cif_state", "traps": // no fields of a car
			default:
				t.Errorf("%s is not compared", key)
			}
		}
		if len(listing.Notes) != 0 || !strings.HasSuffix(listing.Car.Images[33], "n=34.jpg") {
			t.Errorf("notes %v, images %v", listing.Notes, listing.Car.Images)
		}
	}
}

func TestSavedGoonetListIsNoListing(t *testing.T) {
	folder := savedPages(t)
	body, err := os.ReadFile(filepath.Join(folder, "goonet-exchange_2026-07_modellist.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "https://www.goo-net-exchange.com/usedcars/NISSAN/DATSUN_TRUCK/"} {
		_, err := Read(t.Context(), FromFile(body, url))
		wantOutcome(t, err, SeveralCars)
	}
}

// TestSavedGoonetCardGivesItsDollars reads the list as if it stood at its first
// card's address: hidden dollars and picture links are real.
func TestSavedGoonetCardGivesItsDollars(t *testing.T) {
	const name = "goonet-exchange_2026-07_modellist.html"
	folder := savedPages(t)
	var expected struct {
		First struct {
			URL string  `json:"url"`
			JPY float64 `json:"fob_jpy"`
			USD float64 `json:"fob_usd_shown"`
		} `json:"first_card"`
	}
	expectations(t, folder, name, &expected)
	body, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	doc := parsed(t, string(body), expected.First.URL)
	own := sites.Of(doc)
	doc = own.Cards(doc)[0]
	found := &claim.List{Source: own.Name, Rank: claim.RankSite, Dollar: func() string { return "USD" }}
	own.Read(doc, found)
	car := resolve(found, doc).Car
	fob, _ := car.FOBPriceUSD.Decimal().Float64()
	asked, _ := car.AskingPrice.Decimal().Float64()
	if fob != expected.First.USD || asked != expected.First.JPY || car.Currency != "JPY" || car.CFPriceUSD != nil {
		t.Errorf("FOB %v, asking %v %s, C&F %v", fob, asked, car.Currency, car.CFPriceUSD)
	}
	if car.Make != "NISSAN" || car.Model != "DATSUN TRUCK" || len(car.Images) != 1 {
		t.Errorf("%+v", car)
	}
}

func TestCardealPagePriceIsNotTheStruckTheSavedOrTheHelp(t *testing.T) {
	page := fixture(t, "cardealpage.html")
	url := fixtures["cardealpage"]
	for name, change := range map[string][]string{
		"shown":      {"x-none", ""},
		"only shown": {`id="CalcNowFOB" name="NowFOB" value="1850"`, ``},
	} {
		changed := page
		if change[0] != "x-none" {
			changed = replaced(t, page, change...)
		}
		car := read(t, changed, url).Car
		if amountOf(car.FOBPriceUSD) != "1850" || car.CFPriceUSD != nil {
			t.Errorf("%s: FOB %v, C&F %v", name, car.FOBPriceUSD, car.CFPriceUSD)
		}
	}
	ask := replaced(t, page, `<span class="mainUnit">US$</span>1,850`, "ASK", `value="1850"`, `value="0"`, "FOB US$1,850, ", "")
	if car := read(t, ask, url).Car; car.FOBPriceUSD != nil {
		t.Errorf("FOB %s of a car on request", car.FOBPriceUSD)
	}
}

func TestCardealPageKeepsItsModelCodeAndYear(t *testing.T) {
	car := read(t, fixture(t, "cardealpage.html"), fixtures["cardealpage"]).Car
	if car.ModelCode != "VY12" || car.FrameNumber != "VY12-1422***" || car.Year != 2012 || car.Manufacture != "" || car.EngineCC != 1490 || car.Transmission != "AT" {
		t.Errorf("%+v", car)
	}
}

func TestGoonetDollarsMustBelongToTheShownYen(t *testing.T) {
	page := fixture(t, "goonet.html")
	for name, c := range map[string]struct {
		change []string
		want   string
	}{
		"its own":        {[]string{"<h1>", "<h1> "}, "14302"},
		"of another car": {[]string{`<p class="car-price-frame car-price">¥2,310,000</p>`, `<p class="car-price-frame car-price">¥2,300,000</p>`}, "null"},
		"none":           {[]string{`name="currency-price"`, `name="x"`}, "null"},
		"broken":         {[]string{`{"USD":"$14,302"`, `{"USD":$14,302`}, "null"},
	} {
		car := read(t, replaced(t, page, c.change...), fixtures["goonet"]).Car
		if got := amountOf(car.FOBPriceUSD); got != c.want || car.Currency != "JPY" || car.CFPriceUSD != nil {
			t.Errorf("%s: FOB %s, want %s; %s, C&F %v", name, got, c.want, car.Currency, car.CFPriceUSD)
		}
	}
}

func TestSBTModelIsTheChassisCode(t *testing.T) {
	page := fixture(t, "sbt.html")
	for model, want := range map[string][2]string{
		"<td>GK3</td>":     {"FIT", "GK3"},
		"<td>DBA-GK3</td>": {"FIT", "GK3"},
		"<td>FIT</td>":     {"FIT", ""},
	} {
		car := read(t, replaced(t, page, "<td>GK3</td>", model), fixtures["sbt"]).Car
		if got := [2]string{car.Model, car.ModelCode}; got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}

func TestSBTNameIsCutOnlyWhereThePageSays(t *testing.T) {
	page := fixture(t, "sbt.html")
	const title, heading = "2019/3 HONDA FIT | SBT", "2019/3 HONDA FIT 13G F PACKAGE"
	for name, c := range map[string]struct {
		change []string
		want   [2]string
	}{
		"title is shorter": {[]string{heading, heading}, [2]string{"FIT", "13G F PACKAGE"}},
		"both long":        {[]string{title, heading + " | SBT"}, [2]string{"FIT", "13G F PACKAGE"}},
		"unknown":          {[]string{title, "2019/3 HONDA FYT 13G F PACKAGE | SBT", heading, "2019/3 HONDA FYT 13G F PACKAGE"}, [2]string{"", ""}},
		"one word":         {[]string{heading, "2019/3 HONDA FIT"}, [2]string{"FIT", ""}},
		"trail":            {[]string{title, heading + " | SBT", "<h1>", `<ul class="breadcrumb"><li><a href="/used-cars/honda/">HONDA</a></li><li><a href="/used-cars/honda/fit/">FIT</a></li></ul><h1>`}, [2]string{"FIT", "13G F PACKAGE"}},
	} {
		car := read(t, replaced(t, page, c.change...), fixtures["sbt"]).Car
		if got := [2]string{car.Model, car.Version}; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSBTTotalWithoutPortIsNoCF(t *testing.T) {
	if car := read(t, fixture(t, "sbt.html"), fixtures["sbt"]).Car; car.CFPriceUSD != nil || amountOf(car.FOBPriceUSD) != "7160" {
		t.Errorf("FOB %v, C&F %v", car.FOBPriceUSD, car.CFPriceUSD)
	}
}

func TestCarFromJapanTakesTheNewOfTwoPrices(t *testing.T) {
	page := fixture(t, "carfromjapan.html")
	for shown, want := range map[string]string{
		"US$ 22,980 US$ 22,337": "22337", "US$ 22,337": "22337", "US$ 22,337 US$ 22,980": "null", "ASK": "null", "US$ 22,980 US$ 0": "null",
	} {
		car := read(t, replaced(t, page, "US$ 22,980 US$ 22,337", shown), fixtures["carfromjapan"]).Car
		if got := amountOf(car.FOBPriceUSD); got != want || car.CFPriceUSD != nil {
			t.Errorf("%q: FOB %s, want %s; C&F %v", shown, got, want, car.CFPriceUSD)
		}
	}
}

func TestCarFromJapanCataloguePictureIsNotTheCar(t *testing.T) {
	if car := read(t, fixture(t, "carfromjapan.html"), fixtures["carfromjapan"]).Car; len(car.Images) != 1 || !strings.Contains(car.Images[0], "/car_") {
		t.Errorf("images %q", car.Images)
	}
}

func TestPicknBuyPriceIsNotTheOldOne(t *testing.T) {
	page := fixture(t, "picknbuy24.html")
	if got := amountOf(read(t, page, fixtures["picknbuy24"]).Car.FOBPriceUSD); got != "5250" {
		t.Errorf("FOB %s", got)
	}
	bare := replaced(t, page, "FOB US$ ", "FOB ")
	if car := read(t, bare, fixtures["picknbuy24"]).Car; car.FOBPriceUSD != nil {
		t.Errorf("FOB %s without a currency", car.FOBPriceUSD)
	}
}

func TestPicknBuyMileageIsKilometres(t *testing.T) {
	if car := read(t, fixture(t, "picknbuy24.html"), fixtures["picknbuy24"]).Car; car.MileageKM == nil || *car.MileageKM != 118000 {
		t.Errorf("mileage %v", car.MileageKM)
	}
}

func TestDriveIsTheSteeringSideOnlyWhereItNamesASide(t *testing.T) {
	for value, want := range map[string]string{"Right": "Right", "LHD": "LHD", "2WD": "", "2wheel drive": "", "4WD": "", "FF": ""} {
		page := replaced(t, fixture(t, "japanesecartrade.html"), "<strong>Right</strong>", "<strong>"+value+"</strong>")
		if car := read(t, page, fixtures["japanesecartrade"]).Car; car.Steering != want {
			t.Errorf("Drive %s: steering %q, want %q", value, car.Steering, want)
		}
	}
}

func TestPricesInYenAreNoFOB(t *testing.T) {
	car := read(t, fixture(t, "jpctrade.html"), fixtures["jpctrade"]).Car
	if car.FOBPriceUSD != nil || car.Currency != "JPY" || amountOf(car.AskingPrice) != "285000" {
		t.Errorf("FOB %v, asking %v %s", car.FOBPriceUSD, car.AskingPrice, car.Currency)
	}
}

func TestNikkyoTotalNeedsItsPort(t *testing.T) {
	page := fixture(t, "nikkyo.html")
	if car := read(t, page, fixtures["nikkyo"]).Car; car.CFPriceUSD != nil || amountOf(car.FOBPriceUSD) != "12300" {
		t.Errorf("FOB %v, C&F %v", car.FOBPriceUSD, car.CFPriceUSD)
	}
	named := replaced(t, page, `C&amp;F <span`, `C&amp;F Dar es Salaam <span`)
	if car := read(t, named, fixtures["nikkyo"]).Car; amountOf(car.CFPriceUSD) != "14100" {
		t.Errorf("C&F %v", car.CFPriceUSD)
	}
}

func TestManufactureOnRequestLeavesTheRegistration(t *testing.T) {
	car := read(t, fixture(t, "tcv.html"), fixtures["tcv"]).Car
	if car.Manufacture != "" || car.Year != 2008 || car.YearBasis != "registration" {
		t.Errorf("%d by %s, manufacture %q", car.Year, car.YearBasis, car.Manufacture)
	}
}

func TestPicturesOfOtherCarsAreLeftOut(t *testing.T) {
	for name, want := range map[string]int{"tcv": 2, "goonet": 2, "picknbuy24": 2, "cardealpage": 4, "sbt": 2} {
		if car := read(t, fixture(t, name+".html"), fixtures[name]).Car; len(car.Images) != want {
			t.Errorf("%s: images %q, want %d", name, car.Images, want)
		}
	}
}
