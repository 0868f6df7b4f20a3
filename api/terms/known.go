package terms

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/chassis"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/vehicle"
)

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
