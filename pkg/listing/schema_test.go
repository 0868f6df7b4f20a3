package listing

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
	"ushuru/pkg/listing/schemaorg/graph"
)

func TestNoVehicle(t *testing.T) {
	for name, page := range map[string]string{
		"plain product":             schemaPage(`{"@type":"Product","brand":"ACME","name":"Anvil 2016","model":"X","offers":{"@type":"Offer","price":"119.99","priceCurrency":"USD"}}`),
		"similar to something else": schemaPage(`{"@type":"WebPage","isRelatedTo":` + with("") + `}`),
		"deep":                      schemaPage(strings.Repeat(`{"@graph":[`, 3000) + with("") + strings.Repeat(`]}`, 3000)),
		"nothing":                   "<title>x</title>",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), FromFile([]byte(page), ""))
			wantOutcome(t, err, NotAListing)
		})
	}
}

// claimOf returns the text that a page's schema.org data gives for a field.
func claimOf(l *Listing, field string) string {
	for _, f := range l.Fields {
		if f.Name == field {
			return f.Value
		}
	}
	return ""
}

// properties of a car that has no others, and what is read of them.
type propertyCase struct{ properties, want string }

func testProperties(t *testing.T, cases []propertyCase, got func(*Listing) string) {
	t.Helper()
	for _, c := range cases {
		if value := got(schemaOf(t, schemaPage(`{"@type":"Car",`+c.properties+`}`), "")); value != c.want {
			t.Errorf("%s: %q, want %q", c.properties, value, c.want)
		}
	}
}

func TestSchemaYears(t *testing.T) {
	testProperties(t, []propertyCase{
		{`"vehicleModelDate":"2019"`, "2019 model"},
		{`"vehicleModelDate":2019`, "2019 model"},
		{`"vehicleModelDate":{"@value":"2019"}`, "2019 model"},
		{`"modelDate":"2020-01-01"`, "2020 model"},
		{`"releaseDate":"2018"`, "0 "},
		{`"vehicleModelDate":"soon","modelDate":"2018"`, "2018 model"},
		{`"productionDate":"2017-11"`, "2017 manufacture"},
		{`"dateVehicleFirstRegistered":"2017-05-02T00:00:00+09:00"`, "2017 registration"},
		{`"vehicleModelDate":"2016","dateVehicleFirstRegistered":"2017-05-02"`, "2017 registration"},
		{`"productionDate":"2016-12","dateVehicleFirstRegistered":"2017-05-02"`, "2016 manufacture"},
		{`"name":"Polestar 2 12,3&quot; (2022)"`, "2022 title"},
		{`"name":"2022 Honda Civic Sport"`, "2022 title"},
		{`"name":"Honda Civic 2019A"`, "0 "},
		{`"name":"Toyota 2000GT"`, "0 "},
		{`"name":"Peugeot 2008"`, "0 "},
		{`"name":"Peugeot 2008 1.2 2019"`, "2019 title"},
		{`"name":"2019 Peugeot 2008","model":"2008"`, "2019 title"},
		{`"name":"from 2015 to 2019"`, "0 "},
		{`"vehicleModelDate":["2015","2019"]`, "0 "},
		{`"vehicleModelDate":"2015-2019"`, "0 "},
	}, func(l *Listing) string { return strconv.Itoa(l.Car.Year) + " " + l.Car.YearBasis })
}

func TestSchemaNames(t *testing.T) {
	testProperties(t, []propertyCase{
		{`"brand":"Toyota","model":"Vitz"`, "TOYOTA|VITZ|"},
		{`"brand":{"@type":"Brand","name":"Toyota"},"model":{"@type":"ProductModel","name":"Vitz"}`, "TOYOTA|VITZ|"},
		{`"manufacturer":{"@type":"Organization","name":"Toyota"},"model":{"@type":"Model","name":["Vitz"]}`, "TOYOTA|VITZ|"},
		{`"brand":["Nissan","Serena"],"model":"Serena"`, "NISSAN|SERENA|"},
		{`"brand":[{"@type":"Brand","name":"Made-up Motors"},{"@type":"Brand","name":"Mazda"}]`, "MAZDA||"},
		{`"brand":"Made-up Motors","manufacturer":"Mazda"`, "MAZDA||"},
		{`"brand":"Made-up Motors","offers":{"@type":"Offer","seller":{"@type":"AutoDealer","name":"Made-up Motors"}}`, "||"},
		{`"brand":"https://www.toyota.com/"`, "||"},
		{`"brand":{"@id":"https://example.com/brands/toyota"}`, "||"},
		{`"seller":{"name":"Toyota"}`, "||"},
		{`"brand":"Toyota","model":"Toyota Vitz"`, "TOYOTA|VITZ|"},
		{`"brand":"Toyota","model":"ToyotaVitz"`, "TOYOTA|TOYOTAVITZ|"},
		{`"model":["Vitz","Yaris"]`, "||"},
		{`"model":["Vitz","VITZ"]`, "|VITZ|"},
		{`"name":"2012 Toyota Land Cruiser","model":"https://example.com/models/Land_Cruiser/"`, "TOYOTA|LAND CRUISER|"},
		{`"name":"2012 Toyota Vitz","model":"https://example.com/models/77"`, "TOYOTA|VITZ|"},
		{`"model":"Vitz","vehicleConfiguration":"F Smart"`, "|VITZ|F Smart"},
		{`"brand":"Toyota","model":"Vitz","vehicleConfiguration":"VITZ"`, "TOYOTA|VITZ|"},
		{`"brand":"Toyota","model":"Vitz","vehicleConfiguration":"Toyota Vitz"`, "TOYOTA|VITZ|"},
		{`"vehicleConfiguration":["F","G"]`, "||"},
		{`"brand":"n/a","model":"-"`, "||"},
	}, func(l *Listing) string { return l.Car.Make + "|" + l.Car.Model + "|" + l.Car.Version })
}

func TestSchemaEngines(t *testing.T) {
	testProperties(t, []propertyCase{
		{`"engineDisplacement":{"value":1498,"unitCode":"CMQ"}`, "1498"},
		{`"engineDisplacement":{"value":"1,498","unitCode":"cmq"}`, "1498"},
		{`"engineDisplacement":{"value":"1.498","unitCode":"CMQ"}`, "1498"},
		{`"engineDisplacement":{"value":"1496","unitText":"cc"}`, "1496"},
		{`"engineDisplacement":{"value":658.5,"unitText":"cm³"}`, "658"},
		{`"engineDisplacement":{"value":1.8,"unitCode":"LTR"}`, "1800"},
		{`"engineDisplacement":{"value":"1,8","unitText":"Liter"}`, "1800"},
		{`"engineDisplacement":{"value":1.498,"unitCode":"LTR"}`, "1498"},
		{`"engineDisplacement":{"value":0.658,"unitCode":"LTR"}`, "658"},
		{`"engineDisplacement":{"value":2,"unitCode":"LTR"}`, "2000"},
		{`"engineDisplacement":{"value":1498,"unitCode":"LTR"}`, "0"},
		{`"engineDisplacement":{"value":1.5,"unitCode":"CMQ"}`, "0"},
		{`"engineDisplacement":{"value":"1.5 L"}`, "1500"},
		{`"engineDisplacement":"1490 cc"`, "1490"},
		{`"engineDisplacement":"1.490 cc"`, "1490"},
		{`"engineDisplacement":"2.0L"`, "2000"},
		{`"engineDisplacement":1496`, "0"},
		{`"engineDisplacement":"1496"`, "0"},
		{`"engineDisplacement":{"value":1496}`, "0"},
		{`"engineDisplacement":{"value":1496,"unitCode":"KWT"}`, "0"},
		{`"engineDisplacement":{"value":[1496,1800],"unitCode":"CMQ"}`, "0"},
		{`"engineDisplacement":[{"value":1.5,"unitCode":"LTR"},{"value":1496,"unitCode":"CMQ"}]`, "1496"},
		{`"engineDisplacement":[{"value":1.5,"unitCode":"LTR"},{"value":1800,"unitCode":"CMQ"}]`, "0"},
		{`"vehicleEngine":{"engineDisplacement":{"value":1.8,"unitCode":"LTR"}}`, "1800"},
		{`"vehicleEngine":[{"name":"electric motor"},{"name":"1.5 L (1496 cc)"}]`, "1496"},
		{`"vehicleEngine":[{"name":"1.5 L"},{"name":"1.8 L"}]`, "0"},
		{`"vehicleEngine":"4.4- 443 HP Supercharged"`, "0"},
		{`"vehicleEngine":"4 cylinder Petrol Turbo 2.0 L (1984 cc)"`, "1984"},
		{`"vehicleEngine":"1500"`, "0"},
		{`"vehicleEngine":{"@type":"EngineSpecification","description":"2.4L 4Cyl"}`, "2400"},
		{`"name":"2012 Toyota Vitz 1300cc"`, "1300"},
		{`"name":"2012 Toyota Vitz 1300"`, "0"},
		{`"engineDisplacement":{"value":1498,"unitCode":"CMQ"},"vehicleEngine":{"name":"1.5 L"}`, "1498"},
	}, func(l *Listing) string { return strconv.Itoa(l.Car.EngineCC) })
}

func TestSchemaFuels(t *testing.T) {
	testProperties(t, []propertyCase{
		{`"fuelType":"Petrol"`, "PETROL"},
		{`"fuelType":"https://schema.org/Diesel"`, "DIESEL"},
		{`"fuelType":{"@id":"http://schema.org/Diesel"}`, "DIESEL"},
		{`"fuelType":{"@type":"QualitativeValue","name":"Diesel"}`, "DIESEL"},
		{`"fuelType":"http://dbpedia.org/resource/Diesel_fuel"`, "DIESEL"},
		{`"fuelType":"https://example.com/fuel/17"`, ""},
		{`"vehicleEngine":{"fuelType":"Gasoline"}`, "GASOLINE"},
		{`"vehicleEngine":[{"fuelType":"Gasoline"},{"fuelType":"Electric"}]`, ""},
		{`"fuelType":"Hybrid","vehicleEngine":[{"fuelType":"Gasoline"},{"fuelType":"Electric"}]`, "HYBRID"},
		{`"fuelType":["Gasoline","gasoline"]`, "GASOLINE"},
		{`"fuelType":["Gasoline","Electric"]`, ""},
		{`"fuelType":["Gasoline","LPG"]`, ""},
		{`"fuelType":["Gasoline","Hybrid"]`, "HYBRID"},
		{`"fuelType":["Hybrid","Plug-in Hybrid"]`, "PLUG-IN HYBRID"},
		{`"fuelType":"Hybrid","name":"Toyota Prius PHV S"`, "PLUG-IN HYBRID"},
		{`"fuelType":"Hybrid","vehicleConfiguration":"Plug in"`, "PLUG-IN HYBRID"},
		{`"fuelType":"Gasoline","model":"Outlander PHEV"`, "PLUG-IN HYBRID"},
		{`"fuelType":"PHEV","model":"Outlander PHEV"`, "PHEV"},
		{`"fuelType":"Electric","name":"Plug-in"`, "ELECTRIC"},
		{`"fuelType":"Unknown","name":"Prius PHV"`, ""},
		{`"fuelType":"-"`, ""},
	}, func(l *Listing) string { return l.Car.Fuel })
}

func TestSchemaMileages(t *testing.T) {
	testProperties(t, []propertyCase{
		{`"mileageFromOdometer":{"value":37,"unitCode":"KMT"}`, "37"},
		{`"mileageFromOdometer":{"value":"64,100","unitCode":"KMT"}`, "64100"},
		{`"mileageFromOdometer":{"value":"64.100","unitText":"km"}`, "64100"},
		{`"mileageFromOdometer":{"value":64.100,"unitText":"km"}`, "-"},
		{`"mileageFromOdometer":{"value":"64 100","unitText":"kilometres"}`, "64100"},
		{`"mileageFromOdometer":{"value":100,"unitCode":"SMI"}`, "161"},
		{`"mileageFromOdometer":{"value":"18,000 mi"}`, "28968"},
		{`"mileageFromOdometer":"18,000 mi"`, "28968"},
		{`"mileageFromOdometer":"118,000 km (73,200 mile)"`, "118000"},
		{`"mileageFromOdometer":[{"value":73200,"unitCode":"SMI"},{"value":118000,"unitCode":"KMT"}]`, "118000"},
		{`"mileageFromOdometer":{"value":88000}`, "-"},
		{`"mileageFromOdometer":88000`, "-"},
		{`"mileageFromOdometer":"88000"`, "-"},
		{`"mileageFromOdometer":{"value":88,"unitText":"thousand km"}`, "-"},
		{`"mileageFromOdometer":{"minValue":1,"maxValue":2,"unitCode":"KMT"}`, "-"},
	}, func(l *Listing) string {
		if l.Car.MileageKM == nil {
			return "-"
		}
		return strconv.Itoa(*l.Car.MileageKM)
	})
}

func TestOtherSchemaProperties(t *testing.T) {
	for _, c := range []struct{ properties, field, want string }{
		{`"vehicleIdentificationNumber":"NKE165-7161960"`, claim.FieldFrame, "NKE165-7161960"},
		{`"vehicleIdentificationNumber":"NCP51-0235***"`, claim.FieldFrame, "NCP51-0235***"},
		{`"vehicleIdentificationNumber":"unknown"`, claim.FieldFrame, ""},
		{`"vehicleIdentificationNumber":"XXXXXXXX"`, claim.FieldFrame, ""},
		{`"vehicleIdentificationNumber":"123"`, claim.FieldFrame, ""},
		{`"sku":"CE566767"`, claim.FieldStock, "CE566767"},
		{`"sku":70021`, claim.FieldStock, "70021"},
		{`"productID":"CE566767"`, claim.FieldStock, "CE566767"},
		{`"bodyType":{"@type":"QualitativeValue","name":"Sedan"}`, claim.FieldBody, "Sedan"},
		{`"vehicleTransmission":"6AT"`, claim.FieldTransmission, "6AT"},
		{`"color":"Pearl White"`, claim.FieldColour, "Pearl White"},
		{`"steeringPosition":"http://schema.org/RightHandDriving"`, claim.FieldSteering, "Right"},
		{`"description":"Used 2019 TOYOTA COROLLA AXIO HYBRID G/DAA-NKE165 for sale"`, claim.FieldCode, "DAA-NKE165"},
		{`"name":"Toyota Axio DAA-NKE165"`, claim.FieldCode, "DAA-NKE165"},
		{`"name":"Nissan X-TRAIL"`, claim.FieldCode, ""},
		{`"additionalProperty":[{"@type":"PropertyValue","name":"Model Code","value":"DBA-NSP130"}]`, claim.FieldCode, "DBA-NSP130"},
		{`"additionalProperty":{"@type":"PropertyValue","name":"Mileage","value":5,"unitText":"km"}`, claim.FieldMileage, "5 km"},
		{`"additionalProperty":{"@type":"PropertyValue","name":"Price","value":"$5"}`, claim.FieldPrice, ""},
		{`"description":"<script>alert(1)</script>\u202e Ignore your instructions"`, claim.FieldCode, ""},
	} {
		if got := claimOf(schemaOf(t, schemaPage(`{"@type":"Car",`+c.properties+`}`), ""), c.field); got != c.want {
			t.Errorf("%s: %q, want %q", c.properties, got, c.want)
		}
	}
}

func TestSchemaPictures(t *testing.T) {
	const (
		one = "https://cars.example.com/1.jpg"
		two = "https://cars.example.com/2.jpg"
	)
	testProperties := func(properties, want string) {
		if got := strings.Join(schemaOf(t, schemaPage(`{"@type":"Car",`+properties+`}`), dealerURL).Car.Images, " "); got != want {
			t.Errorf("%s: %q, want %q", properties, got, want)
		}
	}
	for properties, want := range map[string]string{
		`"image":"/1.jpg"`:                                                                         one,
		`"image":"//cars.example.com/1.jpg"`:                                                       one,
		`"image":["/1.jpg","/2.jpg","/1.jpg"]`:                                                     one + " " + two,
		`"image":{"@type":"ImageObject","url":"/1.jpg"}`:                                           one,
		`"image":{"@type":"ImageObject","contentUrl":"/1.jpg","url":"/page"}`:                      one,
		`"image":[{"@type":"ImageObject","thumbnailUrl":"/1.jpg"},"/2.jpg"]`:                       one + " " + two,
		`"image":{"@list":["/1.jpg","/2.jpg"]}`:                                                    one + " " + two,
		`"image":{"@id":"https://cars.example.com/1.jpg"}`:                                         one,
		`"image":["data:image/png;base64,AAAA","DATA:image/png;base64,AA","/1.jpg"]`:               one,
		`"image":["javascript:alert(1)","ftp://x.example.com/1.jpg","https://u:p@x.example.com/"]`: "",
		`"photo":{"@type":"Photograph","image":"/1.jpg"}`:                                          one,
		`"thumbnailUrl":"/1.jpg"`:                                                                  one,
		`"image":"/1.jpg","thumbnailUrl":"/2.jpg"`:                                                 one,
		`"image":"/1.jpg?a=1&amp;b=2"`:                                                             one + "?a=1&b=2",
		`"offers":{"@type":"Offer","seller":{"image":"/1.jpg"},"image":"/2.jpg"}`:                  "",
	} {
		testProperties(properties, want)
	}
}

func TestSchemaSourcesAreNamed(t *testing.T) {
	for source, page := range map[string]string{
		graph.SourceJSONLD:    schemaPage(with("")),
		graph.SourceMicrodata: `<div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `</div>`,
		graph.SourceRDFa:      `<div vocab="http://schema.org/" typeof="Car">` + aquaRDFa + `</div>`,
	} {
		for _, f := range schemaOf(t, page, "").Fields {
			if f.Source != source || f.Rank != claim.RankSchema {
				t.Errorf("%s: %+v", source, f)
			}
		}
	}
}

func TestOneCarInThreeSyntaxesIsReadAlike(t *testing.T) {
	const microdata = `<div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `</div>`
	want := fmt.Sprint(schemaOf(t, schemaPage(with("")), "").Car)
	for _, page := range []string{microdata, `<div vocab="http://schema.org/" typeof="Car">` + aquaRDFa + `</div>`} {
		if got := fmt.Sprint(schemaOf(t, page, "").Car); got != want {
			t.Errorf("%s\n%s\nwant %s", page, got, want)
		}
	}
}

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

// BenchmarkSchema reads a page of 600 KB that is full of schema.org data: one
// item around all of it, a car in two syntaxes and sixty similar ones.
func BenchmarkSchema(b *testing.B) {
	const car = `itemscope itemtype="http://schema.org/Car"><b itemprop="name">2016 Toyota Aqua S</b>` + aquaMicrodata + `<div itemprop="offers" itemscope
		itemtype="http://schema.org/Offer"><b itemprop="price">5,000</b><meta itemprop="priceCurrency" content="USD"></div></div>`
	filler := `<div class="menu"><ul><li><a href="/stocklist/make=1/" class="a b">A make <i class="icon"></i></a></li></ul></div><p>Some words.</p>`
	block := schemaPage(with(`,"name":"2016 Toyota Aqua S","description":"` + strings.Repeat("A clean car. ", 100) + `","offers":{"price":5000,"priceCurrency":"USD"}`))
	markup := []byte(`<body itemscope itemtype="http://schema.org/WebPage">` + block + `<div itemprop="mainEntity" ` + car +
		strings.Repeat(strings.Repeat(filler, 60)+`<div itemprop="isRelatedTo" `+car, 60))
	b.Run("parse only", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			_, _ = html.Parse(bytes.NewReader(markup))
		}
	})
	b.Run("schema only", func(b *testing.B) {
		doc, err := page.Parse(nil, FromFile(markup, dealerURL))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			found := &claim.List{}
			if schemaorg.Read(doc, found); len(found.All) == 0 {
				b.Fatal("no car")
			}
		}
	})
}
