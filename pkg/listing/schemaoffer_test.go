package listing

import (
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
)

func TestSchemaPrices(t *testing.T) {
	for offers, want := range map[string]string{
		`{"@type":"Offer","price":"6180","priceCurrency":"USD"}`:           "USD 6180",
		`{"@type":"Offer","price":27163.50,"priceCurrency":"usd"}`:         "USD 27163.5",
		`{"@type":"Offer","price":60992,"priceCurrency":"CAD"}`:            "CAD 60992",
		`{"@type":"Offer","price":"19,995 USD"}`:                           "USD 19995",
		`{"@type":"Offer","price":"US$ 2,567"}`:                            "USD 2567",
		`{"@type":"Offer","price":"$27,163"}`:                              "",
		`{"@type":"Offer","price":"$27,163","priceCurrency":"USD"}`:        "USD 27163",
		`{"@type":"Offer","price":"$27,163","priceCurrency":"CAD"}`:        "CAD 27163",
		`{"@type":"Offer","price":"$27,163","priceCurrency":"EUR"}`:        "",
		`{"@type":"Offer","price":"27,163 EUR","priceCurrency":"USD"}`:     "",
		`{"@type":"Offer","price":"24.500","priceCurrency":"EUR"}`:         "EUR 24500",
		`{"@type":"Offer","price":24.500,"priceCurrency":"EUR"}`:           "",
		`{"@type":"Offer","price":"24.500,00 €"}`:                          "EUR 24500",
		`{"@type":"Offer","price":"1.024.500","priceCurrency":"JPY"}`:      "JPY 1024500",
		`{"@type":"Offer","price":"24 500,-","priceCurrency":"EUR"}`:       "EUR 24500",
		`{"@type":"Offer","price":"24'500.00","priceCurrency":"EUR"}`:      "EUR 24500",
		`{"@type":"Offer","price":"24,500.75","priceCurrency":"USD"}`:      "USD 24500.75",
		`{"@type":"Offer","price":"24500,75","priceCurrency":"EUR"}`:       "EUR 24500.75",
		`{"@type":"Offer","price":"2,45,000","priceCurrency":"INR"}`:       "",
		`{"@type":"Offer","price":"007000","priceCurrency":"USD"}`:         "USD 7000",
		`{"@type":"Offer","price":"¥1,705,000","priceCurrency":"JPY"}`:     "JPY 1705000",
		`{"@type":"Offer","price":"6180","priceCurrency":"US$"}`:           "USD 6180",
		`{"@type":"Offer","price":"6180","priceCurrency":"$"}`:             "",
		`{"@type":"Offer","price":"6180","priceCurrency":"dollars"}`:       "",
		`{"@type":"Offer","price":29990}`:                                  "",
		`{"@type":"Offer","price":0,"priceCurrency":"USD"}`:                "",
		`{"@type":"Offer","price":"0.00","priceCurrency":"USD"}`:           "",
		`{"@type":"Offer","price":-5000,"priceCurrency":"USD"}`:            "",
		`{"@type":"Offer","price":"Call for price","priceCurrency":"USD"}`: "",
		`{"@type":"Offer","price":"from 900","priceCurrency":"USD"}`:       "",
		`{"@type":"Offer","price":"900 - 1000","priceCurrency":"USD"}`:     "",
		`{"@type":"Offer","price":"900 / month","priceCurrency":"USD"}`:    "",
		`{"@type":"Offer","price":"2.9e4","priceCurrency":"USD"}`:          "",
		`"6180 USD"`: "",
		`{"@type":"Offer","priceSpecification":{"price":"24,500","priceCurrency":"USD"}}`:                                         "USD 24500",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":[{"price":"24,500"}]}`:                                       "USD 24500",
		`{"@type":"Offer","price":5000,"priceCurrency":"USD","priceSpecification":{"price":"5000.00","priceCurrency":"USD"}}`:     "USD 5000",
		`{"@type":"Offer","price":5000,"priceCurrency":"USD","priceSpecification":{"price":6000,"priceCurrency":"USD"}}`:          "",
		`{"@type":"AggregateOffer","priceCurrency":"USD","lowPrice":1000,"highPrice":2000}`:                                       "",
		`{"@type":"AggregateOffer","priceCurrency":"USD","lowPrice":1000}`:                                                        "",
		`{"@type":"AggregateOffer","priceCurrency":"USD","lowPrice":1000,"highPrice":1000}`:                                       "USD 1000",
		`{"@type":"AggregateOffer","priceCurrency":"USD","offers":[{"@type":"Offer","price":5000}]}`:                              "USD 5000",
		`[{"@type":"Offer","price":5000,"priceCurrency":"USD"},{"@type":"Offer","price":5000,"priceCurrency":"USD"}]`:             "USD 5000",
		`[{"@type":"Offer","price":5000,"priceCurrency":"USD"},{"@type":"Offer","price":"5000.0","priceCurrency":"USD"}]`:         "USD 5000",
		`[{"@type":"Offer","price":5000,"priceCurrency":"USD"},{"@type":"Offer","price":6000,"priceCurrency":"USD"}]`:             "",
		`[{"@type":"Offer","price":5000,"priceCurrency":"USD"},{"@type":"Offer","price":600,"priceCurrency":"JPY"}]`:              "",
		`{"@type":"LoanOrCredit","price":5000,"priceCurrency":"USD"}`:                                                             "",
		`{"@type":"MonetaryAmount","value":5000,"currency":"USD"}`:                                                                "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":129,"billingDuration":"P1M"}}`:                      "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":129,"unitCode":"MON"}}`:                             "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":129,"unitText":"per month"}}`:                       "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":129,"referenceQuantity":{"unitCode":"MON"}}}`:       "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"@type":"PaymentChargeSpecification","price":129}}`:         "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"@type":"DeliveryChargeSpecification","price":129}}`:        "",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"@type":"LoanOrCredit","amount":{"value":129}}}`:            "",
		`{"@type":"Offer","priceCurrency":"USD","potentialAction":{"amount":{"@type":"MonetaryAmount","value":"129"}}}`:           "",
		`{"@type":"Offer","priceCurrency":"USD","price":{"@type":"MonetaryAmount","value":"129"}}`:                                "",
		`{"@type":"Offer","priceCurrency":"USD","price":900,"name":"Current price in Trent"}`:                                     "USD 900",
		`{"@type":"Offer","priceCurrency":"USD","price":129,"name":"Monthly rental"}`:                                             "",
		`{"@type":"Offer","priceCurrency":"USD","price":129,"name":"Finance offer"}`:                                              "",
		`{"@type":"Offer","priceCurrency":"USD","price":129,"businessFunction":"http://purl.org/goodrelations/v1#LeaseOut"}`:      "",
		`{"@type":"Offer","priceCurrency":"USD","price":900,"businessFunction":"http://purl.org/goodrelations/v1#Sell"}`:          "USD 900",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":[{"price":900},{"price":1200,"priceType":"ListPrice"}]}`:     "USD 900",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":900,"priceType":"https://schema.org/SalePrice"}}`:   "USD 900",
		`{"@type":"Offer","priceCurrency":"USD","priceSpecification":{"price":900,"priceType":"StrikethroughPrice"}}`:             "",
		`[{"@type":"Offer","price":9000,"priceCurrency":"USD"},{"@type":"Offer","price":1,"itemOffered":{"@type":"Service"}}]`:    "USD 9000",
		`{"@type":"Offer","price":900,"priceCurrency":"USD","itemOffered":{"@type":"Car","name":"2011 Other","model":"Vitz"}}`:    "USD 900",
		`{"@type":"Offer","price":900,"priceCurrency":"USD","addOn":{"@type":"Offer","price":50,"priceCurrency":"USD"}}`:          "USD 900",
		`{"@type":"Offer","price":900,"priceCurrency":"USD","shippingDetails":{"shippingRate":{"value":"50","currency":"USD"}}}`:  "USD 900",
		`{"@type":"Offer","price":900,"priceCurrency":"USD","hasMerchantReturnPolicy":{"returnFees":{"price":50}},"lowPrice":10}`: "USD 900",
	} {
		car := schemaOf(t, schemaPage(with(`,"offers":`+offers)), "").Car
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
	for name, block := range map[string]string{
		"offer":          `{"@type":"Offer","price":700,"priceCurrency":"USD","itemOffered":` + with("") + `}`,
		"offer after":    `{"@graph":[` + with(`,"@id":"#c"`) + `,{"@type":"Offer","price":700,"priceCurrency":"USD","itemOffered":{"@id":"#c"}}]}`,
		"both":           `{"@type":"Offer","price":700,"priceCurrency":"USD","itemOffered":` + with(`,"offers":{"price":"700.00","priceCurrency":"USD"}`) + `}`,
		"seller's":       `{"@type":"Person","makesOffer":{"@type":"Offer","priceSpecification":{"@type":"UnitPriceSpecification","price":700,"priceCurrency":"USD"},"itemOffered":` + with("") + `}}`,
		"without offer":  with(`,"price":"700","priceCurrency":"USD"`),
		"currency above": with(`,"priceCurrency":"USD","offers":{"@type":"Offer","price":700}`),
	} {
		if car := schemaOf(t, schemaPage(block), "").Car; amountOf(car.FOBPriceUSD) != "700" {
			t.Errorf("%s: FOB %s", name, amountOf(car.FOBPriceUSD))
		}
	}
	differing := `{"@type":"Offer","price":800,"priceCurrency":"USD","itemOffered":` + with(`,"offers":{"price":700,"priceCurrency":"USD"}`) + `}`
	l := schemaOf(t, schemaPage(differing), "")
	if l.Car.AskingPrice != nil {
		t.Errorf("two prices gave %s", l.Car.AskingPrice)
	}
	for _, f := range l.Fields {
		if f.Name == claim.FieldPrice && (len(f.Others) != 1 || f.Others[0].Reason != "several prices") {
			t.Errorf("%+v", f)
		}
	}
}

func TestMoreOffersThanAreComparedGiveNoPrice(t *testing.T) {
	const offer = `{"@type":"Offer","price":5000,"priceCurrency":"USD"}`
	if car := schemaOf(t, schemaPage(with(`,"offers":[`+strings.Repeat(offer+",", 101)+`]`)), "").Car; car.AskingPrice != nil {
		t.Errorf("price %s", car.AskingPrice)
	}
}

func TestSeveralPricesInJSONLDAreNotDecidedByACopy(t *testing.T) {
	page := schemaPage(with(`,"name":"Aqua","offers":[{"price":5000,"priceCurrency":"USD"},{"price":6000,"priceCurrency":"USD"}]`)) +
		`<div itemscope itemtype="http://schema.org/Car"><b itemprop="name">Aqua</b><meta itemprop="price" content="5000"><meta itemprop="priceCurrency" content="USD"></div>`
	if car := schemaOf(t, page, "").Car; car.AskingPrice != nil {
		t.Errorf("price %s", car.AskingPrice)
	}
}

func TestSchemaAvailability(t *testing.T) {
	for availability, want := range map[string]string{
		`"http://schema.org/InStock"`: "", `"InStoreOnly"`: "", `""`: "",
		`"https://schema.org/SoldOut"`: "sold", `"schema:OutOfStock"`: "sold", `"Discontinued"`: "sold", `"Sold out"`: "sold", `{"@id":"http://schema.org/SoldOut"}`: "sold",
		`"Reserved"`: "The car is reserved.", `"http://schema.org/PreOrder"`: "The car is not in stock yet.",
		`"BackOrder"`: "The car is not in stock yet.", `"PreSale"`: "The car is not in stock yet.",
	} {
		doc, err := page.Parse(nil, FromFile([]byte(schemaPage(with(`,"offers":{"@type":"Offer","availability":`+availability+`}`))), ""))
		if err != nil {
			t.Fatal(err)
		}
		found := &claim.List{}
		schemaorg.Read(doc, found)
		got := ""
		if len(found.Notes) == 1 {
			got = found.Notes[0].EN
		}
		if found.Sold {
			got += "sold"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", availability, got, want)
		}
	}
	copied := schemaPage(with(`,"name":"Aqua","offers":{"availability":"InStock"}`)) +
		`<div itemscope itemtype="http://schema.org/Car"><b itemprop="name">Aqua</b><div itemprop="offers" itemscope><link itemprop="availability" href="http://schema.org/SoldOut"></div></div>`
	if l := read(t, copied, ""); len(l.Notes) != 0 {
		t.Errorf("an older copy decides: %v", l.Notes)
	}
	half := with(`,"offers":[{"@type":"Offer","availability":"SoldOut"},{"@type":"Offer","availability":"InStock"}]`)
	if l := read(t, schemaPage(half), ""); len(l.Notes) != 0 {
		t.Errorf("one of two offers left: %v", l.Notes)
	}
}
