package listing

import (
	"fmt"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The levels of warnings.
const (
	levelInfo    = "info"
	levelCaution = "caution"
	levelDanger  = "danger"
)

// values are the values of a warning, by name.
type values = message.Values

// warnf adds a doubt about a field that decides money. A code occurs once.
func (l *Listing) warnf(code, level string, named values, format string, args ...any) {
	for _, w := range l.Warnings {
		if w.Code == code {
			return
		}
	}
	l.Warnings = append(l.Warnings, vehicle.Warning{
		Code: code, Level: level, Values: named, Message: fmt.Sprintf(format, args...),
	})
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

// disagree warns that a source gives another value than the one taken, when the field
// decides money.
func (l *Listing) disagree(taken Field, other Other) {
	code := doubtCodes[taken.Name]
	if code == "" {
		return
	}
	named := values{
		"field": taken.Name, "taken": taken.Value, "source": taken.Source, "other": other.Value, "otherSource": other.Source,
	}
	l.warnf(code, levelCaution, named, "The page gives two values for %s: %q (%s), which is used, and %q (%s). Ask the seller.",
		taken.Name, taken.Value, taken.Source, other.Value, other.Source)
}

// unclearPrice warns that no price was taken because the page gives several, or one
// that may be another car's.
func (l *Listing) unclearPrice() {
	for _, f := range l.Fields {
		if f.Name != claim.FieldPrice || f.Source != "" {
			continue
		}
		if all := f.valuesFor(reasonSeveral); all != "" {
			l.warnf("several_prices", levelCaution, values{"prices": all},
				"The page gives several prices (%s), and not which is the car's. None is used. Enter the price yourself.", all)
		} else if all := f.valuesFor(page.ReasonUnclear); all != "" {
			l.warnf("price_unclear", levelCaution, values{"prices": all},
				"The page gives the price %s beside the name of a car, and it is not certain that it is this car's. It is not"+
					" used. Enter the price yourself.", all)
		}
	}
}

// valuesFor returns the values that were not taken for one reason, joined.
func (f *Field) valuesFor(reason string) string {
	var all []string
	for _, other := range f.Others {
		if other.Reason == reason {
			all = append(all, other.Value)
		}
	}
	return strings.Join(all, ", ")
}
