package listing

import (
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
)

// worldCar is a page of a Swift with HEAD in its heading, ROWS in its table and PRE
// above it.
const worldCar = `<title>HEAD</title><div><h1>HEAD</h1>PRE<table><tr><td>Make</td><td>Suzuki</td></tr><tr><td>Model</td><td>Swift</td></tr>
<tr><td>Chassis code</td><td>DBA-ZC72S</td></tr><tr><td>Engine</td><td>1240cc</td></tr>ROWS</table></div>`

const worldURL = "https://garage.example.net/inventory/4471820"

func worldPage(head, pre string, rows ...string) string {
	var table strings.Builder
	for i := 0; i+1 < len(rows); i += 2 {
		table.WriteString("<tr><td>" + rows[i] + "</td><td>" + rows[i+1] + "</td></tr>")
	}
	return strings.NewReplacer("HEAD", head, "PRE", pre, "ROWS", table.String()).Replace(worldCar)
}

// A label of a year is read by the parts of its words, so that a wording that was never
// seen counts when its parts are known.
func TestLabelsOfAYearAreReadByTheirParts(t *testing.T) {
	t.Parallel()
	for field, labels := range map[string]string{
		claim.FieldManufacture: "Manufactured on|Built on|Manufacture Yr/Mo|Manufac. Year|Year of construction|Factory date|Mwaka wa kutengenezwa gari|" +
			"Mwaka gari lilipotengenezwa|Mwaka wa kuundwa|Imetengenezwa mwaka|製造年度|製造年（年月）|生産年|製造日|Год изготовления|Год выпуска авто|Дата производства|" +
			"Год вып.|سنة التصنيع|تاريخ الإنتاج|عام الصنع|Année de production|Fabriqué en|Année fabrication|Ano de produção|Ano fab.|Fabricado em|" +
			"Fecha fabricación|Año de construcción|Bj.|Baujahr/Monat|Produktionsdatum|Herstelldatum|ปีผลิต|ปีที่ผลิต (พ.ศ.)|제조연도|생산년도|出厂日期|Bouwjaar",
		claim.FieldRegistration: "Registered on|mwaka wa kusajiliwa|Tarehe ya usajili|初年度登録年月|登録年月|初年度検査年月|年式(初年度)|Дата регистрации|تاريخ التسجيل|" +
			"أول تسجيل|Date de 1ère mise en circulation|Date de première immatriculation|Data do primeiro registo|Mês/ano de registo|1ª matriculación|" +
			"Fecha de matriculación|Erstzulassung (EZ)|Erste Zulassung|ปีที่จดทะเบียน|วันจดทะเบียน|최초 등록일|등록년도|上牌时间|Eerste toelating",
		claim.FieldModelYear: "Mwaka wa toleo|モデルイヤー|モデル年|سنة الموديل|Année du modèle|Ano do modelo|Año del modelo|รุ่นปี|모델연식|年款",
		"": "Advert date|Uploaded|掲載日|更新日|登録日時|Добавлено|تاريخ النشر|วันที่ลงประกาศ|등록일|Tarehe ya kuwekwa|車検|Registration expiry|" +
			"Inspection date|Engine year|Model|Modelo|Build quality",
	} {
		for label := range strings.SplitSeq(labels, "|") {
			if got := claim.FieldOf(label); got != field && (field != "" || got != claim.FieldModel && got != "ignored") {
				t.Errorf("%s: %q, want %q", label, got, field)
			}
		}
	}
}

func TestAModelYearFarFromTheYearTakenIsSaid(t *testing.T) {
	t.Parallel()
	l := read(t, worldPage("Suzuki Swift", "", "Model year", "2009", "Registration", "2015/2"), worldURL)
	if l.Car.Year != 2015 || len(l.Warnings) != 2 || l.Warnings[1].Code != "other_model_year" || l.Warnings[1].Values["modelYear"] != "2009" {
		t.Errorf("%d, %+v", l.Car.Year, l.Warnings)
	}
}

func TestSoldAndGoneInTheWordsOfTheWorld(t *testing.T) {
	t.Parallel()
	rows := []string{"YOM", "2012", "Price", "US$ 3,420", "Mileage", "71,300 km"}
	var pages []string
	for _, head := range []string{
		"VENDU - 2012 Suzuki Swift", "Verkauft: 2012 Suzuki Swift", "ПРОДАНО 2012 Suzuki Swift", "2012 Suzuki Swift 売切", "2012 Suzuki Swift [Under Offer]",
		"2012 Suzuki Swift (Reserved)", "2012 Suzuki Swift – No longer available", "تم البيع 2012 Suzuki Swift", "ขายแล้ว 2012 Suzuki Swift",
	} {
		pages = append(pages, worldPage(head, "", rows...))
	}
	for _, notice := range []string{
		"<span>Status: Sold</span>", `<img src="1.png" alt="SOLD">`, "<p>Gari hili limeuzwa</p>", "<p>Ce véhicule n'est plus disponible</p>",
		"<p>Fahrzeug nicht mehr verfügbar</p>", "<p>この車両は販売終了しました</p>", "<p>Автомобиль продан</p>", "<p>This ad has been deactivated</p>", "<p>Sale pending</p>",
	} {
		pages = append(pages, worldPage("2012 Suzuki Swift", notice, rows...))
	}
	pages = append(pages, worldPage("2012 Suzuki Swift", "", append(rows, "Availability", "Sold")...))
	for _, page := range pages {
		if l := read(t, page, worldURL); !l.Sold || l.Car.FOBPriceUSD != nil {
			t.Errorf("sold %v, price %s: %s", l.Sold, amountOf(l.Car.FOBPriceUSD), page)
		}
	}
	for _, notice := range []string{
		"<p>Over 500 cars sold</p>", "<p>Not sold yet</p>", "<p>We sold 30 Swifts last year.</p>", "<p>All rights reserved</p>", "<p>Special offer</p>", "<p>Status: In stock</p>",
	} {
		if l := read(t, worldPage("2012 Suzuki Swift", notice, rows...), worldURL); l.Sold || amountOf(l.Car.FOBPriceUSD) != "3420" {
			t.Errorf("%s: sold %v", notice, l.Sold)
		}
	}
	for _, head := range []string{"Vehicle not found", "404", "Listing expired", "This advert has ended", "Cette annonce n'existe plus", "お探しの車両は見つかりませんでした"} {
		_, err := Read(t.Context(), FromFile([]byte(worldPage(head, "", rows...)), worldURL))
		wantOutcome(t, err, Gone)
	}
}

func TestPagesOfOtherTradesAreRefused(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"Suzuki Swift self drive", "Louer Suzuki Swift", "Аренда Suzuki Swift", "Engine for Suzuki Swift ZC72S", "Front bumper Suzuki Swift 2012", "Brake pads Suzuki Swift",
		"Suzuki Swift seat covers", "Breaking Suzuki Swift 2012 for parts", "Why the Suzuki Swift is popular", "5 reasons to buy a Suzuki Swift", "Common faults of the Suzuki Swift",
	} {
		_, err := Read(t.Context(), FromFile([]byte(worldPage(head, "", "Year", "2012", "Price", "US$ 300")), worldURL))
		wantOutcome(t, err, NotAListing)
	}
	for _, head := range []string{"Check Suzuki Swift T 123 ABC", "Suzuki Swift specifications", "Suzuki Swift import duty Tanzania", "Stolen vehicle report: Suzuki Swift"} {
		_, err := Read(t.Context(), FromFile([]byte(worldPage(head, "", "Year", "2012")), worldURL))
		wantOutcome(t, err, NotAListing)
	}
	for _, row := range []string{"Price per day", "Daily rate"} {
		_, err := Read(t.Context(), FromFile([]byte(worldPage("Suzuki Swift", "", "Year", "2012", row, "US$ 30")), worldURL))
		wantOutcome(t, err, NotAListing)
	}
	compared := `<title>Compare</title><h1>Compare</h1><table><tr><th>Make</th><td>Suzuki</td><td>Toyota</td></tr><tr><th>Model</th><td>Swift</td><td>Vitz</td></tr>
		<tr><th>YOM</th><td>2012</td><td>2013</td></tr><tr><th>Engine</th><td>1240cc</td><td>1320cc</td></tr></table>`
	_, err := Read(t.Context(), FromFile([]byte(compared), worldURL))
	wantOutcome(t, err, SeveralCars)
	for _, head := range []string{"Suzuki Swift RS, manual transmission", "Suzuki Swift with alloy wheels and new tyres", "Suzuki Swift | Car rental & sales Co."} {
		read(t, worldPage(head, "", "Year", "2012", "Price", "US$ 3,420", "Mileage", "71,300 km"), worldURL)
	}
}

func TestPricesOfNowAndBefore(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"Was US$ 4,000 Now US$ 3,420": "3420", "US$ 3,420 (was US$ 4,000)": "3420", "<span>Old price</span> <span>$4,000</span> <span>US$ 3,420</span>": "3420",
		"US$ 4,000 US$ 3,420": "null", "Was US$ 4,000": "null", "US$ 120 pcm": "null", "US$ 3,<br>420": "3420",
		`<div class="box"><span class="reg"><em>US$ 4,000</em></span> US$ 3,420</div>`: "3420",
	} {
		page := "<style>.box span.reg > em, .none a:hover {text-decoration:line-through}</style>" + worldPage("Suzuki Swift", "", "Year", "2012", "Price", cell)
		if got := amountOf(read(t, page, worldURL).Car.FOBPriceUSD); got != want {
			t.Errorf("%s: %s, want %s", cell, got, want)
		}
	}
	inText := worldPage("Suzuki Swift", "<p>Price: <s>US$ 4,000</s> <b>US$ 3,420</b></p>", "Year", "2012")
	if got := amountOf(read(t, inText, worldURL).Car.FOBPriceUSD); got != "3420" {
		t.Errorf("in a paragraph: %s", got)
	}
	other := worldPage("Suzuki Swift", "", "Year", "2012") + `<div class="g"><div><img src="1"><p>Suzuki Swift</p><p>Price: US$ 9,990</p></div></div>`
	if l := read(t, other, worldURL); l.Car.FOBPriceUSD != nil || l.Warnings[len(l.Warnings)-1].Code != "price_unclear" {
		t.Errorf("%s, %+v", amountOf(l.Car.FOBPriceUSD), l.Warnings)
	}
}

func TestDollarsAndCountriesByThePlaceOfTheCar(t *testing.T) {
	t.Parallel()
	for place, want := range map[string][2]string{
		"Sydney, Australia": {"AUSTRALIA", "null"}, "Kuala Lumpur": {"MALAYSIA", "3420"}, "Harare": {"ZIMBABWE", "3420"}, "Antwerp, Belgium": {"BELGIUM", "3420"},
		"Hitachinaka": {"JAPAN", "3420"}, "Georgia Street, Yokohama": {"JAPAN", "3420"}, "Dar": {"TANZANIA", "3420"}, "": {"", "3420"},
	} {
		l := read(t, worldPage("Suzuki Swift", "", "Year", "2012", "Price", "$3,420", "Location", place)+"<p>Pay in USD</p>", worldURL)
		if l.Car.LocatedIn != want[0] || amountOf(l.Car.FOBPriceUSD) != want[1] {
			t.Errorf("%s: in %q, price %s", place, l.Car.LocatedIn, amountOf(l.Car.FOBPriceUSD))
		}
	}
	l := read(t, worldPage("Suzuki Swift", "", "Year", "2012", "Price", "$3,420")+"<p>All prices are in AUD. Convert to USD</p>", worldURL)
	if l.Car.FOBPriceUSD != nil || l.Car.Currency != "AUD" {
		t.Errorf("price %s, currency %s", amountOf(l.Car.FOBPriceUSD), l.Car.Currency)
	}
}

func TestNameplatesOfSeveralWordsInAHeading(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"2008 Toyota Land Cruiser Prado TX": "LAND CRUISER PRADO", "2012 Toyota Mark X 250G": "MARK X", "Mazda CX-5 XD": "CX-5", "2014 Honda Fit Shuttle": "FIT SHUTTLE",
		"2016 Land Rover Range Rover Sport HSE": "RANGE ROVER SPORT", "2009 Mitsubishi Delica D:5": "DELICA D:5", "Used 2012 Toyota Passo X Yururi": "PASSO",
		"Nissan Note e-POWER for sale": "NOTE", "Toyota used cars": "",
	} {
		page := strings.NewReplacer("<tr><td>Make</td><td>Suzuki</td></tr><tr><td>Model</td><td>Swift</td></tr>", "", "<title>"+head, "<title>Garage").Replace(worldPage(head, "", "Year", "2012", "Mileage", "7 km"))
		car := read(t, page, worldURL).Car
		if car.Model != want || head == "Nissan Note e-POWER for sale" && car.Version != "e-POWER" {
			t.Errorf("%s: %q %q, want %q", head, car.Model, car.Version, want)
		}
	}
}

func TestCodesBrokenByALineBreak(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"DBA-<br>ZC72S": "ZC72S", "DBA-ZC<br>72S": "ZC72S", "DBA-ZC<wbr>72S": "ZC72S", "DBA&shy;-ZC&shy;72S": "ZC72S", "DAA-NKE1<br>65": "NKE165",
	} {
		page := strings.Replace(worldPage("Suzuki Swift", "", "Year", "2012"), "DBA-ZC72S", cell, 1)
		if got := read(t, page, worldURL).Car.ModelCode; got != want {
			t.Errorf("%s: %q, want %q", cell, got, want)
		}
	}
}

func TestThePriceOfNowIsTakenAndTheFormerOneIsSaid(t *testing.T) {
	t.Parallel()
	for _, rows := range [][]string{
		{"Was", "US$ 4,000", "Now", "US$ 3,420"},
		{"FOB price", "US$ 4,000", "Special price", "US$ 3,420"},
		{"Old price", "US$ 4,000", "New price", "US$ 3,420"},
		{"Discounted price", "US$ 3,420", "Original price", "US$ 4,000"},
	} {
		l := read(t, worldPage("Suzuki Swift", "", append([]string{"YOM", "2012"}, rows...)...), worldURL)
		if price := l.Car.FOBPriceUSD; price == nil || price.String() != "3420" || len(l.Warnings) != 0 {
			t.Errorf("%v: %v, %+v", rows, price, l.Warnings)
		}
		for _, f := range l.Fields {
			if f.Name == claim.FieldPrice && (len(f.Others) != 1 || f.Others[0].Code != claim.ReasonFormer) {
				t.Errorf("%v: %+v", rows, f.Others)
			}
		}
	}
}

// The only label of the page stands outside a table, beside the facts in microdata.
func TestALooseLabelDoesNotOutrankMicrodata(t *testing.T) {
	t.Parallel()
	l := read(t, `<title>Suzuki Swift</title><h1>Suzuki Swift</h1><div itemscope itemtype="https://schema.org/Car">
<b itemprop="brand">Suzuki</b> <b itemprop="model">Swift</b> <meta itemprop="productionDate" content="2012-03">
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="priceCurrency" content="USD">
<meta itemprop="price" content="3420"></div></div><p>Price: US$ 9,990</p>`, worldURL)
	if price := l.Car.FOBPriceUSD; price == nil || price.String() != "3420" {
		t.Errorf("%v", price)
	}
}

func TestAHalfCutIsAPartWhateverItsPageGives(t *testing.T) {
	t.Parallel()
	doc := worldPage("Half cut Suzuki Swift 2012", "", "YOM", "2012", "Price", "US$ 420", "Mileage", "71,300 km")
	_, err := Read(t.Context(), FromFile([]byte(doc), worldURL))
	wantOutcome(t, err, NotAListing)
}

func TestMileageInTensOfThousands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"6.42万km": 64200, "６．４万ｋｍ": 64000, "12万キロ": 120000, "7.1 万公里": 71000} {
		if km, ok := claim.ParseMileage(text); !ok || km != want {
			t.Errorf("%s: %d, %t", text, km, ok)
		}
	}
}
