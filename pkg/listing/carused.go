package listing

import (
	"net/url"
	"regexp"
)

// carUsed reads CarUsed.jp, whose pages hold the car as a record in script
// data, as a public reader of the site describes it.
var carUsed = adapter{name: "CarUsed.jp", read: readCarUsed, canonical: canonicalCarUsed}

var carUsedKeys = map[string]string{
	"refno":       fieldStock,
	"make":        fieldMake,
	"model":       fieldModel,
	"model_code":  fieldCode,
	"grade":       fieldVersion,
	"engine_size": fieldEngine,
	"fuel":        fieldFuel,
	"mission":     fieldTransmission,
	"steering":    fieldSteering,
	"chassis_no":  fieldChassis,
	"grade_score": fieldScore,
}

func readCarUsed(doc *document, c *claims) {
	car, ok := ownRecord(doc, "refno", records(doc, "refno", "model_code"))
	if !ok {
		return
	}
	car.claim(c, carUsedKeys)
	c.add(fieldRegistration, car.date("reg_year", "reg_month"))
	c.sold = c.sold || car.is("is_sold")
	c.addScriptPrice(doc, car.text("price"))
	c.addImages([]string{doc.absolute(car.text("thumbnail"))})
}

// addScriptPrice claims a price of script data. One without currency counts as
// dollars only where the page shows it so.
func (c *claims) addScriptPrice(doc *document, amount string) {
	p, ok := readPrice(amount)
	switch {
	case !ok:
		c.reject(fieldPrice, amount, "not one amount")
	case p.currency != "":
		c.add(fieldPrice, amount)
	case shownInDollars(doc, p.amount):
		c.add(fieldPrice, "USD "+p.amount.String())
	default:
		c.reject(fieldPrice, amount, "the page does not show it with a currency")
	}
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
