package listing

import (
	"strings"
	"testing"

	"ushuru/pkg/listing/page"
)

// rscPage pushes rows to the script of a page, cut at every so many bytes.
func rscPage(rows string, every int) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace
	var markup strings.Builder
	for rows != "" {
		n := min(every, len(rows))
		markup.WriteString(`<script>self.__next_f.push([1,"` + quoted(rows[:n]) + `"])</script>`)
		rows = rows[n:]
	}
	return markup.String()
}

func parsed(t *testing.T, markup, url string) *page.Document {
	t.Helper()
	doc, err := page.Parse(nil, FromFile([]byte(markup), url))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheRecordOfThePageIsTaken(t *testing.T) {
	markup := fixture(t, "carused.html")
	if car := read(t, markup, fixtures["carused"]).Car; car.Model != "VEZEL" {
		t.Errorf("model %q", car.Model)
	}
	other := strings.Replace(fixtures["carused"], "CU10345", "CU99999", 1)
	if car := read(t, markup, other).Car; car.Model != "FIT" {
		t.Errorf("model %q", car.Model)
	}
	_, err := Read(t.Context(), FromFile([]byte(markup), "https://carused.jp/car-list/detail/honda/vezel/x/CU00000"))
	wantOutcome(t, err, NotAListing)
}

func TestScriptPriceNeedsTheSignOnThePage(t *testing.T) {
	markup := fixture(t, "carused.html")
	for shown, want := range map[string]string{
		"US$ 9,870": "9870", "$9870": "9870", "9,870 USD": "9870", "9,870": "null", "¥9,870": "null", "A$9,870": "null",
		"US$ 9,870,000": "null", "US$ 19,870": "19870", "US$ 9,870.50": "9870.5",
	} {
		car := read(t, replaced(t, markup, "US$ 9,870", shown), fixtures["carused"]).Car
		if got := amountOf(car.FOBPriceUSD); got != want {
			t.Errorf("shown as %q: %s, want %s", shown, got, want)
		}
	}
}

func TestAutocomCurrencyOneIsDollars(t *testing.T) {
	markup := fixture(t, "autocom.html")
	if got := amountOf(read(t, markup, fixtures["autocom"]).Car.FOBPriceUSD); got != "4210" {
		t.Errorf("FOB %s", got)
	}
	yen := replaced(t, markup, `\"currency\":1,`, `\"currency\":2,`)
	if car := read(t, yen, fixtures["autocom"]).Car; car.FOBPriceUSD != nil || car.AskingPrice != nil {
		t.Errorf("FOB %v", car.FOBPriceUSD)
	}
}

func TestAutocomHybridMarkAgainstTheFuel(t *testing.T) {
	markup := replaced(t, fixture(t, "autocom.html"), `isTagHybrid\":false`, `isTagHybrid\":true`)
	if car := read(t, markup, fixtures["autocom"]).Car; car.Fuel != "" {
		t.Errorf("fuel %q", car.Fuel)
	}
}

func TestNumbersForFuelAndMakeAreNoWords(t *testing.T) {
	markup := replaced(t, fixture(t, "carused.html"), `\"fuel\":\"Hybrid\"`, `\"fuel\":3`)
	if car := read(t, markup, fixtures["carused"]).Car; car.Fuel != "" {
		t.Errorf("fuel %q", car.Fuel)
	}
}

func TestHostileScriptsAndPicturesEnd(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div class=similar-x>", 400)
	for name, markup := range map[string]string{
		"lines":    rscPage(strings.Repeat("\n", 1_000_000), 2_000_000),
		"rows":     rscPage(strings.Repeat("1:[]\n", 200_000), 2_500_000),
		"texts":    rscPage(strings.Repeat("1:T0,", 200_000), 2_500_000),
		"records":  rscPage(`1:[`+strings.TrimSuffix(strings.Repeat(`{"refno":1,"model_code":2,"makerName":3},`, 20_000), ",")+"]\n", 5_000_000),
		"nested":   rscPage("1:"+strings.Repeat("[", 100_000)+"\n", 200_000),
		"objects":  `<script type="application/json">` + strings.Repeat(`{"refno":`, 9_000) + `1` + strings.Repeat("}", 9_000) + `</script>`,
		"pictures": deep + strings.Repeat(`<a href="/car_image.php?r=1">x</a><img src="/photo/1234567/1.jpg">`, 10_000),
		"trails":   "<title>2015 NISSAN NOTE</title>" + strings.Repeat(`<ul class="bread"><li><a>NISSAN</a></ul>`, 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, url := range []string{fixtures["carused"], fixtures["autocom"], "https://www.cardealpage.com/x", ""} {
				if l, err := Read(t.Context(), FromFile([]byte(markup), url)); err == nil {
					t.Errorf("read as %+v", l.Car)
				}
			}
		})
	}
}
