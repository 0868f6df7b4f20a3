package vehicle

import (
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// Quote is the response of POST /v1/quote: an Estimate of a car that the caller
// describes. Additive.
type Quote struct {
	Input    QuoteInput `json:"input"` // in place of the Estimate's
	Estimate            //nolint:embeddedstructfieldcheck // fields stand in the order of the answer
}

// QuoteInput is a car as a caller describes it. An omitted field is not known.
type QuoteInput struct {
	Make         string        `json:"make"`
	Model        string        `json:"model,omitempty"`
	ModelCode    string        `json:"modelCode,omitempty"`    // chassis code: NKE165
	RawModelCode string        `json:"rawModelCode,omitempty"` // with its prefix: DAA-NKE165
	Version      string        `json:"version,omitempty"`      // trim or grade
	Year         int           `json:"year"`                   // of manufacture
	EngineCC     int           `json:"engine_cc,omitempty"`
	Fuel         string        `json:"fuel,omitempty"`
	BodyType     string        `json:"bodyType,omitempty"`
	FOBPriceUSD  *money.Number `json:"fobPriceUSD,omitempty"`
	CFPriceUSD   *money.Number `json:"cfPriceUSD,omitempty"` // cost and freight to Dar es Salaam
	M3           *money.Number `json:"m3,omitempty"`         // shipping volume in cubic metres
	ModelBody    string        `json:"modelBody,omitempty"`  // the authority's label, chosen by the caller
	YearBasis    string        `json:"yearBasis,omitempty"`  // registration or model; "" is manufacture
	ListedYear   int           `json:"listedYear,omitempty"` // the year of the authority's list to which the caller consents

	// PriceCandidates adds the taxes of all candidates to an error. It is no part of
	// the car.
	PriceCandidates bool `json:"priceCandidates,omitempty"`
}

// Override replaces the values that the caller knows.
func (q *QuoteInput) Override(known *Known) {
	if known == nil {
		return
	}
	car := q.Car()
	known.Apply(&car)
	q.Year, q.EngineCC, q.Fuel, q.BodyType = car.Year, car.EngineCC, car.Fuel, car.BodyType
	q.ModelCode, q.FOBPriceUSD, q.CFPriceUSD = car.ModelCode, car.FOBPriceUSD, car.CFPriceUSD
	q.ListedYear = car.ListedYear
	if known.ModelCode != "" {
		q.RawModelCode = known.RawModelCode
	}
	if q.YearBasis = car.YearBasis; q.YearBasis == basisManufacture {
		q.YearBasis = ""
	}
}

// basisManufacture is the basis of a year that the caller gave without another.
const basisManufacture = "manufacture"

// Car returns the car that the caller describes.
func (q *QuoteInput) Car() Car {
	basis := q.YearBasis
	if basis == "" {
		basis = basisManufacture
	}
	return Car{
		Make: q.Make, Model: q.Model, ModelCode: q.ModelCode, RawModelCode: q.RawModelCode, Version: q.Version,
		Year: q.Year, YearBasis: basis, EngineCC: q.EngineCC, Fuel: q.Fuel, BodyType: q.BodyType,
		FOBPriceUSD: q.FOBPriceUSD, CFPriceUSD: q.CFPriceUSD, M3: q.M3,
		ListedYear: q.ListedYear, Images: []string{}, Source: FromRequest,
	}
}

// Known are values of a listed car that the caller knows better than the page,
// for example from the seller. They override the listing. A zero value leaves the
// listing's. Additive.
type Known struct {
	Year         int           `json:"year,omitempty"`
	YearBasis    string        `json:"yearBasis,omitempty"` // of Year: manufacture, registration or model
	EngineCC     int           `json:"engine_cc,omitempty"`
	Fuel         string        `json:"fuel,omitempty"`
	ModelCode    string        `json:"modelCode,omitempty"`    // chassis code without its prefix
	RawModelCode string        `json:"rawModelCode,omitempty"` // with its prefix; empty without one
	FOBPriceUSD  *money.Number `json:"fobPriceUSD,omitempty"`
	CFPriceUSD   *money.Number `json:"cfPriceUSD,omitempty"`
	BodyType     string        `json:"bodyType,omitempty"`
	ListedYear   int           `json:"listedYear,omitempty"` // the year of the authority's list to which the caller consents
}

// WarnKnown is the code of the warning about values of the request.
const WarnKnown = "values_from_request"

// yearWarnings are the codes of warnings about the listing's year. They do not
// apply to a year that the caller gave.
var yearWarnings = []string{
	"registration_year", "model_year", "title_year", "year_differs", "other_model_year",
	"manufacture_differs", "registration_differs", "model_year_differs", "manufacture_after_registration", "year_unclear",
}

// settled lists, for each value of the request, the codes of the warnings about the
// listing's own value. They do not apply when the caller gave the value.
func (k *Known) settled() (codes []string) {
	if k.Year != 0 {
		codes = append(codes, yearWarnings...)
	}
	if k.FOBPriceUSD != nil || k.CFPriceUSD != nil {
		codes = append(codes, priceWarnings...)
	}
	if k.ModelCode != "" {
		codes = append(codes, "model_code_differs", "code_and_frame_differ", "code_from_frame")
	}
	if k.EngineCC != 0 {
		codes = append(codes, "engine_differs", "engine_unclear")
	}
	if k.Fuel != "" {
		codes = append(codes, "fuel_differs")
	}
	return codes
}

// priceWarnings are the codes of warnings about the listing's prices.
var priceWarnings = []string{
	"several_prices", "price_unclear", "price_differs", "total_differs", "price_currency_unknown", "retail_price",
}

// Apply overrides values of a car. It returns the names of the values.
func (k *Known) Apply(car *Car) (fields []string) {
	if k == nil {
		return nil
	}
	text := func(name, value string, into *string) {
		if value != "" {
			*into, fields = value, append(fields, name)
		}
	}
	if k.Year != 0 {
		car.Year, car.YearBasis = k.Year, k.YearBasis
		if k.YearBasis == "manufacture" {
			car.TitleYear = 0 // the caller has decided between the two
		}
		fields = append(fields, "year")
	}
	if k.ListedYear != 0 {
		car.ListedYear, fields = k.ListedYear, append(fields, "listedYear")
	}
	if k.EngineCC != 0 {
		car.EngineCC = k.EngineCC
		fields = append(fields, "engine_cc")
	}
	text("fuel", k.Fuel, &car.Fuel)
	text("bodyType", k.BodyType, &car.BodyType)
	if k.ModelCode != "" {
		car.ModelCode, car.RawModelCode, car.FrameNumber = k.ModelCode, k.ModelCode, ""
		if k.RawModelCode != "" {
			car.RawModelCode = k.RawModelCode
		}
		fields = append(fields, "modelCode")
	}
	return append(fields, k.applyPrices(car)...)
}

// applyPrices overrides the prices. A price of the request replaces both of the
// listing, because the two belong together.
func (k *Known) applyPrices(car *Car) (fields []string) {
	if k.FOBPriceUSD == nil && k.CFPriceUSD == nil {
		return nil
	}
	car.FOBPriceUSD, car.CFPriceUSD = k.FOBPriceUSD, k.CFPriceUSD
	if k.FOBPriceUSD != nil {
		fields = append(fields, "fobPriceUSD")
	}
	if k.CFPriceUSD != nil {
		fields = append(fields, "cfPriceUSD")
	}
	return fields
}

// Override applies the values to a car and to the warnings of its listing.
func (k *Known) Override(car *Car, warnings []Warning) []Warning {
	fields := k.Apply(car)
	if len(fields) == 0 {
		return warnings
	}
	for _, field := range fields {
		if !slices.Contains(car.Given, field) {
			car.Given = append(slices.Clone(car.Given), field)
		}
	}
	var kept []Warning
	settled := append(k.settled(), WarnKnown)
	for _, w := range warnings {
		if !slices.Contains(settled, w.Code) {
			kept = append(kept, w)
		}
	}
	if key := map[string]string{"registration": "registration_year.request", "model": "model_year"}[k.YearBasis]; key != "" {
		kept = append(kept, message.New("warning/"+key, message.Values{"year": strconv.Itoa(k.Year)}))
	}
	names := strings.Join(car.Given, ", ")
	return append(kept, message.New("warning/"+WarnKnown, message.Values{"fields": names}))
}
