package vehicle

import "ushuru/pkg/money"

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
