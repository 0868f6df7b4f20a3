package listing

import (
	"strings"
	"testing"
)

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
