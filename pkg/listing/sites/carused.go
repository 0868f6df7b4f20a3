package sites

import (
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/scripts"
)

// carUsed reads CarUsed.jp, whose pages hold the car as a record in script
// data, as a public reader of the site describes it.
var carUsed = Adapter{Name: "CarUsed.jp", Read: readCarUsed}

func readCarUsed(doc *page.Document, c *claim.List) {
	car, ok := scripts.OwnRecord(doc, "refno", scripts.Records(doc, "refno", "model_code"))
	if !ok {
		return
	}
	car.Claim(c, fieldsOf("CarUsed.jp"))
	c.Add(claim.FieldRegistration, car.Date("reg_year", "reg_month"))
	c.Sold = c.Sold || car.Is("is_sold")
	scripts.AddScriptPrice(c, doc, car.Text("price"))
	c.AddImages([]string{doc.Absolute(car.Text("thumbnail"))})
}
