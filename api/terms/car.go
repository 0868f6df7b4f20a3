package terms

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ushuru/api/problem"
	"ushuru/pkg/chassis"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Car is a car as a request describes it. Amounts are parsed by hand, so that a problem
// with one can name its field.
type Car struct {
	Make         string          `json:"make"`
	Model        string          `json:"model"`
	ModelCode    string          `json:"modelCode"`
	RawModelCode string          `json:"rawModelCode"`
	Version      string          `json:"version"`
	Year         *int            `json:"year"`
	EngineCC     *int            `json:"engine_cc"`
	Fuel         string          `json:"fuel"`
	BodyType     string          `json:"bodyType"`
	FOBPriceUSD  json.RawMessage `json:"fobPriceUSD"`
	CFPriceUSD   json.RawMessage `json:"cfPriceUSD"`
	M3           json.RawMessage `json:"m3"`
	ModelBody    string          `json:"modelBody"`

	Known           json.RawMessage `json:"known"`           // values that override the fields of the same names
	PriceCandidates bool            `json:"priceCandidates"` // add the taxes of all candidates to an error
}

// errNoCar means a request that describes no car.
var errNoCar = problem.BadRequest("field_invalid.quote")

// CarTypeProblem says which type a field must have, which is named as encoding/json names it.
func CarTypeProblem(field string) *problem.Problem {
	switch name := field[strings.LastIndex(field, ".")+1:]; name { // without that of the embedded struct
	case "":
		return errNoCar
	case "year", "engine_cc":
		return problem.Field(name, "number")
	case "priceCandidates":
		return problem.Field(name, "boolean")
	default:
		return problem.Field(name, "text")
	}
}

// Bounds of an imported vehicle.
const (
	minYear = 1950
	minCC   = 50
	maxCC   = 20_000

	MaxText  = 100 // characters of a text
	MaxLabel = 200 // bytes of a label of the authority that the caller chooses
)

// CheckText checks a text of a request.
func CheckText(field, value string) error {
	if utf8.RuneCountInString(value) > MaxText || strings.ContainsFunc(value, notPrintable) {
		return problem.Field(field, "characters", MaxText)
	}
	return nil
}

// CheckLabel checks a label that the caller chooses.
func CheckLabel(label string) error {
	if len(label) > MaxLabel || strings.ContainsFunc(label, notPrintable) {
		return problem.Field("modelBody", "bytes", MaxLabel)
	}
	return nil
}

// CheckEngine checks the capacity of an engine, of which 0 is that of an electric car, or
// unknown.
func CheckEngine(cc int) error {
	if cc != 0 && (cc < minCC || cc > maxCC) {
		return problem.Field("engine_cc", "engine", minCC, maxCC)
	}
	return nil
}

// Canonical checks every field, and returns the canonical form that equal
// descriptions share.
func (c *Car) Canonical() (vehicle.QuoteInput, error) {
	input, err := c.optional()
	if err != nil {
		return input, err
	}
	known, err := ParseKnown(c.Known)
	if err != nil {
		return input, err
	}
	input.Override(known)
	input.PriceCandidates = c.PriceCandidates
	return input, checkRequired(&input)
}

// optional is Canonical without the check that the required fields are present.
func (c *Car) optional() (vehicle.QuoteInput, error) {
	input := vehicle.QuoteInput{
		Make: chassis.Normalise(c.Make), Model: chassis.Normalise(c.Model), Version: chassis.Normalise(c.Version),
		Fuel: chassis.Normalise(c.Fuel), BodyType: chassis.Normalise(c.BodyType), ModelBody: strings.TrimSpace(c.ModelBody),
	}
	for _, field := range []struct{ name, value string }{
		{"make", input.Make},
		{"model", input.Model},
		{"modelCode", c.ModelCode},
		{"rawModelCode", c.RawModelCode},
		{"version", input.Version},
		{"fuel", input.Fuel},
		{"bodyType", input.BodyType},
	} {
		if err := CheckText(field.name, field.value); err != nil {
			return input, err
		}
	}
	if err := CheckLabel(input.ModelBody); err != nil {
		return input, err
	}
	for _, check := range []func(*vehicle.QuoteInput) error{c.codes, c.numbers, c.amounts} {
		if err := check(&input); err != nil {
			return input, err
		}
	}
	return input, nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// codes parses the chassis code of either field, with or without its prefix.
func (c *Car) codes(input *vehicle.QuoteInput) error {
	for _, field := range []struct{ name, value string }{{"modelCode", c.ModelCode}, {"rawModelCode", c.RawModelCode}} {
		if strings.TrimSpace(field.value) == "" {
			continue
		}
		codes := chassis.ParseAll(field.value)
		switch {
		case len(codes) != 1:
			return problem.Field(field.name, "one_code")
		case input.ModelCode != "" && input.ModelCode != codes[0].Code:
			return problem.Field("rawModelCode", "two_codes")
		}
		input.ModelCode = codes[0].Code
		if whole := chassis.Normalise(field.value); whole != codes[0].Code {
			input.RawModelCode = whole
		}
	}
	return nil
}

func (c *Car) numbers(input *vehicle.QuoteInput) error {
	maxYear := time.Now().Year() + 1 // models are sold before their year begins
	if c.Year != nil {
		if *c.Year < minYear || *c.Year > maxYear {
			return problem.Field("year", "year", minYear, maxYear)
		}
		input.Year = *c.Year
	}
	if c.EngineCC != nil {
		input.EngineCC = *c.EngineCC
	}
	return CheckEngine(input.EngineCC)
}

func (c *Car) amounts(input *vehicle.QuoteInput) error {
	for _, field := range []struct {
		name  string
		value json.RawMessage
		max   int64
		into  **money.Number
	}{
		{"fobPriceUSD", c.FOBPriceUSD, maxPriceUSD, &input.FOBPriceUSD},
		{"cfPriceUSD", c.CFPriceUSD, maxPriceUSD, &input.CFPriceUSD},
		{"m3", c.M3, maxM3, &input.M3},
	} {
		n, err := parseNumber(field.value, 0, field.max)
		if err != nil || n != nil && !n.Decimal().IsPositive() {
			return problem.Field(field.name, "positive", int(field.max)).WithCause(err)
		}
		*field.into = n
	}
	fob, total := input.FOBPriceUSD, input.CFPriceUSD
	if fob != nil && total != nil && !total.Decimal().GreaterThan(fob.Decimal()) {
		return problem.Field("cfPriceUSD", "freight")
	}
	return nil
}

// checkRequired checks the fields that the match requires.
func checkRequired(input *vehicle.QuoteInput) error {
	switch {
	case input.Make == "":
		return problem.Field("make", "make")
	case input.Model+input.ModelCode+input.ModelBody == "":
		return problem.Field("model", "model")
	case input.Year == 0:
		return problem.Field("year", "no_year")
	}
	return nil
}

// knownRequest is the field "known" of an estimate or of a batch row.
type knownRequest struct {
	Year        *int            `json:"year"`
	YearBasis   string          `json:"yearBasis"`
	EngineCC    *int            `json:"engine_cc"`
	Fuel        string          `json:"fuel"`
	ModelCode   string          `json:"modelCode"`
	FOBPriceUSD json.RawMessage `json:"fobPriceUSD"`
	CFPriceUSD  json.RawMessage `json:"cfPriceUSD"`
	BodyType    string          `json:"bodyType"`
	ListedYear  *int            `json:"listedYear"`
}

// Manufacture is the usual basis of a year.
const Manufacture = "manufacture"

// IsYearBasis reports whether a year can be one of a basis.
func IsYearBasis(basis string) bool {
	return slices.Contains([]string{Manufacture, "registration", "model"}, basis)
}

// ParseKnown checks the values that a caller knows, and returns their canonical
// form; nil when there are none. Fields that do not exist are rejected, because a
// misspelt one would silently leave the listing's value.
func ParseKnown(data json.RawMessage) (*vehicle.Known, error) {
	if jsonobject.IsAbsent(data) {
		return nil, nil //nolint:nilnil // no values
	}
	var req knownRequest
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&req); err != nil {
		return nil, problem.Field("known", "known").WithCause(err)
	}
	if req.YearBasis == "" {
		req.YearBasis = Manufacture
	}
	if !IsYearBasis(req.YearBasis) {
		return nil, problem.Field("known.yearBasis", "year_basis")
	}
	described := Car{
		Year: req.Year, EngineCC: req.EngineCC, ModelCode: req.ModelCode,
		FOBPriceUSD: req.FOBPriceUSD, CFPriceUSD: req.CFPriceUSD, Fuel: req.Fuel, BodyType: req.BodyType,
	}
	input, err := described.optional()
	if err != nil {
		return nil, inKnown(err)
	}
	known := vehicle.Known{
		Year: input.Year, EngineCC: input.EngineCC, Fuel: chassis.Normalise(req.Fuel), ModelCode: input.ModelCode,
		RawModelCode: input.RawModelCode, FOBPriceUSD: input.FOBPriceUSD, CFPriceUSD: input.CFPriceUSD,
		BodyType: chassis.Normalise(req.BodyType),
	}
	if req.ListedYear != nil {
		consent := Car{Year: req.ListedYear}
		if err := consent.numbers(&input); err != nil {
			return nil, problem.Field("known.listedYear", "year", minYear, time.Now().Year()+1)
		}
		known.ListedYear = input.Year
	}
	if known.Year != 0 {
		known.YearBasis = req.YearBasis
	}
	if known == (vehicle.Known{}) {
		return nil, nil //nolint:nilnil // no values
	}
	return &known, nil
}

// inKnown returns the problem of a field as one of "known".
func inKnown(err error) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		return err
	}
	nested := *p
	nested.Notice, nested.Param = p.Within("frame/in_known", nil), "known."+p.Param
	return &nested
}

// knownFields are the fields of known by their names in lower case, as headers of
// tables are compared; knownNumbers are those that JSON writes without quotes.
var (
	knownFields = map[string]string{
		"year": "year", "yearbasis": "yearBasis", "engine_cc": "engine_cc", "fuel": "fuel", "modelcode": "modelCode",
		"fobpriceusd": "fobPriceUSD", "cfpriceusd": "cfPriceUSD", "bodytype": "bodyType",
		"listedyear": "listedYear",
	}
	knownNumbers = []string{"year", "listedYear", "engine_cc", "fobPriceUSD", "cfPriceUSD"}
)

// KnownOfCells returns the known values of a table's row as the object that a JSON row
// has, nil for none. A column that is no field of known stays as it is, and is rejected
// with the row.
func KnownOfCells(cells map[string]string) json.RawMessage {
	values := map[string]any{}
	for name, value := range cells {
		if field := knownFields[name]; field != "" {
			name = field
		}
		values[name] = value
		if plain := strings.ReplaceAll(value, ",", ""); slices.Contains(knownNumbers, name) && json.Valid([]byte(plain)) {
			values[name] = json.RawMessage(plain)
		}
	}
	if len(values) == 0 {
		return nil
	}
	data, err := json.Marshal(values)
	if err != nil {
		return nil // texts and numbers can be encoded
	}
	return data
}
