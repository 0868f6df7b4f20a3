package listing

import (
	"net/url"
	"strings"
)

// autocom reads Autocom Japan: a record in script data on the new site, label
// lists on the old one, as public readers of both describe them.
var autocom = adapter{name: "Autocom Japan", read: readAutocom, canonical: canonicalAutocom}

var autocomKeys = map[string]string{
	"refno":     fieldStock,
	"makerName": fieldMake,
	"carName":   fieldModel,
	"model":     fieldCode, // the chassis code
	"grade":     fieldVersion,
	"chassis":   fieldChassis,
	"cc":        fieldEngine,
	"km1":       fieldMileage,
}

func readAutocom(doc *document, c *claims) {
	car, ok := ownRecord(doc, "refno", records(doc, "refno", "makerName"))
	if !ok {
		return
	}
	car.claim(c, autocomKeys)
	c.add(fieldManufacture, car.date("pyear", "pmonth"))
	c.add(fieldRegistration, car.date("ryear", "rmonth"))
	fuel := car.text("fuel")
	if car.is("isTagHybrid") && !strings.Contains(strings.ToLower(fuel), "hybrid") {
		c.reject(fieldFuel, fuel, "the page also marks the car as a hybrid")
	} else {
		c.add(fieldFuel, fuel)
	}
	if price := car.text("price"); car.text("currency") == "1" {
		c.add(fieldPrice, "USD "+price)
	} else {
		c.reject(fieldPrice, price, "its currency is not known")
	}
	c.addImages([]string{doc.absolute(car.text("imageCar"))})
}

// canonicalAutocom keeps the stock number, which is the whole address.
func canonicalAutocom(u *url.URL) error {
	switch path := strings.TrimSuffix(u.Path, "/"); {
	case path == "/usedcar" && u.Query().Get("stock") != "":
		rewrite(u, "autocj.co.jp", path, "stock")
	case path == "" || path == "/usedcar":
		return notACar()
	}
	return nil
}
