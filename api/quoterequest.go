package api

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/chassis"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// quoteRequest is the body of POST /v1/quote. Amounts are parsed by hand, so
// that a problem with one can name its field.
type quoteRequest struct {
	terms.Request

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

// typeProblem says which type a field must have.
func (req *quoteRequest) typeProblem(field string) *problem.Problem {
	switch field {
	case "":
		return errQuoteInvalid
	case "year", "engine_cc":
		return problem.Field(field, "number")
	case "priceCandidates":
		return problem.Field(field, "boolean")
	}
	return problem.Field(field, "text")
}

// Bounds of an imported vehicle.
const (
	minYear       = 1950
	minCC         = 50
	maxCC         = 20_000
	maxTextLength = 100 // characters of a text
)

// canonical checks every field, and returns the canonical form that equal
// descriptions share.
func (req *quoteRequest) canonical() (vehicle.QuoteInput, error) {
	input, err := req.optional()
	if err != nil {
		return input, err
	}
	known, err := parseKnown(req.Known)
	if err != nil {
		return input, err
	}
	input.Override(known)
	input.PriceCandidates = req.PriceCandidates
	return input, checkRequired(&input)
}

// optional is canonical without the check that the required fields are present.
func (req *quoteRequest) optional() (vehicle.QuoteInput, error) {
	input := vehicle.QuoteInput{
		Make: chassis.Normalise(req.Make), Model: chassis.Normalise(req.Model), Version: chassis.Normalise(req.Version),
		Fuel: chassis.Normalise(req.Fuel), BodyType: chassis.Normalise(req.BodyType), ModelBody: strings.TrimSpace(req.ModelBody),
	}
	for _, field := range []struct{ name, value string }{
		{"make", input.Make},
		{"model", input.Model},
		{"modelCode", req.ModelCode},
		{"rawModelCode", req.RawModelCode},
		{"version", input.Version},
		{"fuel", input.Fuel},
		{"bodyType", input.BodyType},
	} {
		if utf8.RuneCountInString(field.value) > maxTextLength || strings.ContainsFunc(field.value, notPrintable) {
			return input, problem.Field(field.name, "characters", maxTextLength)
		}
	}
	if len(input.ModelBody) > maxModelBody || strings.ContainsFunc(input.ModelBody, notPrintable) {
		return input, problem.Field("modelBody", "bytes", maxModelBody)
	}
	for _, check := range []func(*vehicle.QuoteInput) error{req.codes, req.numbers, req.amounts} {
		if err := check(&input); err != nil {
			return input, err
		}
	}
	return input, nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// codes parses the chassis code of either field, with or without its prefix.
func (req *quoteRequest) codes(input *vehicle.QuoteInput) error {
	for _, field := range []struct{ name, value string }{{"modelCode", req.ModelCode}, {"rawModelCode", req.RawModelCode}} {
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

func (req *quoteRequest) numbers(input *vehicle.QuoteInput) error {
	maxYear := time.Now().Year() + 1 // models are sold before their year begins
	if req.Year != nil {
		if *req.Year < minYear || *req.Year > maxYear {
			return problem.Field("year", "year", minYear, maxYear)
		}
		input.Year = *req.Year
	}
	if req.EngineCC != nil && *req.EngineCC != 0 { // 0 is an electric car, or unknown
		if *req.EngineCC < minCC || *req.EngineCC > maxCC {
			return problem.Field("engine_cc", "engine", minCC, maxCC)
		}
		input.EngineCC = *req.EngineCC
	}
	return nil
}

func (req *quoteRequest) amounts(input *vehicle.QuoteInput) error {
	for _, field := range []struct {
		name  string
		value json.RawMessage
		max   int
		into  **money.Number
	}{
		{"fobPriceUSD", req.FOBPriceUSD, terms.MaxPriceUSD, &input.FOBPriceUSD},
		{"cfPriceUSD", req.CFPriceUSD, terms.MaxPriceUSD, &input.CFPriceUSD},
		{"m3", req.M3, terms.MaxM3, &input.M3},
	} {
		if jsonobject.IsAbsent(field.value) {
			continue
		}
		var n money.Number
		err := json.Unmarshal(field.value, &n)
		if err != nil || !n.Decimal().IsPositive() || n.Decimal().GreaterThan(decimal.NewFromInt(int64(field.max))) {
			return problem.Field(field.name, "positive", field.max)
		}
		*field.into = &n
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
