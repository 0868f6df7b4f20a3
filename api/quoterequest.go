package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"ushuru/pkg/chassis"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// quoteRequest is the body of POST /v1/quote. Amounts are read by hand, so that
// what is wrong with one can be told by its name.
type quoteRequest struct {
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
	Rate         json.RawMessage `json:"rate"`
}

// typeProblem says what is wrong with the type of a field.
func (d *quoteRequest) typeProblem(field string) *problem {
	switch field {
	case "":
		return errQuoteInvalid
	case "year", "engine_cc":
		return fieldProblem(field, "must be a whole number")
	}
	return fieldProblem(field, "must be text")
}

// Bounds of what a vehicle that is imported can be.
const (
	minYear       = 1950
	minCC         = 50
	maxCC         = 20_000
	maxTextLength = 100 // characters of a text
	maxPriceUSD   = 3_000_000
	maxM3         = 300
)

// canonical checks every field, and returns the description in the one form
// that equal descriptions share.
func (d *quoteRequest) canonical() (vehicle.QuoteInput, error) {
	input := vehicle.QuoteInput{
		Make: chassis.Normalise(d.Make), Model: chassis.Normalise(d.Model), Version: chassis.Normalise(d.Version),
		Fuel: chassis.Normalise(d.Fuel), BodyType: chassis.Normalise(d.BodyType), ModelBody: strings.TrimSpace(d.ModelBody),
	}
	for _, field := range []struct{ name, value string }{
		{"make", input.Make},
		{"model", input.Model},
		{"modelCode", d.ModelCode},
		{"rawModelCode", d.RawModelCode},
		{"version", input.Version},
		{"fuel", input.Fuel},
		{"bodyType", input.BodyType},
	} {
		if utf8.RuneCountInString(field.value) > maxTextLength || strings.ContainsFunc(field.value, notPrintable) {
			return input, fieldProblem(field.name, fmt.Sprintf("must be at most %d printable characters", maxTextLength))
		}
	}
	if len(input.ModelBody) > maxModelBody || strings.ContainsFunc(input.ModelBody, notPrintable) {
		return input, fieldProblem("modelBody", fmt.Sprintf("must be at most %d bytes of printable text", maxModelBody))
	}
	for _, check := range []func(*vehicle.QuoteInput) error{d.codes, d.numbers, d.amounts, checkRequired} {
		if err := check(&input); err != nil {
			return input, err
		}
	}
	return input, nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// codes reads the chassis code from either field, with its prefix or without.
func (d *quoteRequest) codes(input *vehicle.QuoteInput) error {
	for _, field := range []struct{ name, value string }{{"modelCode", d.ModelCode}, {"rawModelCode", d.RawModelCode}} {
		if strings.TrimSpace(field.value) == "" {
			continue
		}
		codes := chassis.ParseAll(field.value)
		switch {
		case len(codes) != 1:
			return fieldProblem(field.name, "must be one chassis code, such as NKE165 or DAA-NKE165")
		case input.ModelCode != "" && input.ModelCode != codes[0].Code:
			return fieldProblem("rawModelCode", "is another code than modelCode; send one of them")
		}
		input.ModelCode = codes[0].Code
		if whole := chassis.Normalise(field.value); whole != codes[0].Code {
			input.RawModelCode = whole
		}
	}
	return nil
}

func (d *quoteRequest) numbers(input *vehicle.QuoteInput) error {
	maxYear := time.Now().Year() + 1 // of models that are sold before their year begins
	if d.Year != nil {
		if *d.Year < minYear || *d.Year > maxYear {
			return fieldProblem("year", fmt.Sprintf("must be the year of manufacture, from %d to %d", minYear, maxYear))
		}
		input.Year = *d.Year
	}
	if d.EngineCC != nil && *d.EngineCC != 0 { // 0 is an electric car, or not known
		if *d.EngineCC < minCC || *d.EngineCC > maxCC {
			return fieldProblem("engine_cc", fmt.Sprintf("must be from %d to %d, or 0 for a car without", minCC, maxCC))
		}
		input.EngineCC = *d.EngineCC
	}
	return nil
}

func (d *quoteRequest) amounts(input *vehicle.QuoteInput) error {
	for _, field := range []struct {
		name  string
		value json.RawMessage
		most  int64
		into  **money.Number
	}{
		{"fobPriceUSD", d.FOBPriceUSD, maxPriceUSD, &input.FOBPriceUSD},
		{"cfPriceUSD", d.CFPriceUSD, maxPriceUSD, &input.CFPriceUSD},
		{"m3", d.M3, maxM3, &input.M3},
	} {
		if isAbsent(field.value) {
			continue
		}
		var n money.Number
		err := json.Unmarshal(field.value, &n)
		if err != nil || !n.Decimal().IsPositive() || n.Decimal().GreaterThan(decimal.NewFromInt(field.most)) {
			return fieldProblem(field.name, fmt.Sprintf("must be a number above 0, at most %d", field.most))
		}
		*field.into = &n
	}
	fob, total := input.FOBPriceUSD, input.CFPriceUSD
	if fob != nil && total != nil && !total.Decimal().GreaterThan(fob.Decimal()) {
		return fieldProblem("cfPriceUSD", "is the price with freight, and must be above fobPriceUSD")
	}
	return nil
}

// checkRequired are the fields without which nothing can be looked up.
func checkRequired(input *vehicle.QuoteInput) error {
	switch {
	case input.Make == "":
		return fieldProblem("make", "is missing: send the make, such as TOYOTA")
	case input.Model+input.ModelCode+input.ModelBody == "":
		return fieldProblem("model", "is missing: send model, modelCode, rawModelCode or modelBody")
	case input.Year == 0:
		return fieldProblem("year", "is missing: send the year of manufacture")
	}
	return nil
}

// isAbsent reports whether an optional field was left out or is null.
func isAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
