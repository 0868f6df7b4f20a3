package listing

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
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
