package listing

import (
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/pairs"
)

const plainTitle = "<title>2015 NISSAN NOTE</title>"

// noteURL has make and model in its path, which names the car of pages that
// are about their labels only.
const noteURL = "https://cars.example.com/nissan/note/1"

func TestLabelShapes(t *testing.T) {
	const want = "DBA-E12 1190 PETROL 2015/2"
	for name, markup := range map[string]string{
		"th and td": `<table><tr><th>Model Code</th><td>DBA-E12</td><th>Engine Size</th><td>1,190cc</td></tr>
			<tr><th>Fuel</th><td>Petrol</td><th>Registration<br>Year/month</th><td>2015/2</td></tr></table>`,
		"td and td": `<table><tr><td>Model Code</td><td> DBA-E12 </td></tr><tr><td>Engine Size</td><td>1190 cc</td></tr>
			<tr><td>Fuel Type</td><td>Petrol</td></tr><tr><td>Reg.Year / Month <span title="a long help"></span></td><td>2015/2</td></tr></table>`,
		"dt and dd": `<dl><dt>Model code:</dt><dd>DBA-E12</dd><dt>Displacement</dt><dd>1.19L</dd><dt>FUEL</dt><dd>Petrol</dd><dt>R Year / Month</dt><dd>2015/2</dd></dl>`,
		"list": `<ul><li><span>Model Code</span><strong>DBA-E12</strong></li><li><span>Engine</span> <strong>1190 CC</strong></li>
			<li><span>Fuel</span><strong>Petrol</strong></li><li><span>Reg. Year/Month</span><strong>2015/2</strong></li></ul>`,
		"sentences": `<div><p>Model Code: DBA-E12</p><p><b>Engine CC:</b> 1,190</p><p>Fuel : Petrol</p><div>Reg. Year: 2015/2</div></div>`,
		"cells with their labels": `<table><tr><th>Model Code</th><th>CC</th></tr><tr><td><span>Model Code:</span> DBA-E12</td><td><span>CC:</span> 1190cc</td></tr>
			<tr><td><span>Fuel:</span> Petrol</td><td><span>Reg Year:</span> 2015/2</td></tr></table>`,
		"strip": `<table><tr><td>Model Code</td><td>Engine</td><td>Fuel</td><td>Year</td></tr><tr><td>DBA-E12</td><td>1,190cc</td><td>Petrol</td><td>2015/2</td></tr></table>`,
		"head and body cells, comment between": `<table><tr><th>Model Code</th><!-- c --> <td>DBA-E12</td><th>Engine Size</th>
			<!-- c --><td><!-- c -->1,190cc</td></tr><tr><th rowspan="2">Fuel</th><td rowspan="2">Petrol</td><th>First Registration</th><td>2015/2</td></tr><tr><th>Max.Cap</th><td>-</td></tr></table>`,
	} {
		t.Run(name, func(t *testing.T) {
			car := read(t, plainTitle+markup, noteURL).Car
			if got := strings.Join([]string{car.RawModelCode, strconv.Itoa(car.EngineCC), car.Fuel, car.Registration}, " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if car.Make != "NISSAN" || car.Model != "NOTE" {
				t.Errorf("make %q, model %q", car.Make, car.Model)
			}
		})
	}
}

func TestEmptyAndIconValuesNeverReplaceRealOnes(t *testing.T) {
	markup := plainTitle + `<table id="note"><tr><td>Engine</td><td><div class="good"></div></td></tr><tr><td>Transmission</td><td><i></i></td></tr><tr><td>Fuel</td><td>-</td></tr></table>
		<table><tr><td>Engine Size</td><td>1,190cc</td></tr><tr><td>Transmission</td><td>CVT</td></tr><tr><td>Fuel</td><td>Petrol</td></tr><tr><td>Grade</td><td>N/A</td></tr>
		<tr><td>Seatbelts Year</td><td>2013</td></tr><tr><td>Year</td><td>2015</td></tr><tr><td>Engine Code</td><td>HR12</td></tr></table>`
	car := read(t, markup, noteURL).Car
	if car.EngineCC != 1190 || car.Transmission != "CVT" || car.Fuel != "PETROL" || car.Version != "" || car.Year != 2015 {
		t.Errorf("%+v", car)
	}
}

func TestTheColourIsThatOfTheOutsideInWords(t *testing.T) {
	for row, want := range map[string]string{
		"<dt>Ext. Color</dt><dd>Pearl</dd><dt>Int. Color</dt><dd>Black</dd>": "Pearl",
		"<dt>Colour</dt><dd>Dark Blue</dd>":                                  "Dark Blue",
		"<dt>Interior Color</dt><dd>Black</dd>":                              "",
		"<dt>Color</dt><dd>040</dd>":                                         "", // a code of the maker for its paint
		"<dt>Color</dt><dd>-</dd>":                                           "",
	} {
		car := read(t, plainTitle+`<dl>`+row+`<dt>Year</dt><dd>2015</dd><dt>Fuel</dt><dd>Petrol</dd><dt>Model Code</dt><dd>DBA-E12</dd></dl>`, noteURL).Car
		if car.Colour != want {
			t.Errorf("%s: %q, want %q", row, car.Colour, want)
		}
	}
}

func TestChassisLabelIsDecidedByShape(t *testing.T) {
	for value, want := range map[string][2]string{
		"E12-0612***": {"E12-0612***", "E12-0612***"}, // the frame stands in for the code
		"DBA-E12":     {"DBA-E12", ""},
		"E12":         {"E12", ""},
	} {
		car := read(t, plainTitle+`<dl><dt>Chassis</dt><dd>`+value+`</dd><dt>Year</dt><dd>2015</dd><dt>Fuel</dt><dd>Petrol</dd></dl>`, noteURL).Car
		if car.RawModelCode != want[0] || car.FrameNumber != want[1] || car.ModelCode != "E12" {
			t.Errorf("%s: code %q raw %q frame %q", value, car.ModelCode, car.RawModelCode, car.FrameNumber)
		}
	}
}

func TestTotalWithoutDestinationIsNoCF(t *testing.T) {
	const markup = plainTitle + `<dl><dt>Year</dt><dd>2015</dd><dt>Fuel</dt><dd>Petrol</dd><dt>FOB Price</dt><dd>US$ 2,000</dd><dt>LABEL</dt><dd>VALUE</dd></dl>`
	for _, c := range []struct{ NormalizeLabel, Value, want string }{
		{"Total Price", "US$ 3,300", "null"},
		{"Total Price", "US$ 3,300 to Mombasa", "null"},
		{"CIF", "US$ 3,300 Dar es Salaam", "null"},
		{"Total Price", "US$ 3,300 to Dar es Salaam", "3300"},
		{"C&amp;F Dar es Salaam", "$3,300", "3300"},
		{"C&amp;F Dar es Salaam", "3,300", "null"},
		{"C&amp;F Dar es Salaam", "ASK", "null"},
		{"C&amp;F Dar es Salaam", "KES 3,300", "null"},
	} {
		car := read(t, strings.NewReplacer("LABEL", c.NormalizeLabel, "VALUE", c.Value).Replace(markup), noteURL).Car
		if got := amountOf(car.CFPriceUSD); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.NormalizeLabel, c.Value, got, c.want)
		}
		if amountOf(car.FOBPriceUSD) != "2000" {
			t.Errorf("FOB %s", amountOf(car.FOBPriceUSD))
		}
	}
}

func TestSimilarCarsAreNotTaken(t *testing.T) {
	markup := plainTitle + `<dl><dt>Stock No.</dt><dd>A1</dd><dt>Year</dt><dd>2015</dd><dt>Fuel</dt><dd>Petrol</dd><dt>Mileage</dt><dd>9,000km</dd></dl>
		<ul><li>Stock No: B2</li><li>Engine: 2000cc</li></ul><ul><li>Stock No: C3</li><li>Engine: 1800cc</li></ul>
		<div class="similar-cars"><dl><dt>Grade</dt><dd>Axis</dd></dl></div><footer><p>Model: ROGUE</p></footer>
		<ul><li>Mileage: 1 km</li><li>Grade: S</li></ul>`
	car := read(t, markup, noteURL).Car
	if car.EngineCC != 0 || car.Version != "" || car.StockNo != "A1" || car.Model != "NOTE" || *car.MileageKM != 9000 {
		t.Errorf("%+v", car)
	}
}

func TestWordsThatAVisitorOperatesAreNotLabels(t *testing.T) {
	const facts = `<dl><dt>Year</dt><dd>2015</dd><dt>Stock No.</dt><dd>A1</dd></dl>`
	for markup, want := range map[string]string{
		`<div><b>Fuel</b> <i>Diesel</i></div>`:                                     "DIESEL",
		`<form class="offer"><div><b>Fuel</b> <i>Diesel</i></div></form>`:          "DIESEL",
		`<form class="car-search"><div><b>Fuel</b> <i>Diesel</i></div></form>`:     "",
		`<a href="/diesel"><span><b>Fuel</b> <i>Diesel</i></span></a>`:             "",
		`<button><span>Fuel</span> <i>Diesel</i></button>`:                         "",
		`<button>Sort</button><p><b>Fuel</b> <i>Diesel</i></p><button>Up</button>`: "DIESEL",
	} {
		if car := read(t, plainTitle+facts+markup, noteURL).Car; car.Fuel != want {
			t.Errorf("%s: %q, want %q", markup, car.Fuel, want)
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add(`<table><tr><td>Fuel</td><td>Petrol</td></tr><tr><td>Year<td>2015</table><li><span>CC</span><b>1</b></li><dt>KM<dd>5`)
	f.Fuzz(func(t *testing.T, markup string) {
		doc, err := page.Parse(nil, FromFile([]byte(markup), ""))
		if err != nil {
			return
		}
		found, _ := pairs.In(nil, page.Body(doc))
		for _, p := range found {
			if p.Field == "" || p.Group == nil || len(p.Value) > claim.MaxText || len(p.Label) > 80 {
				t.Errorf("%+v", p)
			}
		}
	})
}

func TestFreightIsRead(t *testing.T) {
	for text, want := range map[string]string{
		"US$ 3,300 to Dar es Salaam": "USD 3300", "C&F Dar-es-Salaam, Tanzania: $3,300": "USD 3300", "US$ 3,300": "USD 3300",
		"US$ 3,300 to Mombasa": "", "US$ 3,300 CIF Dar es Salaam": "", "from US$ 3,300 to Dar es Salaam": "",
	} {
		if got, ok := freighted(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
