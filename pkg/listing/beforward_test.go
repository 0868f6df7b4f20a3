package listing

import (
	"strings"
	"testing"

	"ushuru/pkg/money"
)

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
