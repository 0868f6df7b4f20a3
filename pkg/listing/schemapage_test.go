package listing

import (
	"fmt"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
)

func TestSchemaCarOfThePage(t *testing.T) {
	car := func(model, more string) string {
		return `{"@type":"Car","brand":"Toyota","name":"` + model + ` car","model":"` + model + `","vehicleModelDate":"2011","fuelType":"x"` + more + `}`
	}
	one, two := car("One", `,"url":"/cars/one"`), car("Two", `,"sku":"TWO-2222","url":"/cars/other"`)
	cars := "[" + one + "," + two + "]"
	list := func(items ...string) string {
		return `{"@type":"ItemList","itemListElement":[{"@type":"ListItem","item":` + strings.Join(items, `},{"@type":"ListItem","item":`) + `}]}`
	}
	for _, c := range []struct{ name, block, url, want string }{
		{"by url", cars, "https://c.example.com/cars/one", "ONE"},
		{"by url and parameters", cars, "https://c.example.com/cars/other?x=1", "TWO"},
		{"by url with www and a slash", cars, "https://www.c.example.com/cars/Other/", "TWO"},
		{"by stock number", cars, "https://c.example.com/x/two-2222/", "TWO"},
		{"by stock number in a parameter", cars, "https://c.example.com/x?ref=TWO-2222", "TWO"},
		{"by a part of the number", cars, "https://c.example.com/x/two-22223/", ""},
		{"none of several, on a page without address", cars, "", ""},
		{"none of several, on a home page", cars, "https://c.example.com/", ""},
		{"both belong to other pages", cars, "https://c.example.com/cars/three", ""},
		{"one without url", "[" + two + "," + car("Own", "") + "]", "https://c.example.com/cars/three", "OWN"},
		{"the only one, with another url", one, "https://c.example.com/cars/three", "ONE"},
		{"by parameter", "[" + car("One", `,"url":"/show?id=1"`) + "," + car("Two", `,"url":"/show?id=2"`) + "]", "https://c.example.com/show?lang=en&id=2", "TWO"},
		{"by id", "[" + one + "," + car("Two", `,"@id":"https://c.example.com/cars/2#car"`) + "]", "https://c.example.com/cars/2", "TWO"},
		{"ids within the page are no address", "[" + car("One", `,"@id":"#1"`) + "," + car("Two", `,"@id":"#2"`) + "]", "https://c.example.com/cars/2", ""},
		{"by the url of the offer", "[" + one + "," + car("Two", `,"offers":{"@type":"Offer","url":"/cars/2"}`) + "]", "https://c.example.com/cars/2", "TWO"},
		{"by the page it is the main of", "[" + one + "," + car("Two", `,"mainEntityOfPage":{"@id":"https://c.example.com/cars/2"}`) + "]", "https://c.example.com/cars/2", "TWO"},
		{"by VIN", "[" + one + "," + car("Two", `,"vehicleIdentificationNumber":"NKE165-7161960"`) + "]", "https://c.example.com/v/nke165-7161960.html", "TWO"},
		{"not the carousel", "[" + list(one, two) + "," + car("Own", "") + "]", "https://c.example.com/cars/three", "OWN"},
		{"of a list, by url", list(one, two), "https://c.example.com/cars/one", "ONE"},
		{"a list", list(one, two), "", ""},
		{"a list of one", list(two), "", "TWO"},
		{"a list of one similar car", strings.Replace(list(car("One", "")), `{`, `{"name":"Similar cars",`, 1), "", ""},
		{"a list of one other", list(two), "https://c.example.com/cars/three", ""},
		{"a list by reference", `{"@graph":[` + list(`{"@id":"#1"}`, `{"@id":"#2"}`) + "," + car("One", `,"@id":"#1"`) + "," + car("Two", `,"@id":"#2"`) + "]}", "", ""},
		{"a seller's stock", `{"@type":"AutoDealer","makesOffer":[{"@type":"Offer","itemOffered":` + one + `},{"@type":"Offer","itemOffered":` + two + `}]}`, "", ""},
		{"main of the page", `{"@graph":[{"@type":"WebPage","mainEntity":{"@id":"#2"}},` + car("Two", `,"@id":"#2"`) + `]}`, "", "TWO"},
		{"by name in the title", "[" + one + "," + car("XYZ", "") + "]", "", "XYZ"},
		{"similar", car("Own", `,"isSimilarTo":[`+one+`],"isRelatedTo":`+two), "https://c.example.com/cars/one", "OWN"},
		{"in another property", `{"@type":"Review","itemReviewed":` + one + `}`, "", ""},
		{"breadcrumb", `[{"@type":"BreadcrumbList","itemListElement":[{"item":{"@id":"#o"}},{"item":` + one + `}]},` + car("Own", `,"@id":"#o"`) + `]`, "", "OWN"},
	} {
		markup := strings.Replace(schemaPage(c.block), "<title>x<", "<title>Used XYZ car | Made-up Motors<", 1)
		if got := schemaOf(t, markup, c.url).Car.Model; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCanonicalNamesThePage(t *testing.T) {
	markup := `<link rel="canonical" href="https://c.example.com/cars/2">` +
		schemaPage("["+with(`,"url":"https://c.example.com/cars/1"`)+`,{"@type":"Car","model":"Two","url":"https://c.example.com/cars/2/"}]`)
	if car := schemaOf(t, markup, "https://c.example.com/share/x").Car; car.Model != "TWO" {
		t.Errorf("%+v", car)
	}
}

func TestSameCarTwiceIsOne(t *testing.T) {
	vin := func(vin string) string { return with(`,"vehicleIdentificationNumber":"` + vin + `"`) }
	for name, c := range map[string]struct {
		items [2]string
		cars  int
	}{
		"VIN":             {[2]string{vin("ABC123"), vin("abc-123")}, 1},
		"other VIN":       {[2]string{vin("ABC123"), vin("ABC124")}, 2},
		"masked VIN":      {[2]string{vin("JTDBR32***"), vin("JTDBR32***")}, 2},
		"address":         {[2]string{with(`,"url":"/a"`), with(`,"url":"/a/"`)}, 1},
		"stock number":    {[2]string{with(`,"sku":"12345"`), with(`,"sku":"12345"`)}, 1},
		"nothing":         {[2]string{with(""), with("")}, 2},
		"stock, not name": {[2]string{with(`,"sku":"12345","name":"a"`), with(`,"sku":"12345","name":"b"`)}, 2},
	} {
		markup := schemaPage(`{"@type":"ItemList","itemListElement":[{"item":` + c.items[0] + `},{"item":` + c.items[1] + `}]}`)
		doc, err := page.Parse(nil, FromFile([]byte(markup), ""))
		if err != nil {
			t.Fatal(err)
		}
		if cars := schemaorg.Vehicles(doc); len(cars) != c.cars {
			t.Errorf("%s: %d cars, want %d", name, len(cars), c.cars)
		}
		if car := schemaOf(t, markup, "").Car; (car.Model != "") != (c.cars == 1) {
			t.Errorf("%s: %+v", name, car)
		}
	}
}

func TestJSONLDWinsOverACopyInMicrodata(t *testing.T) {
	markup := schemaPage(with(`,"name":"Toyota Aqua S","offers":{"@type":"Offer","price":5000,"priceCurrency":"USD"}`)) +
		`<div itemscope itemtype="http://schema.org/Car"><b itemprop="name">TOYOTA AQUA S</b><i itemprop="bodyType">Hatchback</i><i itemprop="fuelType">Petrol</i>
		<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><i itemprop="price" content="5500"></i><i itemprop="priceCurrency">USD</i></div></div>
		<div itemscope itemtype="http://schema.org/Car"><b itemprop="name">Toyota Noah</b><i itemprop="color">red</i><i itemprop="vehicleTransmission">CVT</i></div>`
	l := schemaOf(t, strings.Replace(markup, "<title>x<", "<title>Toyota Aqua S<", 1), "")
	if got := fmt.Sprint(amountOf(l.Car.FOBPriceUSD), l.Car.Fuel, l.Car.BodyType, l.Car.Transmission); got != "5000HYBRIDHatchback" {
		t.Error(got)
	}
	if len(l.Notes) != 1 || !strings.Contains(l.Notes[0].EN, "5500") {
		t.Errorf("notes %v", l.Notes)
	}
}

func TestACarThatBetterSourcesContradictIsAnother(t *testing.T) {
	table := `<table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Chassis No.</th><td>NSP130-2012345</td></tr></table>`
	for name, c := range map[string]struct{ properties, url, want string }{
		"agrees":              {`"brand":"Toyota","bodyType":"x"`, dealerURL, "x"},
		"longer":              {`"brand":"Toyota Motor","bodyType":"x"`, dealerURL, "x"},
		"says neither":        {`"bodyType":"x"`, dealerURL, "x"},
		"another make":        {`"brand":"Mazda","bodyType":"x"`, dealerURL, ""},
		"a make not known":    {`"brand":"トヨタ","bodyType":"x"`, dealerURL, "x"},
		"another frame":       {`"vehicleIdentificationNumber":"NSP130-2099999","bodyType":"x"`, dealerURL, ""},
		"masked frame":        {`"vehicleIdentificationNumber":"NSP130-20****","bodyType":"x"`, dealerURL, "x"},
		"the page's, for all": {`"brand":"Mazda","bodyType":"x","url":"` + dealerURL + `"`, dealerURL, "x"},
	} {
		doc, err := page.Parse(nil, FromFile([]byte(schemaPage(`{"@type":"Car",`+c.properties+`}`)+table), c.url))
		if err != nil {
			t.Fatal(err)
		}
		found := &claim.List{}
		page.ClaimLabels(doc, found)
		schemaorg.Read(doc, found)
		if got := resolve(found, doc).Car.BodyType; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestProducts(t *testing.T) {
	product := schemaPage(`{"@type":"Product","name":"Toyota Vitz","brand":"Toyota","sku":"V-1234","offers":{"@type":"Offer","price":3000,"priceCurrency":"USD"}}`)
	table := `<table><tr><th>Model Code</th><td>DBA-NSP130</td></tr><tr><th>Engine Size</th><td>1,329cc</td></tr><tr><th>Model</th><td>Vitz</td></tr></table>`
	for name, c := range map[string]struct{ page, want string }{
		"with a sign":                      {schemaPage(`{"@type":"Product","brand":"Toyota","model":"Vitz","mileageFromOdometer":{"value":5,"unitCode":"KMT"}}`), "TOYOTA null"},
		"without a type, with a sign":      {schemaPage(`{"@type":"Offer","price":3000,"priceCurrency":"USD","itemOffered":{"brand":"Toyota","vehicleModelDate":2012}}`), "TOYOTA 3000"},
		"without a sign":                   {product, " null"},
		"beside a table of a car":          {product + table, "TOYOTA 3000"},
		"one of several beside a table":    {product + strings.Replace(product, "Vitz", "Noah", 1) + table, " null"},
		"with an additional type":          {schemaPage(`{"@type":"Product","additionalType":"http://schema.org/Car","brand":"Toyota"}`), "TOYOTA null"},
		"a copy of the car":                {product + schemaPage(`{"@type":"Car","brand":"Toyota","model":"Vitz","sku":"V-1234"}`), "TOYOTA 3000"},
		"another thing beside the car":     {product + schemaPage(`{"@type":"Car","brand":"Toyota","model":"Noah","sku":"N-9999"}`), "TOYOTA null"},
		"an engine, which is no vehicle":   {schemaPage(`{"@type":"EngineSpecification","vehicleEngine":"x","name":"Toyota"}`), " null"},
		"another vocabulary's with a sign": {schemaPage(`{"@type":"x:Thing","brand":"Toyota","vehicleModelDate":2012}`), " null"},
	} {
		doc, err := page.Parse(nil, FromFile([]byte(c.page), ""))
		if err != nil {
			t.Fatal(err)
		}
		found := &claim.List{}
		page.ClaimLabels(doc, found)
		schemaorg.Read(doc, found)
		car := resolve(found, doc).Car
		if got := car.Make + " " + amountOf(car.FOBPriceUSD); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
