package listing

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// schemaPage is a page with one JSON-LD block.
func schemaPage(block string) string {
	return `<title>x</title><script type="application/ld+json">` + block + `</script>`
}

// schemaBlock is a car; %s stands for more properties.
const schemaBlock = `{"@type":"Car","brand":"Toyota","model":"Aqua","vehicleModelDate":"2016","fuelType":"Hybrid"%s}`

func TestBrokenBlocks(t *testing.T) {
	good := fmt.Sprintf(schemaBlock, "")
	for name, page := range map[string]string{
		"a bad one first":         schemaPage(`{"@type": "Car", `) + schemaPage(good),
		"null, false and text":    schemaPage(`null`) + schemaPage(`false`) + schemaPage(`"x"`) + schemaPage(``) + schemaPage(good),
		"comments":                schemaPage("// a\n" + good[:1] + "/* b */" + good[1:] + "\n// c"),
		"trailing comma":          schemaPage(strings.TrimSuffix(good, "}") + ", }"),
		"trailing brace":          schemaPage(good + "}}"),
		"raw line break":          schemaPage(fmt.Sprintf(schemaBlock, ",\"description\":\"a\n\tb\"")),
		"comment inside a string": schemaPage(fmt.Sprintf(schemaBlock, `,"description":"a // b <!-- c --> /* d */"`)),
		"byte order mark":         schemaPage("\ufeff" + good),
		"CDATA":                   schemaPage("//<![CDATA[\n" + good + "\n//]]>"),
		"escaped key":             schemaPage(strings.Replace(good, "@type", `\u0040type`, 1)),
		"HTML-escaped block":      schemaPage(strings.ReplaceAll(good, `"`, "&quot;")),
		"entity inside a string":  schemaPage(fmt.Sprintf(schemaBlock, `,"name":"12,3&quot;"`)),
		"type in capitals":        strings.Replace(schemaPage(good), "application/ld+json", "Application/LD+JSON; charset=utf-8", 1),
		"self-closed script":      strings.Replace(schemaPage(good), `json">`, `json" />`, 1),
		"prefix of the type":      schemaPage(strings.Replace(good, `"Car"`, `"schema:Car"`, 1)),
		"several types":           schemaPage(strings.Replace(good, `"Car"`, `["Product","http://schema.org/Car"]`, 1)),
		"top-level array":         schemaPage("[" + `{"@type":"WebPage"},{"@graph":[` + good + `]}]`),
		"offered":                 schemaPage(`{"@type":"Person","makesOffer":{"@type":"Offer","itemOffered":` + good + `}}`),
		"main entity":             schemaPage(`{"@type":"WebPage","mainEntity":` + good + `}`),
		"twice":                   schemaPage(good) + schemaPage(good),
		"__proto__":               schemaPage(fmt.Sprintf(schemaBlock, `,"__proto__":{"model":"x"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			if car := read(t, page, "").Car; car.Make != "TOYOTA" || car.Model != "AQUA" || car.Year != 2016 || car.Fuel != "HYBRID" {
				t.Errorf("%+v", car)
			}
		})
	}
}

func TestNoVehicle(t *testing.T) {
	for name, page := range map[string]string{
		"plain product":             schemaPage(`{"@type":"Product","brand":"ACME","name":"Anvil 2016","model":"X","offers":{"@type":"Offer","price":"119.99","priceCurrency":"USD"}}`),
		"not JSON-LD":               strings.Replace(schemaPage(fmt.Sprintf(schemaBlock, "")), "ld+json", "json", 1),
		"commented out":             "<!--" + schemaPage(fmt.Sprintf(schemaBlock, "")) + "-->",
		"similar to something else": schemaPage(`{"@type":"WebPage","isRelatedTo":` + fmt.Sprintf(schemaBlock, "") + `}`),
		"a list": schemaPage(`{"@type":"SearchResultsPage","mainEntity":{"@type":"ItemList","itemListElement":[{"item":` +
			fmt.Sprintf(schemaBlock, "") + `},{"item":` + fmt.Sprintf(schemaBlock, "") + `}]}}`),
		"deep":    schemaPage(strings.Repeat(`{"@graph":[`, 3000) + fmt.Sprintf(schemaBlock, "") + strings.Repeat(`]}`, 3000)),
		"circle":  schemaPage(`{"@graph":[{"@id":"#a","mainEntity":{"@id":"#b"}},{"@id":"#b","mainEntity":{"@id":"#a"}}]}`),
		"itself":  schemaPage(`{"@id":"#a","offers":{"@id":"#a"}}`),
		"nothing": "<title>x</title>",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(FromFile([]byte(page), ""))
			wantOutcome(t, err, NotAListing)
		})
	}
}

func TestSchemaPrices(t *testing.T) {
	for offers, want := range map[string]string{
		`{"@type":"Offer","price":"6180","priceCurrency":"USD"}`:                                                               "USD 6180",
		`{"@type":"Offer","price":27163.5,"priceCurrency":"usd"}`:                                                              "USD 27163.5",
		`{"@type":"Offer","price":60992,"priceCurrency":"CAD"}`:                                                                "CAD 60992",
		`{"@type":"Offer","price":"19,995 USD"}`:                                                                               "USD 19995",
		`{"@type":"Offer","price":"$27,163"}`:                                                                                  "",
		`{"@type":"Offer","price":29990}`:                                                                                      "",
		`{"@type":"Offer","price":0,"priceCurrency":"USD"}`:                                                                    "",
		`{"@type":"Offer","price":"Call for price","priceCurrency":"USD"}`:                                                     "",
		`{"@type":"Offer","priceSpecification":{"price":"24,500","priceCurrency":"USD"}}`:                                      "USD 24500",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":[{"price":"24,500"}]}`:                                    "USD 24500",
		`{"@type":"AggregateOffer","priceCurrency":"USD","lowPrice":1000,"highPrice":2000}`:                                    "",
		`[{"@type":"Offer","price":5,"priceCurrency":"USD"},{"@type":"Offer","price":5,"priceCurrency":"USD"}]`:                "USD 5",
		`[{"@type":"Offer","price":5,"priceCurrency":"USD"},{"@type":"Offer","price":6,"priceCurrency":"USD"}]`:                "",
		`{"@type":"LoanOrCredit","price":5,"priceCurrency":"USD"}`:                                                             "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":129,"billingDuration":"P1M"}}`:                   "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"@type":"LoanOrCredit","amount":{"value":129}}}`:         "",
		`{"@type":"Offer","priceCurrency":"USD","potentialAction":{"amount":{"@type":"MonetaryAmount","value":"129"}}}`:        "",
		`{"@type":"Offer","price":900,"priceCurrency":"USD","itemOffered":{"@type":"Car","name":"2011 Other","model":"Vitz"}}`: "USD 900",
	} {
		car := read(t, schemaPage(fmt.Sprintf(schemaBlock, `,"offers":`+offers)), "").Car
		got := ""
		if car.AskingPrice != nil {
			got = car.Currency + " " + car.AskingPrice.String()
		}
		if got != want || (car.FOBPriceUSD != nil) != strings.HasPrefix(want, "USD") {
			t.Errorf("%s: %q, FOB %s; want %q", offers, got, amountOf(car.FOBPriceUSD), want)
		}
	}
}

func TestSchemaOfferAroundTheCar(t *testing.T) {
	page := schemaPage(`{"@type":"Offer","price":700,"priceCurrency":"USD","itemOffered":` + fmt.Sprintf(schemaBlock, "") + `}`)
	if car := read(t, page, "").Car; amountOf(car.FOBPriceUSD) != "700" {
		t.Errorf("FOB %s", amountOf(car.FOBPriceUSD))
	}
}

func TestSchemaCarOfThePage(t *testing.T) {
	const two = `[{"@type":"Car","brand":"A","model":"One","vehicleModelDate":"2011","fuelType":"x","url":"/cars/one"},
		{"@type":"Car","brand":"B","model":"Two","vehicleModelDate":"2012","fuelType":"x","sku":"TWO-2222","url":"/cars/other"}]`
	for url, want := range map[string]string{
		"https://c.example.com/cars/one": "ONE", "https://c.example.com/x/two-2222/": "TWO", "https://c.example.com/": "ONE",
		"https://c.example.com/cars/other?x=1": "TWO",
	} {
		if car := read(t, schemaPage(two), url).Car; car.Model != want {
			t.Errorf("%s: %s, want %s", url, car.Model, want)
		}
	}
}

func TestSameCarTwiceIsOne(t *testing.T) {
	item := fmt.Sprintf(schemaBlock, `,"vehicleIdentificationNumber":"ABC123"`)
	read(t, schemaPage(`{"@type":"ItemList","itemListElement":[{"item":`+item+`},{"item":`+item+`}]}`), "")
}

func TestSchemaEngineFuelAndMileage(t *testing.T) {
	for more, want := range map[string]string{
		`,"vehicleEngine":{"engineDisplacement":{"value":1.8,"unitCode":"LTR"},"fuelType":"Diesel"}`: "1800 HYBRID -",
		`,"vehicleEngine":[{"name":"motor"},{"name":"1.5 L (1496 cc)"}]`:                             "1496 HYBRID -",
		`,"engineDisplacement":{"value":"1496","unitText":"cc"}`:                                     "1496 HYBRID -",
		`,"engineDisplacement":1496`:                                                                 "0 HYBRID -",
		`,"vehicleEngine":"4.4- 443 HP Supercharged"`:                                                "0 HYBRID -",
		`,"mileageFromOdometer":{"value":37,"unitCode":"KMT"}`:                                       "0 HYBRID 37",
		`,"mileageFromOdometer":{"value":100,"unitCode":"SMI"}`:                                      "0 HYBRID 161",
		`,"mileageFromOdometer":"18,000 mi"`:                                                         "0 HYBRID 28968",
		`,"mileageFromOdometer":{"value":88000}`:                                                     "0 HYBRID -",
		`,"mileageFromOdometer":88000`:                                                               "0 HYBRID -",
	} {
		car := read(t, schemaPage(fmt.Sprintf(schemaBlock, more)), "").Car
		km := "-"
		if car.MileageKM != nil {
			km = strconv.Itoa(*car.MileageKM)
		}
		if got := fmt.Sprint(car.EngineCC, " ", car.Fuel, " ", km); got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
}

func TestSchemaFuelInsideTheEngine(t *testing.T) {
	block := strings.Replace(fmt.Sprintf(schemaBlock, `,"vehicleEngine":{"@type":"EngineSpecification","name":"2.4L 4Cyl","fuelType":"Gasoline"}`), `"fuelType":"Hybrid",`, "", 1)
	block = strings.Replace(block, `,"fuelType":"Hybrid"`, "", 1)
	if car := read(t, schemaPage(block), "").Car; car.Fuel != "GASOLINE" || car.EngineCC != 2400 {
		t.Errorf("%+v", car)
	}
}

func TestVersionEqualToTheModelIsNone(t *testing.T) {
	if car := read(t, schemaPage(fmt.Sprintf(schemaBlock, `,"vehicleConfiguration":"AQUA"`)), "").Car; car.Version != "" {
		t.Errorf("version %q", car.Version)
	}
}
