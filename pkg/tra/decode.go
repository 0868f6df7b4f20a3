package tra

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

var (
	errNotJSON   = errors.New("not JSON")
	errNoVehicle = errors.New("nothing listed for this vehicle")
)

// object is one item of an answer. Fields that we do not know are ignored.
type object map[string]json.RawMessage

// objects reads an answer in any of the forms that clients of the authority
// have had to handle: a list, one object in place of a list, or null. A null
// or an empty object holds nothing and is left out.
func objects(body []byte) ([]object, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if !utf8.Valid(body) {
		return nil, errors.New("not UTF-8") // labels must go back byte for byte
	}
	if !json.Valid(body) {
		return nil, errNotJSON
	}
	var items []object
	switch body[0] {
	case '[':
		if err := json.Unmarshal(body, &items); err != nil {
			return nil, fmt.Errorf("a list of something else than objects: %w", err)
		}
	case '{':
		items = make([]object, 1)
		if err := json.Unmarshal(body, &items[0]); err != nil {
			return nil, err
		}
	case 'n': // null
	case '"':
		var text string
		if err := json.Unmarshal(body, &text); err != nil || strings.TrimSpace(text) != "" {
			return nil, errNotJSON // a message in quotes
		}
	default:
		return nil, errors.New("neither a list nor an object")
	}
	return slices.DeleteFunc(items, func(o object) bool { return len(o) == 0 }), nil
}

func decodeMakes(body []byte) ([]catalogue.Make, error) {
	return decodeList(body, func(o object) (catalogue.Make, bool, error) {
		name, err := o.text("makeName")
		if err != nil || blank(name) {
			return catalogue.Make{}, false, err
		}
		id, found, err := o.integer("makeId")
		return catalogue.Make{ID: id, Name: name}, found, err
	})
}

// decodeTexts reads a list of one field; years as whole numbers.
func decodeTexts(body []byte, field string) ([]string, error) {
	return decodeList(body, func(o object) (string, bool, error) {
		if field == catalogue.FieldYear {
			year, found, err := o.integer(field)
			return strconv.Itoa(year), found && year > 0, err
		}
		text, err := o.text(field)
		return text, !blank(text), err
	})
}

// decodeList reads every item, leaving out blank ones and repetitions. A list
// in which no item has the field at all is not an empty list.
func decodeList[T comparable](body []byte, read func(object) (T, bool, error)) ([]T, error) {
	items, err := objects(body)
	if err != nil {
		return nil, err
	}
	list := make([]T, 0, len(items))
	seen := make(map[T]bool, len(items))
	for _, item := range items {
		value, found, err := read(item)
		if err != nil {
			return nil, err
		}
		if found && !seen[value] {
			seen[value] = true
			list = append(list, value)
		}
	}
	if len(list) == 0 && len(items) > 0 {
		return nil, errors.New("no item has the expected field")
	}
	return list, nil
}

// text reads a string, or a number as the text it was sent as. A field that is
// missing or null is "".
func (o object) text(name string) (string, error) {
	raw := o[name]
	switch {
	case len(raw) == 0, string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw), nil
	default:
		return "", fmt.Errorf("%s is neither text nor a number: %.40q", name, raw)
	}
}

// integer reads 2019, "2019" or 2019.0, and says whether there was one.
func (o object) integer(name string) (int, bool, error) {
	text, err := o.text(name)
	if err != nil || blank(text) {
		return 0, false, err
	}
	value, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), ".0"))
	if err != nil {
		return 0, false, fmt.Errorf("%s is not a whole number: %.40q", name, text)
	}
	return value, true, nil
}

// blank knows the ways in which the authority says nothing.
func blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "-"
}

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

// empty reports whether the object has the fields of an answer, all of them blank.
func (o object) empty() bool {
	known := false
	for name, field := range taxFields(&vehicle.Tax{}) {
		if _, isAmount := field.(*money.Amount); !isAmount {
			continue
		}
		_, has := o[name]
		known = known || has
		if text, err := o.text(name); err != nil || !blank(text) {
			return false
		}
	}
	return known
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

// taxFields returns the fields of a tax by the authority's names, which its JSON has: pointers to
// texts, whole numbers and amounts.
func taxFields(tax *vehicle.Tax) map[string]any {
	all, of := map[string]any{}, reflect.ValueOf(tax).Elem()
	for i := range of.NumField() {
		all[of.Type().Field(i).Tag.Get("json")] = of.Field(i).Addr().Interface()
	}
	return all
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

// maxAmount is above the price of every car in dollars and in shillings.
var maxAmount = decimal.New(1, 14)

// floating reads the forms in which a program prints a floating point number:
// many decimals, or an exponent.
func floating(text string) (money.Amount, error) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, ",_") {
		return money.Amount{}, money.ErrInvalid
	}
	value, err := money.ParseDecimal(text)
	return money.New(value), err
}

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

// sumTolerance allows for rounded lines: seven lines and their total stay within
// 0.04.
var sumTolerance = decimal.RequireFromString("0.05")

func near(a, b decimal.Decimal) bool { return a.Sub(b).Abs().LessThanOrEqual(sumTolerance) }
