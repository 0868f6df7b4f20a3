package listing

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/fetch"
	"ushuru/pkg/golden"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/vehicle"
)

const (
	beForwardURL = "https://www.beforward.jp/honda/fit-shuttle/qx204417/id/90012345/"
	dealerURL    = "https://cars.example.com/stock/MM-70021"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// replaced swaps pairs of texts in a page, each of which must be there.
func replaced(t *testing.T, markup string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(markup, pairs[i]) {
			t.Fatalf("the fixture has no %q", pairs[i])
		}
		markup = strings.ReplaceAll(markup, pairs[i], pairs[i+1])
	}
	return markup
}

func read(t *testing.T, markup, url string) *Listing {
	t.Helper()
	listing, err := Read(t.Context(), FromFile([]byte(markup), url))
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

func wantOutcome(t *testing.T, err error, code string) *fetch.Error {
	t.Helper()
	var failure *fetch.Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
	return failure
}

func TestFixturesReadAsGolden(t *testing.T) {
	for name, url := range fixtures {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(read(t, fixture(t, name+".html"), url), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".json", string(got)+"\n")
		})
	}
}

func TestSavedBeForwardPageIsRecognisedFromAnywhere(t *testing.T) {
	for _, url := range []string{"", "http://127.0.0.1:8099/x", "file.html"} {
		car := read(t, fixture(t, "beforward.html"), url).Car
		if car.Model != "FIT SHUTTLE" || car.BodyType != "Wagon" || len(car.Images) != 4 {
			t.Errorf("from %q: %+v", url, car)
		}
		for _, image := range car.Images {
			if !strings.HasPrefix(image, "http") {
				t.Errorf("from %q: image %q", url, image)
			}
		}
	}
}

func TestDeepPageGivesAClearError(t *testing.T) {
	for name, markup := range map[string]string{
		"nested": strings.Repeat("<div>", 6000),
		"tags":   strings.Repeat("<p>", 1_100_000),
	} {
		_, err := Read(t.Context(), FromFile([]byte(markup), ""))
		if failure := wantOutcome(t, err, page.PageUnreadable); failure.Retryable {
			t.Errorf("%s: temporary", name)
		}
	}
}

func TestHostilePagesEnd(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder // each node refers to the next a hundred times
	laughs.WriteString(`{"@graph":[{"@id":"#0","@graph":[`)
	for i := range 20 {
		refs := strings.TrimSuffix(strings.Repeat(`{"@id":"#`+strconv.Itoa(i+1)+`"},`, 100), ",")
		laughs.WriteString(refs + `]},{"@id":"#` + strconv.Itoa(i+1) + `","@graph":[`)
	}
	rows := strings.Repeat(`<input id="fn-port-city-info-1" data-port="DAR ES SALAAM" data-via="RORO">`, 50_000)
	forward := `<ul id="bread"></ul><table class="specification"></table>`
	for name, markup := range map[string]string{
		"references":  schemaPage(laughs.String() + `]}]}`),
		"cells":       strings.Repeat("<table><tr><td>", 160) + strings.Repeat("<i></i>", 100_000),
		"cards":       strings.Repeat("<ul><li>Fuel: x</li></ul>", 30_000),
		"class":       `<div class="` + strings.Repeat("a", 1<<20) + `">` + strings.Repeat("<ul><li>Fuel: x</li></ul>", 30_000),
		"rows":        forward + rows,
		"prices":      forward + strings.Repeat("<div>", 400) + strings.Repeat(`<p class="vehicle-price">ASK</p>`, 50_000),
		"attributes":  strings.Repeat("<b "+strings.Repeat("a ", 2000)+">", 100),
		"open quotes": strings.Repeat(`<a href="`, 100_000),
		"braces":      schemaPage(strings.Repeat("[", 100_000)) + schemaPage(strings.Repeat(",", 1<<20)+"]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, err := Read(t.Context(), FromFile([]byte(markup), "")); err == nil {
				t.Errorf("read as %+v", l.Car)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	body, err := os.ReadFile(filepath.Join("testdata", "beforward.html"))
	if err != nil {
		b.Fatal(err)
	}
	// As long as a real page, with menus, scripts and options as real ones have.
	filler := strings.Repeat(`<div class="menu"><ul><li><a href="/stocklist/make=1/" class="a b">A make <i class="icon"></i></a></li></ul></div>
		<script>var options = {"a": 1, "b": [1, 2, 3]}; if (options.a < 2) { run("x"); }</script><p>Some words about nothing.</p>`, 2200)
	markup := bytes.Replace(body, []byte("</body>"), []byte(filler+"</body>"), 1)
	b.Run("parse only", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			_, _ = html.Parse(bytes.NewReader(markup))
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			if _, err := Read(b.Context(), FromFile(markup, beForwardURL)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestTextIsCleanAndShort(t *testing.T) {
	markup := replaced(t, fixture(t, "beforward.html"),
		"<td>HYBRID SMART</td>", "<td>HY\u200bBRID\u202e &#7; SM\x01ART</td>", "<td>KOBE</td>", "<td>"+strings.Repeat("KOBE ", 5000)+"</td>")
	car := read(t, markup, beForwardURL).Car
	if car.Version != "HYBRID SMART" {
		t.Errorf("version %q", car.Version)
	}
	if len(car.Location) > claim.MaxText {
		t.Errorf("location of %d bytes", len(car.Location))
	}
}

func TestCharacterSetOfHeaderMetaAndMark(t *testing.T) {
	const japanese = "\x93\xfa\x96{" // 日本 in Shift_JIS
	markup := strings.Replace(fixture(t, "dealer.html"), `<meta charset="utf-8">`, "", 1)
	markup = replaced(t, markup, "Yokohama", japanese)
	fromHeader := FromFile([]byte(markup), dealerURL)
	fromHeader.Header.Set("Content-Type", "text/html; charset=Shift_JIS")
	fromMeta := FromFile([]byte(strings.Replace(markup, "<head>", `<head><meta charset="shift_jis">`, 1)), dealerURL)
	fromMark := FromFile([]byte("\ufeff"+strings.Replace(markup, japanese, "日本", 1)), dealerURL)
	euc := FromFile([]byte(strings.Replace(markup, japanese, "\xc6\xfc\xcb\xdc", 1)), dealerURL)
	euc.Header.Set("Content-Type", "text/html; charset=EUC-JP")
	cyrillic := FromFile([]byte(strings.Replace(markup, japanese, "\xd2\xee\xea\xe8\xee", 1)), dealerURL)
	cyrillic.Header.Set("Content-Type", "text/html; charset=windows-1251")
	for name, p := range map[string]*fetch.Page{"header": fromHeader, "meta": fromMeta, "mark": fromMark, "EUC-JP": euc, "windows-1251": cyrillic} {
		listing, err := Read(t.Context(), p)
		if err != nil || listing.Car.Location != "日本" && (p != cyrillic || listing.Car.Location != "Токио") {
			t.Errorf("%s: %v, %v", name, listing, err)
		}
	}
}

const bongoList = "https://www.goo-net-exchange.com/usedcars/MAZDA/BONGO/"

func cards(t *testing.T, page, url string) []Card {
	t.Helper()
	found, err := Cards(t.Context(), FromFile([]byte(page), url))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCardsOfAListAreReadAlone(t *testing.T) {
	page := fixture(t, "goonet-list.html")
	want := []map[string]string{{
		"make": "MAZDA", "model": "BONGO", "version": "GL", "year": "2003", "engine_cc": "1800", "fobPriceUSD": "5764", "currency": "JPY", "images": "1",
		"mileage_km": "86400", "transmission": "AT", "steering": "Right", "location": "Osaka Japan",
	}, { // the dollars are of another price, and the facts that are missing do not move the others
		"make": "MAZDA", "model": "BONGO", "year": "1989", "currency": "JPY", "transmission": "MT", "steering": "Left",
	}}
	for _, url := range []string{bongoList, ""} {
		found := cards(t, page, url)
		if len(found) != len(want) {
			t.Fatalf("%d cards, want %d", len(found), len(want))
		}
		for i, card := range found {
			got := flatten(&card.Car)
			for field, value := range got {
				if value != want[i][field] {
					t.Errorf("card %d: %s is %q, want %q", i, field, value, want[i][field])
				}
			}
		}
		if found[0].URL != bongoList+"700011110030260101001/" || found[1].URL != bongoList+"700022220030260202002/" {
			t.Errorf("%s, %s", found[0].URL, found[1].URL)
		}
		if found[0].Car.Registration != "2003.11" || amountOf(found[0].Car.AskingPrice) != "931000" || found[0].Car.CFPriceUSD != nil || found[0].Fields[0].Source == "" {
			t.Errorf("%+v", found[0])
		}
	}
}

func TestAListIsNeverOneCar(t *testing.T) {
	page := fixture(t, "goonet-list.html")
	one, _, found := strings.Cut(page, `<li><a class="spread_link_new_tab" href="/usedcars/MAZDA/BONGO/700022220030260202002/">`)
	if !found {
		t.Fatal("the fixture has no second card")
	}
	for name, body := range map[string]string{"of several": page, "of one": one} {
		for _, url := range []string{bongoList, "", bongoList + "700011110030260101001/", bongoList + "700099990030260909009/"} {
			if l, err := Read(t.Context(), FromFile([]byte(body), url)); err == nil {
				t.Errorf("a list %s at %q is read as %+v", name, url, l.Car)
			}
		}
	}
}

func TestAPageWithoutCardsIsNoList(t *testing.T) {
	for name, url := range map[string]string{"dealer": dealerURL, "beforward": beForwardURL} {
		_, err := Cards(t.Context(), FromFile([]byte(fixture(t, name+".html")), url))
		wantOutcome(t, err, NotAListing)
	}
	_, err := Cards(t.Context(), FromFile([]byte(strings.ReplaceAll(fixture(t, "goonet-list.html"), "list-listview", "x")), bongoList))
	wantOutcome(t, err, NotAListing)
}

func TestCardsAreBounded(t *testing.T) {
	card := `<li><a href="/usedcars/MAZDA/BONGO/700011110030260101001/"><p class="car-price">¥931,000</p><ul class="details"><li>2003</li></ul></a></li>`
	if found := cards(t, `<ul class="list-listview">`+strings.Repeat(card, 5000)+`</ul>`, bongoList); len(found) != sites.MaxListed {
		t.Errorf("%d cards", len(found))
	}
	nested := strings.Repeat(`<ul class="list-listview"><li><a href="/usedcars/MAZDA/BONGO/700011110030260101001/">x</a>`, 150) + strings.Repeat("<i>x</i>", 100_000)
	_, err := Cards(t.Context(), FromFile([]byte(nested), bongoList))
	wantOutcome(t, err, NotAListing)
}

func TestSavedGoonetListGivesItsCards(t *testing.T) {
	const name = "goonet-exchange_2026-07_modellist.html"
	folder := savedPages(t)
	var expected struct {
		Type      string         `json:"page_type"`
		Cards     int            `json:"cards"`
		JSONLD    bool           `json:"json_ld"`
		Microdata bool           `json:"microdata"`
		First     map[string]any `json:"first_card"`
		Fourth    map[string]any `json:"fourth_card"`
	}
	expectations(t, folder, name, &expected)
	body, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "https://www.goo-net-exchange.com/usedcars/NISSAN/DATSUN_TRUCK/"} {
		page := FromFile(body, url)
		found, err := Cards(t.Context(), page)
		if err != nil || len(found) != expected.Cards || expected.Type != "list, not a listing" {
			t.Fatalf("%d cards, %v", len(found), err)
		}
		compareCard(t, found[0], expected.First)
		compareCard(t, found[3], expected.Fourth)
		for _, card := range found {
			if card.Car.Make != "NISSAN" || card.Car.Model != "DATSUN TRUCK" || card.Car.Year == 0 || card.Car.EngineCC == 0 || card.Car.MileageKM == nil ||
				card.Car.FOBPriceUSD == nil || card.Car.CFPriceUSD != nil || len(card.Car.Images) != 1 || len(card.Notes) != 0 {
				t.Errorf("%s: %+v, notes %v", card.URL, card.Car, card.Notes)
			}
		}
	}
	doc := parsed(t, string(body), "")
	syntaxes := map[string]bool{}
	for _, root := range graph.New(doc).Roots {
		syntaxes[root.Syntax] = true
	}
	if syntaxes[graph.SourceJSONLD] != expected.JSONLD || syntaxes[graph.SourceMicrodata] != expected.Microdata {
		t.Errorf("data of schema.org: %v", syntaxes)
	}
	first := sites.Of(doc).Cards(doc)[0]
	var prices []string
	for _, p := range first.Tags[atom.P] {
		if dom.HasClass(p, "car-price") || dom.HasClass(p, "total-price") {
			prices = append(prices, dom.Text(p))
		}
	}
	if same := len(prices) == 2 && prices[0] == prices[1]; same != expected.First["estimated_total_same_as_fob"] {
		t.Errorf("prices %q", prices)
	}
}

// compareCard checks what stands under other names in expectations of cards.
func compareCard(t *testing.T, card Card, expected map[string]any) {
	t.Helper()
	car := card.Car
	got := map[string]any{"url": card.URL, "fob_jpy": "null", "fob_usd_shown": amountOf(car.FOBPriceUSD)}
	if car.Currency == "JPY" {
		got["fob_jpy"] = amountOf(car.AskingPrice)
	}
	for _, key := range compare(t, &card.Listing, expected) {
		want := expected[key]
		if number, ok := want.(float64); ok {
			want = fmt.Sprintf("%.0f", number)
		}
		switch have, known := got[key]; {
		case key == "estimated_total_same_as_fob": // of the page, not of the car
		case !known:
			t.Errorf("%s is not compared", key)
		case !reflect.DeepEqual(have, want):
			t.Errorf("%s: %v, want %v", key, have, want)
		}
	}
}

//go:embed testdata/truth.txt
var truthText string

// truth is what a person reads from the hand-written pages of testdata: fixture → field →
// value. Their structure is that of listing pages; their cars are made up.
var truth = listingtest.Truth(truthText)

// fixtures are those pages and where each would stand.
var fixtures = func() map[string]string {
	addresses := map[string]string{}
	for name, fields := range truth {
		addresses[name] = fields["url"]
	}
	return addresses
}()

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
