package tra

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"

	"github.com/shopspring/decimal"
)

// The stable codes of warnings about an answer.
const (
	warnSumUSD   = "authority_usd_sum"             // the lines do not add up to the USD total
	warnSumTZS   = "authority_tzs_sum"             // the shilling figures do not add up
	warnIdentity = "authority_identity_incomplete" // the answer does not repeat the whole requested vehicle
	WarnStale    = "authority_stale"               // an expired answer, because the authority is not available
)

// decodeDetails parses the answer about one vehicle and checks that it is about
// that vehicle. Inconsistent figures are kept, with a warning.
func decodeDetails(body []byte, requested catalogue.Vehicle) (vehicle.Tax, []vehicle.Warning, error) {
	items, err := objects(body)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	item, err := matchingAnswer(items, requested)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	tax, missing, err := readTax(item)
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	warnings := checkSums(tax)
	if len(missing) > 0 && len(warnings) > 0 {
		return vehicle.Tax{}, nil, fmt.Errorf("%s missing, and the totals do not show that it is zero",
			strings.Join(missing, " and "))
	}
	if !item.identity().complete() {
		warnings = append(warnings, message.New("warning/"+warnIdentity, nil))
	}
	return tax, warnings, nil
}

// matchingAnswer returns the item that is about the requested vehicle.
func matchingAnswer(items []object, requested catalogue.Vehicle) (object, error) {
	items = slices.DeleteFunc(items, object.empty)
	if len(items) == 0 {
		return nil, errNoVehicle
	}
	var fitting []object
	var differs error
	for _, item := range items {
		if err := item.identity().differsFrom(requested); err != nil {
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

// identity holds the fields of an answer that identify its vehicle.
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

// differsFrom compares the fields that the answer repeats, with white space and
// case folded. The answer must repeat at least one field besides the label.
func (id identity) differsFrom(requested catalogue.Vehicle) error {
	if id.yom+id.country+id.fuel+id.capacity == "" {
		return errors.New("it names no vehicle")
	}
	for _, field := range []struct{ name, got, want string }{
		{"modelBody", id.modelBody, requested.ModelBody},
		{"yom", strings.TrimSuffix(id.yom, ".0"), strconv.Itoa(requested.YOM)},
		{"country", id.country, requested.Country},
		{"fuelType", id.fuel, requested.FuelType},
		{"engineCapacity", id.capacity, requested.EngineCapacity},
	} {
		if field.got != "" && fold(field.got) != fold(field.want) {
			return fmt.Errorf("%s is %.60q, requested %.60q", field.name, field.got, field.want)
		}
	}
	return nil
}

func fold(text string) string { return strings.ToUpper(strings.Join(strings.Fields(text), " ")) }

// readTax parses all fields. It returns the names of the two levies when they are
// missing; any other missing amount is an error.
func readTax(o object) (tax vehicle.Tax, missing []string, err error) {
	var problems []error
	for name, field := range taxFields(&tax) {
		var err error
		found := true
		switch field := field.(type) {
		case *string:
			*field, err = o.text(name)
		case *int:
			*field, _, err = o.integer(name)
		case *money.Amount:
			*field, found, err = o.amount(name)
		}
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

// sumTolerance allows for rounded lines: seven lines and their total stay within
// 0.04.
var sumTolerance = decimal.RequireFromString("0.05")

// checkSums compares the totals with their lines. The unit of the industrial
// levy is not known: it may belong to either sum.
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
		warnings = append(warnings, message.New("warning/"+warnSumUSD, nil))
	}
	if !near(tzs, totalTZS) && !levyInTZS {
		warnings = append(warnings, message.New("warning/"+warnSumTZS, nil))
	}
	return warnings
}

func near(a, b decimal.Decimal) bool { return a.Sub(b).Abs().LessThanOrEqual(sumTolerance) }
