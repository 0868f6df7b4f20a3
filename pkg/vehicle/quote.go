package vehicle

import (
	"slices"
	"strings"

	"ushuru/pkg/money"
)

// Quote is the answer of POST /v1/quote: an Estimate of a car that the caller
// describes. Additive.
type Quote struct {
	Input    QuoteInput `json:"input"` // in place of the Estimate's
	Estimate            //nolint:embeddedstructfieldcheck // fields stand in the order of the answer
}

// QuoteInput is a car as a caller describes it. What is left out is not known.
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

// Car is the car as a listing would have it.
func (q QuoteInput) Car() Car {
	return Car{
		Make: q.Make, Model: q.Model, ModelCode: q.ModelCode, RawModelCode: q.RawModelCode, Version: q.Version,
		Year: q.Year, YearBasis: "manufacture", EngineCC: q.EngineCC, Fuel: q.Fuel, BodyType: q.BodyType,
		FOBPriceUSD: q.FOBPriceUSD, CFPriceUSD: q.CFPriceUSD, M3: q.M3, Images: []string{},
	}
}

// wordings are what is said of a listing, and the same of a description.
var wordings = strings.NewReplacer(
	"the listing", "the request", "The listing", "The request", "tangazo", "ombi", "Tangazo", "Ombi",
)

// OfRequest puts what was said of a listing in words for a description.
func OfRequest(text string) string { return wordings.Replace(text) }

// Described is OfRequest for warnings.
func Described(warnings []Warning) []Warning {
	worded := make([]Warning, 0, len(warnings))
	for _, w := range warnings {
		worded = append(worded, Warning{Code: w.Code, Message: OfRequest(w.Message)})
	}
	return worded
}

// Described is OfRequest for all that a drive-away cost says.
func (d DriveAway) Described() DriveAway {
	d.Lines, d.Missing = slices.Clone(d.Lines), slices.Clone(d.Missing)
	for i := range d.Lines {
		d.Lines[i].Basis, d.Lines[i].Source = OfRequest(d.Lines[i].Basis), OfRequest(d.Lines[i].Source)
	}
	for i := range d.Missing {
		d.Missing[i].Reason = OfRequest(d.Missing[i].Reason)
	}
	why := &d.TaxBase.Explanation
	why.EN, why.SW = OfRequest(why.EN), OfRequest(why.SW)
	return d
}
