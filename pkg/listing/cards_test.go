package listing

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/listing/sites"
)

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
