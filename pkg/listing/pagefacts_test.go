package listing

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

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
