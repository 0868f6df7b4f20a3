package tra

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The stable codes of warnings about an answer.
const (
	WarnSumUSD   = "authority_usd_sum"             // the lines do not add up to the USD total
	WarnSumTZS   = "authority_tzs_sum"             // the shilling figures do not add up
	WarnIdentity = "authority_identity_incomplete" // the answer does not repeat all of the vehicle asked about
	WarnStale    = "authority_stale"               // an earlier answer, because the authority cannot be asked now
)

// sumTolerance allows for printed lines that are each rounded: seven lines and
// their total stay within 0.04.
var sumTolerance = decimal.RequireFromString("0.05")

// maxAmount is more than any car costs in any currency here.
var maxAmount = decimal.New(1, 14)

// decodeDetails reads the answer about one vehicle and checks that it is about
// that vehicle. Figures that do not add up are kept, with a warning.
func decodeDetails(body []byte, asked Vehicle) (vehicle.Tax, []vehicle.Warning, error) {
	items, err := objects(body)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	item, err := theOne(items, asked)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	tax, missing, err := readTax(item)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	warnings := checkSums(tax)
	if len(missing) > 0 && len(warnings) > 0 {
		return vehicle.Tax{}, nil, fmt.Errorf("%s missing, and the totals do not show that it is zero", strings.Join(missing, " and "))
	}
	if !item.identity().complete() {
		warnings = append(warnings, vehicle.Warning{Code: WarnIdentity,
			Message: "The authority's answer does not repeat the year, country, fuel and engine size that were asked for."})
	}
	return tax, warnings, nil
}

// theOne chooses the item that is about the vehicle asked for.
func theOne(items []object, asked Vehicle) (object, error) {
	items = slices.DeleteFunc(items, object.empty)
	if len(items) == 0 {
		return nil, errNoVehicle
	}
	var fitting []object
	var differs error
	for _, item := range items {
		if err := item.identity().differsFrom(asked); err != nil {
			differs = err
			continue
		}
		fitting = append(fitting, item)
	}
	switch len(fitting) {
	case 0:
		return nil, fmt.Errorf("an answer about another vehicle: %w", differs)
	case 1:
		return fitting[0], nil
	default:
		return nil, fmt.Errorf("%d answers fit the vehicle", len(fitting))
	}
}

// identity is what an answer says about which vehicle it is for.
type identity struct{ modelBody, yom, country, fuel, capacity string }

func (o object) identity() (id identity) {
	for name, field := range map[string]*string{
		"modelBody": &id.modelBody, "yom": &id.yom, "country": &id.country,
		"fuelType": &id.fuel, "engineCapacity": &id.capacity,
	} {
		if text, err := o.text(name); err == nil && !blank(text) {
			*field = text
		}
	}
	return id
}

func (id identity) complete() bool {
	return id.yom != "" && id.country != "" && id.fuel != "" && id.capacity != ""
}

// differsFrom compares what the answer repeats, white space and case folded.
// At least one thing besides the label must be repeated.
func (id identity) differsFrom(asked Vehicle) error {
	if id.yom+id.country+id.fuel+id.capacity == "" {
		return errors.New("it names no vehicle")
	}
	for _, field := range []struct{ name, got, want string }{
		{"modelBody", id.modelBody, asked.ModelBody},
		{"yom", strings.TrimSuffix(id.yom, ".0"), fmt.Sprint(asked.YOM)},
		{"country", id.country, asked.Country},
		{"fuelType", id.fuel, asked.FuelType},
		{"engineCapacity", id.capacity, asked.EngineCapacity},
	} {
		if field.got != "" && fold(field.got) != fold(field.want) {
			return fmt.Errorf("%s is %.60q, asked for %.60q", field.name, field.got, field.want)
		}
	}
	return nil
}

func fold(text string) string { return strings.ToUpper(strings.Join(strings.Fields(text), " ")) }

// readTax reads all fields, verbatim. It returns the names of the two levies
// when they are missing; any other missing amount is an error.
func readTax(o object) (tax vehicle.Tax, missing []string, err error) {
	var problems []error
	for name, field := range map[string]*string{
		"referenceNumber": &tax.ReferenceNumber, "make": &tax.Make, "model": &tax.Model, "bodyType": &tax.BodyType,
		"modelBody": &tax.ModelBody, "country": &tax.Country, "fuelType": &tax.FuelType, "engineCapacity": &tax.EngineCapacity,
	} {
		text, err := o.text(name)
		*field = text
		problems = append(problems, err)
	}
	for name, field := range map[string]*int{"yom": &tax.YOM, "quarter": &tax.Quarter, "year": &tax.Year} {
		value, _, err := o.integer(name)
		*field = value
		problems = append(problems, err)
	}
	for name, field := range amounts(&tax) {
		value, found, err := o.amount(name)
		*field = value
		problems = append(problems, err)
		switch {
		case found || err != nil:
		case name == "indDevLevy" || name == "hivRespLevy":
			missing = append(missing, name)
		default:
			problems = append(problems, fmt.Errorf("%s is missing", name))
		}
	}
	return tax, missing, errors.Join(problems...)
}

// amounts are the money fields by the authority's names.
func amounts(tax *vehicle.Tax) map[string]*money.Amount {
	return map[string]*money.Amount{
		"cifInUSD":                    &tax.CIFInUSD,
		"importDutyInUSD":             &tax.ImportDutyInUSD,
		"exiseDutyInUSD":              &tax.ExiseDutyInUSD,
		"exiseDutyDueToAgeInUSD":      &tax.ExiseDutyDueToAgeInUSD,
		"vatInUSD":                    &tax.VATInUSD,
		"customProcessingFeeInUSD":    &tax.CustomProcessingFeeInUSD,
		"railwayDevLevyInUSD":         &tax.RailwayDevLevyInUSD,
		"indDevLevy":                  &tax.IndDevLevy,
		"hivRespLevy":                 &tax.HIVRespLevy,
		"totalImportTaxesInUSD":       &tax.TotalImportTaxesInUSD,
		"totalImportTaxesInTZS":       &tax.TotalImportTaxesInTZS,
		"vehicleRegistrationFeeInTZS": &tax.VehicleRegistrationFeeInTZS,
		"totalTaxesInTZS":             &tax.TotalTaxesInTZS,
	}
}

// empty says whether the object has the fields of an answer, all of them blank.
func (o object) empty() bool {
	var tax vehicle.Tax
	known := false
	for name := range amounts(&tax) {
		if _, ok := o[name]; ok {
			known = true
		}
		if text, err := o.text(name); err != nil || !blank(text) {
			return false
		}
	}
	return known
}

// amount reads "2,439.00", 2439 or 2439.0e0, and says whether there was one.
func (o object) amount(name string) (money.Amount, bool, error) {
	text, err := o.text(name)
	if err != nil || blank(text) {
		return money.Amount{}, false, err
	}
	amount, err := money.Parse(text)
	if err != nil {
		amount, err = floating(text)
	}
	if err == nil && amount.Decimal().IsNegative() {
		err = errors.New("negative")
	}
	if err == nil && amount.Decimal().GreaterThan(maxAmount) {
		err = errors.New("too large")
	}
	if err != nil {
		return money.Amount{}, false, fmt.Errorf("%s is not an amount: %.40q: %w", name, text, err)
	}
	return amount, true, nil
}

// floating reads the forms in which a program prints a floating point number:
// many decimals, or an exponent.
func floating(text string) (money.Amount, error) {
	text = strings.TrimSpace(text)
	if len(text) > 40 || strings.ContainsAny(text, ",_") {
		return money.Amount{}, money.ErrInvalid
	}
	value, err := decimal.NewFromString(text)
	if err != nil || value.Exponent() > 15 || value.Exponent() < -40 {
		return money.Amount{}, money.ErrInvalid
	}
	return money.New(value), nil
}

// checkSums compares the totals with their lines. The unit of the industrial
// levy is not known: it may stand in either sum.
func checkSums(tax vehicle.Tax) (warnings []vehicle.Warning) {
	sum := func(lines ...money.Amount) (total decimal.Decimal) {
		for _, line := range lines {
			total = total.Add(line.Decimal())
		}
		return total
	}
	levy := tax.IndDevLevy.Decimal()
	usd := sum(tax.ImportDutyInUSD, tax.ExiseDutyInUSD, tax.ExiseDutyDueToAgeInUSD, tax.VATInUSD,
		tax.CustomProcessingFeeInUSD, tax.RailwayDevLevyInUSD)
	tzs := sum(tax.TotalImportTaxesInTZS, tax.HIVRespLevy, tax.VehicleRegistrationFeeInTZS)
	totalUSD, totalTZS := tax.TotalImportTaxesInUSD.Decimal(), tax.TotalTaxesInTZS.Decimal()

	levyInTZS := near(usd, totalUSD) && near(tzs.Add(levy), totalTZS)
	if !near(usd.Add(levy), totalUSD) && !levyInTZS {
		warnings = append(warnings, vehicle.Warning{Code: WarnSumUSD,
			Message: "The authority's USD figures do not add up to its total; treat them as uncertain."})
	}
	if !near(tzs, totalTZS) && !levyInTZS {
		warnings = append(warnings, vehicle.Warning{Code: WarnSumTZS,
			Message: "The authority's shilling figures do not add up to its total; treat them as uncertain."})
	}
	return warnings
}

func near(a, b decimal.Decimal) bool { return a.Sub(b).Abs().LessThanOrEqual(sumTolerance) }
