package listing

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
)

// savedPages is where pages of third parties lie on machines that have them.
// They are no part of the project.
func savedPages(t *testing.T) string {
	t.Helper()
	return testenv.Reference(t, "pages")
}

func expectations(t *testing.T, folder string, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[name], into); err != nil {
		t.Fatal(err)
	}
}

func savedPage(t *testing.T, folder, name, url string) *Listing {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(body), url)
}

// compare checks every expected value that has a counterpart; null means that
// the listing must not say either. It returns the keys that have none.
func compare(t *testing.T, l *Listing, expected map[string]any) (rest []string) {
	t.Helper()
	car := l.Car
	number := func(n *money.Number) any {
		if n == nil {
			return nil
		}
		f, _ := n.Decimal().Float64()
		return f
	}
	mileage := any(nil)
	if car.MileageKM != nil {
		mileage = float64(*car.MileageKM)
	}
	sheet := any(nil)
	if car.ConditionReportURL != nil {
		sheet = *car.ConditionReportURL
	}
	got := map[string]any{
		"make": car.Make, "model": car.Model, "chassis_code_listed": car.RawModelCode, "chassis_code": car.ModelCode, "frame_no": car.FrameNumber, "vin": car.FrameNumber,
		"version": car.Version, "year": float64(car.Year), "registration": car.Registration, "manufacture": car.Manufacture,
		"engine_cc": float64(car.EngineCC), "fuel_text": car.Fuel, "fob_usd": number(car.FOBPriceUSD), "cif_usd": number(car.CFPriceUSD),
		"price": number(car.AskingPrice), "currency": car.Currency, "images": float64(len(car.Images)), "auction_sheet": sheet,
		"mileage_km": mileage, "volume_m3": number(car.M3), "location": car.Location, "body": car.BodyType, "reference": car.StockNo,
	}
	for key, want := range expected {
		have, known := got[key]
		switch {
		case !known:
			rest = append(rest, key)
		case want == nil && (have == nil || have == "" || have == 0.0):
		case !strings.EqualFold(fmt.Sprint(have), fmt.Sprint(want)):
			t.Errorf("%s: %v, want %v", key, have, want)
		}
	}
	return rest
}

func TestSavedBeForwardPageReadsAsExpected(t *testing.T) {
	const name = "beforward_2026-09_detail_excerpt.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	for _, url := range []string{expected["url"].(string), ""} {
		listing := savedPage(t, folder, name, url)
		rest := compare(t, listing, expected)
		for _, key := range rest {
			switch key {
			case "url", "cif_state", "traps", "selected_country_id": // no fields of a car
			default:
				t.Errorf("%s is not compared", key)
			}
		}
		car := listing.Car
		if car.Make != "TOYOTA" || car.Model != "COROLLA AXIO" || car.Fuel != "HYBRID(PETROL)" || car.YearBasis != "registration" || len(listing.Notes) != 0 {
			t.Errorf("%+v, notes %v", car, listing.Notes)
		}
	}
}

func TestSavedCardealPageReadsByLabelsAndTitle(t *testing.T) {
	const name = "cardealpage_2020_detail.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	compare(t, savedPage(t, folder, name, expected["url"].(string)), expected)
}

func TestSavedAutotraderPageReadsByJSONLD(t *testing.T) {
	const name = "schemaorg/real_autotrader-classics_2020_Car_jsonld.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	compare(t, savedPage(t, folder, name, expected["url"].(string)), expected)
}

func TestSavedPagesWithoutACar(t *testing.T) {
	folder := savedPages(t)
	for _, name := range []string{
		"goonet-exchange_2026-07_modellist.html", "schemaorg/extruct_JSONLD_with_JS_comment.html",
		"schemaorg/extruct_JSONLD_with_control_characters.html", "schemaorg/extruct_JSONLD_with_control_characters_comment.html",
		"schemaorg/extruct_null_ld_mock.html", "schemaorg/extruct_jsonld_empty_item_test.html",
		"schemaorg/extruct_product.html", "schemaorg/extruct_product-ref.html", "schemaorg/extruct_product_microdata.html",
	} {
		body, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		want := NotAListing
		if strings.Contains(name, "modellist") {
			want = SeveralCars
		}
		_, err = Read(t.Context(), FromFile(body, "https://www.example.com/some/page"))
		wantOutcome(t, err, want)
	}
}

// TestSavedPagesAreWhatIsExpectedOfThem holds what expected.json says of the
// pages themselves, beside the fields of their cars.
func TestSavedPagesAreWhatIsExpectedOfThem(t *testing.T) {
	folder := savedPages(t)
	markup := func(name string) (*page.Document, map[string]any) {
		t.Helper()
		var expected map[string]any
		expectations(t, folder, name, &expected)
		body, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return parsed(t, string(body), ""), expected
	}
	forward, forwardWant := markup("beforward_2026-09_detail_excerpt.html")
	cardeal, cardealWant := markup("cardealpage_2020_detail.html")
	trader, traderWant := markup("schemaorg/real_autotrader-classics_2020_Car_jsonld.html")
	row, rowWant := markup("aleado_row_2026-07.html")
	linked := ""
	for _, a := range row.Tags[atom.A] {
		linked = dom.Attr(a, "href")
	}
	for name, c := range map[string]struct{ got, want any }{
		"BE FORWARD's address":   {forward.Canonical, forwardWant["url"]},
		"BE FORWARD's total":     {dom.Text(forward.IDs["fn-vehicle-price-total-price"]), forwardWant["cif_state"]},
		"BE FORWARD's country":   {forward.InputValue("id-tp-country-id"), fmt.Sprint(forwardWant["selected_country_id"])},
		"CardealPage's address":  {cardeal.Canonical, cardealWant["url"]},
		"CardealPage's total":    {dom.Text(cardeal.IDs["TotalPrice"]), cardealWant["cif_state"]},
		"the marketplace's page": {trader.Meta["og:url"], traderWant["url"]},
		"the link of the lot":    {linked, rowWant["lot_path"]},
		"the lot of the row":     {row.Resolve(linked).Query().Get("id"), rowWant["lot_id"]},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
