package sites

import (
	"net/url"
	"regexp"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/scripts"
)

// carUsed reads CarUsed.jp, whose pages hold the car as a record in script
// data, as a public reader of the site describes it.
var carUsed = Adapter{Name: "CarUsed.jp", Read: readCarUsed, Canonicalize: canonicalCarUsed}

var carUsedKeys = map[string]string{
	"refno":       claim.FieldStock,
	"make":        claim.FieldMake,
	"model":       claim.FieldModel,
	"model_code":  claim.FieldCode,
	"grade":       claim.FieldVersion,
	"engine_size": claim.FieldEngine,
	"fuel":        claim.FieldFuel,
	"mission":     claim.FieldTransmission,
	"steering":    claim.FieldSteering,
	"chassis_no":  claim.FieldChassis,
	"grade_score": claim.FieldScore,
}

func readCarUsed(doc *page.Document, c *claim.List) {
	car, ok := scripts.OwnRecord(doc, "refno", scripts.Records(doc, "refno", "model_code"))
	if !ok {
		return
	}
	car.Claim(c, carUsedKeys)
	c.Add(claim.FieldRegistration, car.Date("reg_year", "reg_month"))
	c.Sold = c.Sold || car.Is("is_sold")
	scripts.AddScriptPrice(c, doc, car.Text("price"))
	c.AddImages([]string{doc.Absolute(car.Text("thumbnail"))})
}

var carUsedDetail = regexp.MustCompile(`^/car-list/detail/[^/]+/[^/]+/[^/]+/[^/]+`)

func canonicalCarUsed(u *url.URL) error {
	switch path := carUsedDetail.FindString(u.Path); {
	case path != "":
		rewrite(u, "carused.jp", path)
	case u.Path == "/" || u.Path == "/car-list" || u.Path == "/car-list/":
		return notACar()
	}
	return nil
}
