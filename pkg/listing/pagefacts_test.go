package listing

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/net/html/atom"
)

// TestSavedPagesAreWhatIsExpectedOfThem holds what expected.json says of the
// pages themselves, beside the fields of their cars.
func TestSavedPagesAreWhatIsExpectedOfThem(t *testing.T) {
	folder := savedPages(t)
	page := func(name string) (*document, map[string]any) {
		t.Helper()
		var expected map[string]any
		expectations(t, folder, name, &expected)
		body, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return parsed(t, string(body), ""), expected
	}
	forward, forwardWant := page("beforward_2026-09_detail_excerpt.html")
	cardeal, cardealWant := page("cardealpage_2020_detail.html")
	trader, traderWant := page("schemaorg/real_autotrader-classics_2020_Car_jsonld.html")
	row, rowWant := page("aleado_row_2026-07.html")
	linked := ""
	for _, a := range row.tags[atom.A] {
		linked = attr(a, "href")
	}
	for name, c := range map[string]struct{ got, want any }{
		"BE FORWARD's address":   {forward.canonical, forwardWant["url"]},
		"BE FORWARD's total":     {text(forward.ids["fn-vehicle-price-total-price"]), forwardWant["cif_state"]},
		"BE FORWARD's country":   {forward.value("id-tp-country-id"), fmt.Sprint(forwardWant["selected_country_id"])},
		"CardealPage's address":  {cardeal.canonical, cardealWant["url"]},
		"CardealPage's total":    {text(cardeal.ids["TotalPrice"]), cardealWant["cif_state"]},
		"the marketplace's page": {trader.meta["og:url"], traderWant["url"]},
		"the marketplace's cars": {float64(len(findCars(newGraph(trader)).cars)), traderWant["vehicles"]},
		"the link of the lot":    {linked, rowWant["lot_path"]},
		"the lot of the row":     {lotOf(row, row.ids["bid_number_1"]), rowWant["lot_id"]},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
