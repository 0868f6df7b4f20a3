package listing

import (
	"net/url"
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

const shapeURL = "https://cars.example.com/stock/toyota/passo/70021"

// shapeFacts are the facts of the car that each shape of markup shows.
var shapeFacts = [][2]string{
	{"Make", "TOYOTA"},
	{"Model", "PASSO"},
	{"Model Code", "DBA-KGC30"},
	{"Year of manufacture", "2012/05"},
	{"Engine Size", "996cc"},
	{"Fuel", "Petrol"},
	{"FOB Price", "US$ 2,350"},
	{"Mileage", "81,000 km"},
}

func shape(before, row, after string) string {
	var facts strings.Builder
	for _, f := range shapeFacts {
		facts.WriteString(strings.NewReplacer("LABEL", f[0], "VALUE", f[1]).Replace(row))
	}
	return "<title>TOYOTA PASSO</title><h1>TOYOTA PASSO</h1>" + before + facts.String() + after
}

func TestTheShapesOfMarkup(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"th td":                   shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>"),
		"td":                      shape("<table>", "<tr><td>LABEL:</td><td>VALUE</td></tr>", "</table>"),
		"td th":                   shape("<table>", "<tr><td>LABEL</td><th>VALUE</th></tr>", "</table>"),
		"two tables that repeat":  shape("<table>", "<tr><td>LABEL</td><th>VALUE</th></tr>", "</table>") + shape("<table>", "<tr><td>LABEL</td><td>VALUE</td></tr>", "</table>"),
		"dl":                      shape("<dl>", "<dt>LABEL</dt><dd>VALUE</dd>", "</dl>"),
		"dl with div":             shape("<dl>", "<div><dt>LABEL</dt><dd>VALUE</dd></div>", "</dl>"),
		"dl with span":            shape("<dl>", "<div><dt><span>LABEL</span></dt><dd><span><b>VALUE</b></span></dd></div>", "</dl>"),
		"li span strong":          shape("<ul>", "<li><span>LABEL</span><strong>VALUE</strong></li>", "</ul>"),
		"li sentence":             shape("<ul>", "<li>LABEL: VALUE</li>", "</ul>"),
		"li with two p":           shape("<ul>", "<li><p>LABEL</p><p>VALUE</p></li>", "</ul>"),
		"li with two div":         shape("<ul>", "<li><div>LABEL</div><div>VALUE</div></li>", "</ul>"),
		"div rows":                shape("<div class=facts>", "<div class=row><div>LABEL</div><div>VALUE</div></div>", "</div>"),
		"div rows, nested":        shape("<div class=facts>", "<div class=row><div class=col><strong>LABEL:</strong></div><div class=col><h6>VALUE</h6></div></div>", "</div>"),
		"div rows, h6":            shape("<div class=facts>", "<div class=row><div class=col><h6>LABEL</h6></div><div class=col><h5>VALUE</h5></div></div>", "</div>"),
		"flat divs":               shape("<div class=facts>", "<div>LABEL</div><div>VALUE</div>", "</div>"),
		"two span":                shape("<div class=facts>", "<div><span>LABEL: </span><span>VALUE</span></div>", "</div>"),
		"two p in a box":          shape("<div class=facts>", "<div class=box><p>LABEL</p><p>VALUE</p></div>", "</div>"),
		"p span strong":           shape("<div>", "<p><span>LABEL</span> <strong>VALUE</strong></p>", "</div>"),
		"p with text and b":       shape("<div>", "<p>LABEL: <b>VALUE</b></p>", "</div>"),
		"p b":                     shape("<div>", "<p><b>LABEL</b> VALUE</p>", "</div>"),
		"bold lines":              shape("<p>", "<b>LABEL:</b> VALUE<br>", "</p>"),
		"bold lines in a cell":    shape("<table><tr><td>", "<b>LABEL:</b> VALUE<br/>", "</td></tr></table>"),
		"strong without colon":    shape("<p>", "<strong>LABEL</strong> VALUE<br>", "</p>"),
		"plain lines":             shape("<div>", "LABEL: VALUE<br>", "</div>"),
		"plain lines, full width": shape("<div>", "LABEL：VALUE<br>", "</div>"),
		"one line":                shape("<p>", "LABEL: VALUE | ", "</p>"),
		"heads above values": "<title>TOYOTA PASSO</title><h1>TOYOTA PASSO</h1><table><tr><td>Make</td><td>Model</td><td>Model Code</td><td>YOM</td><td>Engine</td><td>Fuel</td>" +
			"<td>FOB Price</td><td>Mileage</td></tr><tr><td>TOYOTA</td><td>PASSO</td><td>DBA-KGC30</td><td>2012/05</td><td>996cc</td><td>Petrol</td><td>US$ 2,350</td><td>81,000 km</td></tr></table>",
		"full-width digits": strings.NewReplacer("996cc", "９９６ｃｃ", "2012/05", "２０１２／０５", "81,000 km", "８１，０００ｋｍ", "US$ 2,350", "US$ ２，３５０").
			Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>")),
		"narrow spaces":        strings.NewReplacer("996cc", "996\u202fcm³", "81,000 km", "81\u202f000 km").Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>")),
		"was and now":          strings.Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>"), "US$ 2,350", "<s>US$ 3,000</s> US$ 2,350", 1),
		"was by class":         strings.Replace(shape("<div>", "<p><b>LABEL:</b> VALUE</p>", "</div>"), "US$ 2,350", `<span class="old-price">US$ 3,000</span> US$ 2,350`, 1),
		"was by style":         strings.Replace(shape("<dl>", "<dt>LABEL</dt><dd>VALUE</dd>", "</dl>"), "US$ 2,350", `<span style="text-decoration: line-through">US$ 3,000</span> US$ 2,350`, 1),
		"was by style sheet":   "<style>.zz, td .x{color:red;text-decoration:line-through}</style>" + strings.Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>"), "US$ 2,350", `<i class="x">US$ 3,000</i> US$ 2,350`, 1),
		"make and model in h1": strings.NewReplacer("<tr><th>Make</th><td>TOYOTA</td></tr>", "", "<tr><th>Model</th><td>PASSO</td></tr>", "").Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>")),
		"year, make, model in h1": strings.NewReplacer("<tr><th>Make</th><td>TOYOTA</td></tr>", "", "<tr><th>Model</th><td>PASSO</td></tr>", "", "<h1>", "<h1>2012 ", "<title>TOYOTA PASSO", "<title>Example Motors").
			Replace(shape("<table>", "<tr><th>LABEL</th><td>VALUE</td></tr>", "</table>")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			car := read(t, page, shapeURL).Car
			mileage := 0
			if car.MileageKM != nil {
				mileage = *car.MileageKM
			}
			if car.Make != "TOYOTA" || car.Model != "PASSO" || car.ModelCode != "KGC30" || car.Year != 2012 || car.YearBasis != "manufacture" || car.EngineCC != 996 ||
				car.Fuel != "PETROL" || amountOf(car.FOBPriceUSD) != "2350" || mileage != 81000 {
				t.Errorf("%+v, price %s, %d km", car, amountOf(car.FOBPriceUSD), mileage)
			}
		})
	}
}

// The traps of labels, each by its name.

func TestSeatbeltsYearIsNoYear(t *testing.T) {
	for _, page := range []string{notePage("Seatbelts Year", "2011"), notePage("Seatbelts Year", "2011", "Year", "2015/2")} {
		car := read(t, page, noteURL).Car
		if car.Year != 2015 || car.Manufacture != "" { // of the title, or of Year
			t.Errorf("year %d by %s", car.Year, car.YearBasis)
		}
	}
}

func TestEngineCodeIsNoEngineSizeAndNoChassisCode(t *testing.T) {
	for _, name := range []string{"Engine Code", "Engine Type"} {
		for _, value := range []string{"1NZ-1LM", "HR12", "2AZ", "1500"} {
			page := strings.Replace(notePage(name, value), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
			if car := read(t, page, noteURL).Car; car.EngineCC != 0 || car.RawModelCode != "" {
				t.Errorf("%s %s: %d cc, code %q", name, value, car.EngineCC, car.RawModelCode)
			}
		}
	}
}

func TestEngineRowHoldsNoEngineCode(t *testing.T) {
	for _, value := range []string{"HR12", "1NZ-FE", "Good", "V6", "80kW", "0cc", "-"} {
		if car := read(t, notePage("Engine", value), noteURL).Car; car.EngineCC != 0 {
			t.Errorf("%q: %d cc", value, car.EngineCC)
		}
	}
}

func TestScoreLabelsAreNoVersion(t *testing.T) {
	for _, name := range []string{"Auc. Grade", "Auction Grade", "RATE", "Scores", "評価点"} {
		if car := read(t, notePage(name, "4.5"), noteURL).Car; car.Version != "" || car.Auction == nil || car.Auction.Score != "4.5" {
			t.Errorf("%s: version %q, auction %+v", name, car.Version, car.Auction)
		}
	}
}

func TestScoreUnderGradeIsNoVersion(t *testing.T) {
	for value, want := range map[string]string{"4.5": "", "4": "", "6": "", "S": "S", "20S": "20S", "13G": "13G", "2.0I-L": "2.0I-L"} {
		if car := read(t, notePage("Grade", value), noteURL).Car; car.Version != want {
			t.Errorf("%q: version %q", value, car.Version)
		}
	}
}

func TestStruckCouponAndInstalmentPricesAreNone(t *testing.T) {
	for value, want := range map[string]string{
		"<s>US$ 2,500</s> US$ 1,850":                        "1850",
		"<del>US$ 2,500</del><b>US$ 1,850</b>":              "1850",
		"<strike>$2,500</strike>US$1,850":                   "1850",
		`<span style="display: none">$2,500</span>US$1,850`: "1850",
		"US$ 1,850 (You save US$ 650)":                      "null",
		"26 % OFF":                                          "null",
		"US$ 100 coupon":                                    "null",
		"US$ 99 / month":                                    "null",
		"US$ 2,500 US$ 1,850":                               "null",
		"SOLD":                                              "null",
		"Under Offer":                                       "null",
		"POA":                                               "null",
		"Contact us":                                        "null",
		"US$ 0":                                             "null",
		"1,850":                                             "null",
		"<script>var fbq_vc_value = '$1,849';</script>US$1,850": "1850",
	} {
		if got := amountOf(read(t, notePage("FOB Price", value), noteURL).Car.FOBPriceUSD); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestOtherCurrenciesAreNoDollars(t *testing.T) {
	for value, want := range map[string]string{
		"¥1,705,000": "JPY", "229.5万円": "JPY", "1,200,000 YEN": "JPY", "KES 450,000": "KES", "TZS 12,000,000": "TZS", "€ 4,300": "EUR", "£3,900": "GBP",
		"C$ 9,000": "CAD", "$4,300 (¥640,000)": "",
	} {
		car := read(t, notePage("Price", value), noteURL).Car
		if car.FOBPriceUSD != nil || car.Currency != want || (car.AskingPrice != nil) != (want != "") {
			t.Errorf("%s: FOB %v, %s %v", value, car.FOBPriceUSD, car.Currency, car.AskingPrice)
		}
	}
}

func TestLineBreakInALabelIsASpace(t *testing.T) {
	page := plainTitle + `<table><tr><th><span>Registration<br>Year/month</span></th><td>2014/3</td></tr><tr><th>Fuel</th><td>Petrol</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Registration != "2014/3" {
		t.Errorf("registration %q", car.Registration)
	}
}

func TestCommentBetweenLabelAndValue(t *testing.T) {
	page := plainTitle + `<table><tr><th>Steering</th><!-- note --> <td><!-- x -->Right</td></tr><tr><th>Fuel</th><td>Petrol</td></tr><tr><th>Year</th><td>2015</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Steering != "Right" {
		t.Errorf("steering %q", car.Steering)
	}
}

func TestRowspanDoesNotShiftValues(t *testing.T) {
	page := plainTitle + `<table><tr><th rowspan="2">Manufacture<br>Year/month</th><td rowspan="2">-</td><th>Fuel</th><td>Petrol</td></tr>
		<tr><th>Engine Size</th><td>1,190cc</td></tr><tr><th>Max.Cap</th><td>-</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Manufacture != "" || car.EngineCC != 1190 || car.Fuel != "PETROL" {
		t.Errorf("%+v", car)
	}
}

func TestHelpTextOfALabelIsNotRead(t *testing.T) {
	page := plainTitle + `<table><tr><td>Reg.Year / Month <span title="Registered in 1999"></span></td><td>
		2015
		/
		Feb</td></tr><tr><td>Fuel Type</td><td>PETROL</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Registration != "2015 / Feb" || car.Year != 2015 {
		t.Errorf("registration %q", car.Registration)
	}
}

func TestCellWithItsOwnEmptyValueIsNotALabel(t *testing.T) {
	page := plainTitle + `<table><tr><td><span>Steering:</span> -</td><td><span>Auc. Grade:</span> 4.5</td><td><span>Year:</span> 2015</td></tr><tr><td>Fuel: Petrol</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Steering != "" || car.Auction == nil || car.Auction.Score != "4.5" || car.Fuel != "PETROL" {
		t.Errorf("steering %q, auction %+v", car.Steering, car.Auction)
	}
}

func TestVINIsAFrameNumberAndNoCode(t *testing.T) {
	page := strings.Replace(notePage("Chassis No.", "WBA3A16000J123456"), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
	if car := read(t, page, noteURL).Car; car.FrameNumber != "WBA3A16000J123456" || car.ModelCode != "" {
		t.Errorf("frame %q, code %q", car.FrameNumber, car.ModelCode)
	}
}

func TestFrameNumberWithoutHyphenIsNoCode(t *testing.T) {
	page := strings.Replace(notePage("Chassis No.", "GP23109876"), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
	if car := read(t, page, noteURL).Car; car.FrameNumber != "GP23109876" || car.RawModelCode == "GP23109876" && car.ModelCode == "GP23109876" {
		t.Errorf("frame %q, code %q", car.FrameNumber, car.ModelCode)
	}
}

func TestDirtyChassisCodes(t *testing.T) {
	for listed, want := range map[string]string{
		"DBA ZRE152": "ZRE152", "CBA TR1120UU PRADO": "TR1120UU", "AXIO DAA-NKE165": "NKE165", "DBA−ZRE152": "ZRE152", "ＤＢＡ－ＺＲＥ１５２": "ZRE152",
		"DBA-ZRE152, DBA-ZRE154": "ZRE152", "dba-zre152": "ZRE152", "A202S code": "A202S", "6AA-MXWH60-AHXHB": "MXWH60", "NKE165": "NKE165",
	} {
		page := strings.Replace(notePage("Year", "2015"), "DBA-E12", listed, 1)
		if car := read(t, page, noteURL).Car; car.ModelCode != want || car.RawModelCode != listed {
			t.Errorf("%q: code %q, raw %q", listed, car.ModelCode, car.RawModelCode)
		}
	}
}

func TestNamesShapedLikeCodesStayNames(t *testing.T) {
	for _, model := range []string{"X-TRAIL", "CX-30", "C-HR", "N-BOX", "RAV-4"} {
		page := "<title>2015 NISSAN " + model + "</title>" + strings.TrimPrefix(notePage("Year", "2015", "Model", model), plainTitle)
		page = strings.Replace(page, "<dt>Model Code</dt><dd>DBA-E12</dd>", "", 1)
		if car := read(t, page, "").Car; car.Model != model || car.ModelCode != "" {
			t.Errorf("model %q, code %q", car.Model, car.ModelCode)
		}
	}
}

func TestManufactureInKiswahiliIsTheYear(t *testing.T) {
	car := read(t, fixture(t, "kiswahili.html"), "").Car
	if car.Year != 2005 || car.YearBasis != "manufacture" || car.EngineCC != 1490 || car.Fuel != "PETROLI" {
		t.Errorf("%+v", car)
	}
}

func FuzzLabelValues(f *testing.F) {
	for _, seed := range []string{"¥1,705,000", "229.5万円", "12.2020", "2010 / Jan", "1,490cc", "1.8 liters", "118,000 km (73,200 mile)", "DBA−ZRE152", "NCP51-0235***", "X ｱｯﾌﾟ", "15.07.2026", "4.0", "US$ 22,980 US$ 22,337"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		found := &claim.List{Source: "fuzz", Rank: claim.RankLabel}
		for _, r := range readers {
			found.Add(r.field, value)
		}
		found.Add(claim.FieldChassis, value)
		found.Add(claim.FieldDrive, value)
		doc := &page.Document{URL: &url.URL{}, Base: &url.URL{}}
		car := resolve(found, doc).Car
		if car.Year != 0 && (car.Year < claim.MinYear || car.Year > claim.MaxYear()) || car.EngineCC < 0 || car.EngineCC > 20000 {
			t.Errorf("%q: %+v", value, car)
		}
		if p := car.FOBPriceUSD; p != nil && (!p.Decimal().IsPositive() || p.Decimal().IntPart() > 3_000_000) {
			t.Errorf("%q: FOB %s", value, p)
		}
		if car.MileageKM != nil && (*car.MileageKM < 0 || *car.MileageKM > claim.MaxMileage) {
			t.Errorf("%q: %d km", value, *car.MileageKM)
		}
	})
}
