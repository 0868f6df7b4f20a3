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
}

// Car returns the car that the caller describes.
func (q QuoteInput) Car() Car {
	return Car{
		Make: q.Make, Model: q.Model, ModelCode: q.ModelCode, RawModelCode: q.RawModelCode, Version: q.Version,
		Year: q.Year, YearBasis: "manufacture", EngineCC: q.EngineCC, Fuel: q.Fuel, BodyType: q.BodyType,
		FOBPriceUSD: q.FOBPriceUSD, CFPriceUSD: q.CFPriceUSD, M3: q.M3, Images: []string{}, Source: FromRequest,
	}
}
