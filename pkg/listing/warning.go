package listing

import (
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/message"
)

// values are the values of a warning, by name.
type values = message.Values

// warn adds a doubt about a field that decides money. A code occurs once.
func (l *Listing) warn(code string, named values) {
	for _, w := range l.Warnings {
		if w.Code == code {
			return
		}
	}
	l.Warnings = append(l.Warnings, message.New("warning/"+code, named))
}

// doubtCodes are the codes of warnings that two sources disagree on a field that
// decides money.
var doubtCodes = map[string]string{
	claim.FieldMake:         "make_differs",
	claim.FieldModel:        "model_differs",
	claim.FieldCode:         "model_code_differs",
	claim.FieldManufacture:  "manufacture_differs",
	claim.FieldRegistration: "registration_differs",
	claim.FieldModelYear:    "model_year_differs",
	claim.FieldEngine:       "engine_differs",
	claim.FieldFuel:         "fuel_differs",
	claim.FieldPrice:        "price_differs",
	claim.FieldCF:           "total_differs",
}

// reasonUnclear is the reason not to take any of the numbers of a cell.
const reasonUnclear = "cell_unclear"

// unclearCodes are the codes of warnings that a cell has numbers, and not one clear value.
var unclearCodes = map[string]string{
	claim.FieldEngine: "engine_unclear", claim.FieldMileage: "mileage_unclear", claim.FieldPrice: "several_prices",
	claim.FieldManufacture: "year_unclear", claim.FieldRegistration: "year_unclear", claim.FieldModelYear: "year_unclear",
}

// unclear warns that a cell has numbers, and not one clear value.
func (l *Listing) unclear(field, value string) {
	if code := unclearCodes[field]; code == "several_prices" {
		l.warn(code, values{"prices": value})
	} else if code != "" {
		l.warn(code, values{"value": value})
	}
}

// disagree warns that a source gives another value than the one taken, when the field
// decides money.
func (l *Listing) disagree(taken Field, other Other) {
	code := doubtCodes[taken.Name]
	if code == "" {
		return
	}
	l.warn(code, valuesOf(taken, other))
}

// valuesOf returns the values of a sentence about two sources that disagree.
func valuesOf(taken Field, other Other) values {
	return values{
		"field": taken.Name, "taken": taken.Value, "source": taken.Source, "other": other.Value, "otherSource": other.Source,
	}
}

// unclearPrice warns that no price was taken because its dollars are not known, or the page
// gives several, or one that may be another car's.
func (l *Listing) unclearPrice() {
	price := l.field(claim.FieldPrice)
	if price.Source != "" {
		return
	}
	rejected := map[string][]string{}
	for _, other := range price.Others {
		rejected[other.Code] = append(rejected[other.Code], other.Value)
	}
	if inDollars := rejected[claim.ReasonDollar]; len(inDollars) > 0 {
		l.warn("price_currency_unknown", values{"price": inDollars[0]})
	}
	if several := rejected[reasonSeveral]; len(several) > 0 {
		l.warn("several_prices", values{"prices": strings.Join(several, ", ")})
	} else if unclear := rejected[page.ReasonUnclear]; len(unclear) > 0 {
		l.warn("price_unclear", values{"prices": strings.Join(unclear, ", ")})
	}
}
