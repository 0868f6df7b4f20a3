package sites

import (
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/scripts"
)

// autocom reads Autocom Japan: a record in script data on the new site, label
// lists on the old one, as public readers of both describe them.
var autocom = Adapter{Name: "Autocom Japan", Read: readAutocom}

func readAutocom(doc *page.Document, c *claim.List) {
	car, ok := scripts.OwnRecord(doc, "refno", scripts.Records(doc, "refno", "makerName"))
	if !ok {
		return
	}
	car.Claim(c, fieldsOf("Autocom Japan"))
	c.Add(claim.FieldManufacture, car.Date("pyear", "pmonth"))
	c.Add(claim.FieldRegistration, car.Date("ryear", "rmonth"))
	fuel := car.Text("fuel")
	if car.Is("isTagHybrid") && !strings.Contains(strings.ToLower(fuel), "hybrid") {
		c.Reject(claim.FieldFuel, fuel, "marked_hybrid")
	} else {
		c.Add(claim.FieldFuel, fuel)
	}
	if price := car.Text("price"); car.Text("currency") == "1" {
		c.Add(claim.FieldPrice, "USD "+price)
	} else {
		c.Reject(claim.FieldPrice, price, "currency_unknown")
	}
	c.AddImages([]string{doc.Absolute(car.Text("imageCar"))})
}
