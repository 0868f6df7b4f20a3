package listing

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/listing/sites"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func TestSitesSayWhatTheyGiveInTheWordsOfACar(t *testing.T) {
	known := map[string]bool{}
	for field := range reflect.TypeFor[vehicle.Car]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = true
	}
	grades := map[string]bool{sites.VerifiedPage: true, sites.VerifiedScraper: true, sites.VerifiedText: true, sites.VerifiedHostOnly: true}
	names, hosts := map[string]bool{}, map[string]bool{}
	for _, s := range sites.All() {
		if s.Name == "" || names[s.Name] || !grades[s.Verified] || len(s.Hosts) == 0 || s.Gives == nil {
			t.Errorf("%+v", s)
		}
		names[s.Name] = true
		for _, h := range s.Hosts {
			if hosts[h] || strings.HasPrefix(h, "www.") || sites.NameOf("www."+h) != s.Name || sites.NameOf("x"+h) != "" {
				t.Errorf("%s: host %s", s.Name, h)
			}
			hosts[h] = true
		}
		for _, field := range s.Gives {
			if !known[field] {
				t.Errorf("%s gives %q, which no car has", s.Name, field)
			}
		}
	}
}

func TestSitesAreNotShared(t *testing.T) {
	sites.All()[0].Hosts[0] = "changed.example.com"
	if got := sites.All()[0].Hosts[0]; got != "beforward.jp" {
		t.Errorf("host %q", got)
	}
}

func TestSitesAsJSON(t *testing.T) {
	all := sites.All()
	data, err := json.Marshal(all[slices.IndexFunc(all, func(s sites.Info) bool { return s.Name == "Enhance Auto" })])
	want := `{"name":"Enhance Auto","hosts":["enhanceauto.com"],"gives":[],"verified":"host name only","note":"Nothing is known of its pages; labels and schema.org data are read as on any site.",` +
		`"text":{"en":"Nothing is known of its pages; labels and schema.org data are read as on any site.",` +
		`"sw":"Kurasa zake hazijulikani; lebo na data ya schema.org husomwa kama kwenye tovuti yoyote.","draft":true}}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}

func amountOf(n *money.Number) string {
	if n == nil {
		return "null"
	}
	return n.String()
}

// darRow is a row of the quote table, as a public reader of the site describes
// it.
const darRow = `<input id="fn-port-city-info-1" data-port="MOMBASA" data-destination="MOMBASA" data-via="pick up at port (RORO)" data-with-clearing="">
<div data-quote-form-row="1"><input class="fn-total-price" value="5001"></div>
<input data-with-clearing="" data-via="pick up at port (RORO)" data-destination="DAR ES SALAAM" data-port="DAR ES SALAAM" id="fn-port-city-info-2">
<div data-quote-form-row="2"><span>x</span></div><input value="5820" class="fn-total-price">
<div data-quote-form-row="3"><input class="fn-total-price" value="9999"></div>`

// toTanzania are the changes of a page that quotes for Tanzania.
var toTanzania = []string{
	`id="id-tp-country-id" value="125"`, `id="id-tp-country-id" value="40"`,
	`id="id-local-is-ask" value="1"`, `id="id-local-is-ask" value="0"`,
	`<span class="label-ask" id="fn-vehicle-price-total-price">ASK</span>`, `<span id="fn-vehicle-price-total-price">$5,820</span>`,
	`<p class="destination-port" style="display: none;"><br>()</p>`, `<p class="destination-port"><br>(DAR ES SALAAM)</p>`,
}

func TestBeForwardTotalIsTakenOnlyForDarEsSalaam(t *testing.T) {
	const rows = "<!-- rows of ports -->"
	cases := []struct {
		name    string
		changes []string
		want    string
	}{
		{"port beside the total", nil, "5820"},
		{"country alone", []string{`<br>(DAR ES SALAAM)`, ``}, "5820"},
		{"row of the port", []string{`<span id="fn-vehicle-price-total-price">$5,820</span>`, ``, rows, darRow}, "5820"},
		{"row number of another port", []string{`$5,820`, ``, rows, strings.ReplaceAll(darRow, "DAR ES SALAAM", "TANGA")}, "null"},
		{"row with clearing", []string{`$5,820`, ``, rows, strings.ReplaceAll(darRow, `data-with-clearing=""`, `data-with-clearing="1"`)}, "null"},
		{"row by container", []string{`$5,820`, ``, rows, strings.ReplaceAll(darRow, "RORO", "Container")}, "null"},
		{"row to a town behind the port", []string{`$5,820`, ``, rows, strings.Replace(darRow, `data-destination="DAR ES SALAAM"`, `data-destination="LUSAKA"`, 1)}, "null"},
		{"another country", []string{`id="id-tp-country-id" value="40"`, `id="id-tp-country-id" value="88"`}, "null"},
		{"another country, with a row", []string{`id="id-tp-country-id" value="40"`, `id="id-tp-country-id" value="88"`, rows, darRow}, "null"},
		{"another port", []string{`(DAR ES SALAAM)`, `(ZANZIBAR)`}, "null"},
		{"no country and no port", []string{`<input type="hidden" id="id-tp-country-id" value="40">`, ``, ` selected="selected"`, ``, `<br>(DAR ES SALAAM)`, ``}, "null"},
		{"port without country", []string{`<input type="hidden" id="id-tp-country-id" value="40">`, ``, ` selected="selected"`, ``}, "5820"},
		{"insurance makes it CIF", []string{`C&amp;F`, `CIF`}, "null"},
		{"only FOB", []string{`C&amp;F`, `FOB`}, "null"},
		{"on request", []string{`id="id-local-is-ask" value="0"`, `id="id-local-is-ask" value="1"`}, "null"},
		{"the price again", []string{`$5,820`, `$4,350`}, "null"},
		{"shillings", []string{`id="id-selected-currency" value="USD"`, `id="id-selected-currency" value="TZS"`}, "null"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page := replaced(t, replaced(t, fixture(t, "beforward.html"), toTanzania...), c.changes...)
			if got := amountOf(read(t, page, beForwardURL).Car.CFPriceUSD); got != c.want {
				t.Errorf("C&F %s, want %s", got, c.want)
			}
		})
	}
}

func TestBeForwardInspectionInTheTotalIsNoted(t *testing.T) {
	page := replaced(t, replaced(t, fixture(t, "beforward.html"), toTanzania...), `inspection" style="display: none;"`, `inspection"`)
	listing := read(t, page, beForwardURL)
	if len(listing.Notes) != 1 || !strings.Contains(listing.Notes[0].EN, "inspection") {
		t.Errorf("notes %v", listing.Notes)
	}
}

func TestBeForwardPriceIsTheOneShown(t *testing.T) {
	cases := []struct {
		name                  string
		changes               []string
		fob, currency, asking string
	}{
		{"not the tracked, adjusted, struck or saved one", nil, "4350", "USD", "4350"},
		{"yen", []string{`value="USD"`, `value="JPY"`, `$4,350</span>`, `¥652,500</span>`, `data-display-current-price="4350"`, `data-display-current-price="652500"`}, "null", "JPY", "652500"},
		{"another dollar", []string{`value="USD"`, `value="AUD"`}, "null", "AUD", "4350"},
		{"on request, whatever the markup still says", []string{`<s>$4,990</s> $4,350`, `ASK`}, "null", "", "null"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			car := read(t, replaced(t, fixture(t, "beforward.html"), c.changes...), beForwardURL).Car
			if amountOf(car.FOBPriceUSD) != c.fob || car.Currency != c.currency || amountOf(car.AskingPrice) != c.asking {
				t.Errorf("FOB %s, asking %s %s", amountOf(car.FOBPriceUSD), car.Currency, amountOf(car.AskingPrice))
			}
		})
	}
}

func TestBeForwardManufactureYearIsPreferred(t *testing.T) {
	page := replaced(t, fixture(t, "beforward.html"), "        -\n", "        2011/12\n")
	car := read(t, page, beForwardURL).Car
	if car.Year != 2011 || car.YearBasis != "manufacture" || car.Manufacture != "2011/12" || car.Registration != "2012/11" {
		t.Errorf("%d by %s, manufacture %q, registration %q", car.Year, car.YearBasis, car.Manufacture, car.Registration)
	}
}

func TestBeForwardFrameNumberStandsIn(t *testing.T) {
	page := replaced(t, fixture(t, "beforward.html"), "DAA-GP2", "-", "<td>GP2-3109876</td>", "<td>GP2-3109***</td>")
	listing := read(t, page, beForwardURL)
	car := listing.Car
	if car.ModelCode != "GP2" || car.RawModelCode != "GP2-3109***" || car.FrameNumber != "GP2-3109***" || len(listing.Notes) == 0 {
		t.Errorf("code %v, raw %v, notes %v", car.ModelCode, car.RawModelCode, listing.Notes)
	}
}

func TestBeForwardEngineCodeIsNoChassisCode(t *testing.T) {
	page := replaced(t, fixture(t, "beforward.html"), "DAA-GP2", "-", "GP2-3109876", "-")
	if car := read(t, page, beForwardURL).Car; car.ModelCode != "" || car.RawModelCode != "" {
		t.Errorf("code %q from the engine code LEA-MF6", car.RawModelCode)
	}
}

func TestBeForwardGalleryLinksWithoutInputs(t *testing.T) {
	page := replaced(t, fixture(t, "beforward.html"), `<input type="hidden" class="fn-images-pc" data-path="//`, `<a class="fn-image-slider-pc" href="https://`)
	if car := read(t, page, beForwardURL).Car; len(car.Images) != 4 || car.Images[3] != "https://image-cdn.example.com/large/202601/90012345/QX204417_aa0004.jpg" {
		t.Errorf("images %q", car.Images)
	}
}

func TestBeForwardSoldPage(t *testing.T) {
	marks := map[string][]string{
		"ribbon":       {`<h1>`, `<p class="sold-text">SOLD</p><h1>`},
		"under offer":  {`<h1>`, `<div class="list-detail-box-underoffer">x</div><h1>`},
		"availability": {`schema.org/InStock`, `schema.org/SoldOut`},
	}
	for name, change := range marks {
		t.Run(name, func(t *testing.T) {
			page := replaced(t, fixture(t, "beforward.html"), change...)
			listing := read(t, page, beForwardURL)
			if w := listing.Warnings; !listing.Sold || len(w) == 0 || w[len(w)-1].Code != Sold {
				t.Errorf("warnings %+v", w)
			}
			empty := replaced(t, page, "HONDA", "-", "Fit Shuttle", "-")
			_, err := Read(t.Context(), FromFile([]byte(empty), ""))
			wantOutcome(t, err, Sold)
		})
	}
}

func TestDisagreementIsNoted(t *testing.T) {
	page := replaced(t, fixture(t, "beforward.html"), `"price": "4350"`, `"price": "4100"`)
	listing := read(t, page, beForwardURL)
	if amountOf(listing.Car.FOBPriceUSD) != "4350" || len(listing.Notes) != 1 || !strings.Contains(listing.Notes[0].EN, "4100") {
		t.Errorf("FOB %s, notes %v", amountOf(listing.Car.FOBPriceUSD), listing.Notes)
	}
}

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
