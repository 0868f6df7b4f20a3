package listing

import (
	"strings"
	"testing"

	"ushuru/pkg/vehicle"
)

func TestSavedJPAUCLotReadsAsExpected(t *testing.T) {
	const name = "jpauc_2026-08_past_detail_0.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	// The file is made of fragments; the first ends inside a script.
	for _, url := range []string{"", "https://jpauc.com/auction/past/detail/344009098"} {
		listing := savedPage(t, folder, name, url)
		compareLot(t, listing, expected)
		if got := listing.Car.Images; len(got) != 2 || strings.Contains(got[0]+got[1], "&h=") {
			t.Errorf("images %q", got)
		}
	}
}

func TestSavedAleadoRowReadsAsExpected(t *testing.T) {
	const name = "aleado_row_2026-07.html"
	folder := savedPages(t)
	var expected map[string]any
	expectations(t, folder, name, &expected)
	lot := expected["lot_path"].(string)
	for _, url := range []string{"", "https://auctions.a-automarket.com" + lot} {
		listing := savedPage(t, folder, name, url)
		compareLot(t, listing, expected)
		if got := listing.Car.Images; len(got) != 1 || got[0] != expected["image"] {
			t.Errorf("images %q", got)
		}
	}
}

// compareLot checks what stands under other names in expectations of lots.
func compareLot(t *testing.T, l *Listing, expected map[string]any) {
	t.Helper()
	lot := l.Car.Auction
	if lot == nil {
		t.Fatal("no auction")
	}
	got := map[string]any{
		"auction_score": lot.Score, "lot_no": lot.LotNo, "auction_date": lot.Date, "auction": lot.House,
		"start_price_jpy": float64(lot.StartPriceJPY), "end_price_jpy": float64(lot.EndPriceJPY),
	}
	for _, key := range compare(t, l, expected) {
		have, known := got[key]
		switch {
		case key == "traps", key == "lot_id", key == "lot_path", key == "image": // no fields of a car
		case !known:
			t.Errorf("%s is not compared", key)
		case expected[key] == nil && have == 0.0:
		case have != expected[key]:
			t.Errorf("%s: %v, want %v", key, have, expected[key])
		}
	}
}

func TestAuctionPricesAreNoAskingPrices(t *testing.T) {
	for name, want := range map[string][2]int{"jpauc": {450_000, 812_000}, "aleado": {330_000, 518_000}, "ajes": {600_000, 985_000}, "carvector": {}} {
		car := read(t, fixture(t, name+".html"), fixtures[name]).Car
		if car.FOBPriceUSD != nil || car.CFPriceUSD != nil || car.AskingPrice != nil || car.Currency != "" {
			t.Errorf("%s: FOB %v, C&F %v, asking %v %s", name, car.FOBPriceUSD, car.CFPriceUSD, car.AskingPrice, car.Currency)
		}
		if got := [2]int{car.Auction.StartPriceJPY, car.Auction.EndPriceJPY}; got != want {
			t.Errorf("%s: prices %v, want %v", name, got, want)
		}
	}
}

func TestDollarsOnAnAuctionPageAreNoFOB(t *testing.T) {
	page := replaced(t, fixture(t, "ajes.html"), "<td>985,000 YEN</td></tr>\n</table>", "<td>US$ 6,500</td></tr></table>")
	listing := read(t, page, fixtures["ajes"])
	if listing.Car.FOBPriceUSD != nil {
		t.Errorf("FOB %s", listing.Car.FOBPriceUSD)
	}
}

func TestSheetIsNumberZeroAndNotTheGuide(t *testing.T) {
	const sheet = "http://p3.aleado.com/pic/?system=auto&date=2026-09-14&auct=9&bid=40217&number=0"
	page := fixture(t, "jpauc.html")
	car := read(t, page, fixtures["jpauc"]).Car
	if car.ConditionReportURL == nil || *car.ConditionReportURL != sheet {
		t.Errorf("sheet %v", car.ConditionReportURL)
	}
	for _, image := range car.Images {
		if strings.HasSuffix(image, "number=0") || strings.Contains(image, "bid=40218") || strings.Contains(image, "h=480") {
			t.Errorf("image %q", image)
		}
	}
	without := strings.ReplaceAll(page, "&number=0", "&number=3")
	if car := read(t, without, fixtures["jpauc"]).Car; car.ConditionReportURL != nil || len(car.Images) != 3 {
		t.Errorf("sheet %v, images %q", car.ConditionReportURL, car.Images)
	}
}

func TestSheetOfTheAJESFeedIsTheFirstPicture(t *testing.T) {
	for name, want := range map[string]string{"ajes": "https://8.ajes.com/imgs/aaaaSHEETaaaa", "carvector": "https://8.ajes.com/imgs/ddddSHEETdddd"} {
		for _, url := range []string{fixtures[name], "https://an-importer.example.com/lot/1"} {
			if name == "carvector" && url != fixtures[name] {
				continue // its pictures stand in script data only
			}
			car := read(t, fixture(t, name+".html"), url).Car
			if car.ConditionReportURL == nil || *car.ConditionReportURL != want || len(car.Images) != 2 {
				t.Errorf("%s: sheet %v, images %q", name, car.ConditionReportURL, car.Images)
			}
		}
	}
}

func TestTrimIsNotTheScore(t *testing.T) {
	for name, want := range map[string][2]string{"jpauc": {"CUSTOM RS", "4.5"}, "aleado": {"X DIG-S", "4"}, "carvector": {"XD TOURING", "4.5"}} {
		car := read(t, fixture(t, name+".html"), fixtures[name]).Car
		if got := [2]string{car.Version, car.Auction.Score}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	page := plainTitle + `<dl><dt>Year</dt><dd>2015</dd><dt>Fuel</dt><dd>Petrol</dd><dt>Grade</dt><dd>4.5</dd><dt>RATE</dt><dd>RA</dd></dl>`
	if car := read(t, page, noteURL).Car; car.Version != "" || car.Auction == nil || car.Auction.Score != "RA" {
		t.Errorf("version %q, auction %+v", car.Version, car.Auction)
	}
}

func TestRowOfTheLotIsFoundAmongOthers(t *testing.T) {
	first := fixture(t, "aleado.html")
	second := strings.NewReplacer(`_1"`, `_2"`, "Lot1", "Lot2", "LotS1", "LotS2", "LotE1", "LotE2", "900000123", "900000124", "NOTE", "MARCH", "bid=2044", "bid=2045").Replace(first)
	page := first + second
	car := read(t, page, strings.Replace(fixtures["aleado"], "900000123", "900000124", 1)).Car
	if car.Model != "MARCH" {
		t.Errorf("model %q", car.Model)
	}
	for _, url := range []string{"", "https://auctions.zervtek.com/auctions/?p=project/findlots", strings.Replace(fixtures["aleado"], "900000123", "900000999", 1)} {
		_, err := Read(t.Context(), FromFile([]byte(page), url))
		wantOutcome(t, err, NotAListing)
	}
}

func TestDay(t *testing.T) {
	for text, want := range map[string]string{
		"2026-07-02 00:00:00": "2026-07-02", "15.07.2026": "2026-07-15", "15/07/2026": "2026-07-15", "21-09-2026": "2026-09-21", "2026-08-06": "2026-08-06",
		"": "", "07/2026": "", "31/31/2026": "", "tomorrow": "",
	} {
		if got, ok := day(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestAuctionOfACarWithoutOneIsAbsent(t *testing.T) {
	if car := read(t, fixture(t, "beforward.html"), beForwardURL).Car; car.Auction != (*vehicle.Auction)(nil) || car.ConditionReportURL != nil {
		t.Errorf("%+v", car.Auction)
	}
}
