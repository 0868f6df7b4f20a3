// Package vehicle is the resource model of the HTTP API: the car of a listing,
// its entry in the authority's database, and the tax. Field names, types and null
// rules are the contract with callers (docs/estimate.md); fields marked additive
// are Ushuru's own and appear only when they are not empty.
package vehicle

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// Car is the car of a listing. An empty string or a zero means that the listing
// does not give the value; only the fields that the contract makes nullable are
// pointers.
type Car struct {
	Make               string        `json:"make"`         // upper case
	Model              string        `json:"model"`        // upper case
	ModelCode          string        `json:"modelCode"`    // chassis code, emission prefix stripped: NKE165
	RawModelCode       string        `json:"rawModelCode"` // chassis code as listed: DAA-NKE165
	Version            string        `json:"version"`      // trim or grade
	Year               int           `json:"year"`
	EngineCC           int           `json:"engine_cc"`
	Fuel               string        `json:"fuel"` // the listing's own word, upper case
	FOBPriceUSD        *money.Number `json:"fobPriceUSD"`
	CFPriceUSD         *money.Number `json:"cfPriceUSD"` // cost and freight to Dar es Salaam
	Images             []string      `json:"images"`     // never null
	ConditionReportURL *string       `json:"conditionReportUrl"`

	// Additive.
	YearBasis    string        `json:"yearBasis,omitempty"`    // manufacture, registration, model or title: which date Year is
	TitleYear    int           `json:"titleYear,omitempty"`    // year of the title, when it is two or more years away from Year
	Registration string        `json:"registration,omitempty"` // as listed: 2019/3
	Manufacture  string        `json:"manufacture,omitempty"`  // as listed
	FrameNumber  string        `json:"frameNumber,omitempty"`  // as listed, perhaps masked: NKE165-7161960
	BodyType     string        `json:"bodyType,omitempty"`
	Colour       string        `json:"colour,omitempty"` // of the outside, as listed
	MileageKM    *int          `json:"mileage_km,omitempty"`
	Transmission string        `json:"transmission,omitempty"`
	Steering     string        `json:"steering,omitempty"`
	StockNo      string        `json:"stockNo,omitempty"`
	Location     string        `json:"location,omitempty"`
	ListedYear   int           `json:"listedYear,omitempty"`  // of the authority's list, to which the caller consents
	LocatedIn    string        `json:"locatedIn,omitempty"`   // country where the car is, when the listing names one
	M3           *money.Number `json:"m3,omitempty"`          // shipping volume in cubic metres
	Currency     string        `json:"currency,omitempty"`    // of the asking price, ISO 4217
	AskingPrice  *money.Number `json:"askingPrice,omitempty"` // as listed, in Currency
	Auction      *Auction      `json:"auction,omitempty"`     // of a lot; its prices are not asking prices
	Condition    []Statement   `json:"condition,omitempty"`   // what the listing itself says of faults
	ReadAt       string        `json:"readAt,omitempty"`      // when the page of the car was fetched: 2026-11-21T17:04:05+03:00
	Given        []string      `json:"given,omitempty"`       // fields whose value the caller gave in place of the listing's

	// Source says who gave the values. It words the messages about the car and
	// is not part of the JSON, so it must be set again after decoding.
	Source Source `json:"-"`
}

// Statement is what a listing says of the condition of a car.
type Statement struct {
	Category string `json:"category"` // accident, flood and others, see package condition
	Level    string `json:"level"`    // disqualify, grave, doubt or caution
	Quote    string `json:"quote"`    // the words of the listing
}

// Source says who gave the values of a car. The zero value is a listing.
type Source int

// The sources of a car.
const (
	FromListing Source = iota
	FromRequest
)

// Key returns the key of the word for the source, for a placeholder {source:word}.
func (s Source) Key() string {
	if s == FromRequest {
		return "request"
	}
	return "listing"
}

// SourceOf returns who gave a value of the car: any of some fields.
func (c *Car) SourceOf(fields ...string) Source {
	if slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(c.Given, field) }) {
		return FromRequest
	}
	return c.Source
}

// PriceSource returns who gave the price of the car.
func (c *Car) PriceSource() Source { return c.SourceOf("fobPriceUSD", "cfPriceUSD") }

// Auction is what a page says of a car's auction in Japan. An empty string or
// a zero means that the page does not say.
type Auction struct {
	House         string `json:"house,omitempty"`         // as listed: TAA Chubu
	Date          string `json:"date,omitempty"`          // 2026-07-02
	LotNo         string `json:"lotNo,omitempty"`         // as listed
	Score         string `json:"score,omitempty"`         // the inspector's grade: 4.5, RA
	StartPriceJPY int    `json:"startPriceJPY,omitempty"` // where bidding begins
	EndPriceJPY   int    `json:"endPriceJPY,omitempty"`   // where it ended
}

// MinPlausibleUSD is the price below which hardly any car is sold: a smaller one is rather
// in another currency or in thousands.
const MinPlausibleUSD = 200

// MatchType says how a car was found in the authority's database.
type MatchType string

// The match types of the contract.
const (
	ExactCode MatchType = "exact_code" // the chassis code named one entry
	LLMFuzzy  MatchType = "llm_fuzzy"  // no code decided; MatchedBy says who did
)

// MatchedBy says who chose the entry. Additive.
type MatchedBy string

// Who can choose an entry.
const (
	ByCode   MatchedBy = "code"   // the chassis code
	ByAI     MatchedBy = "ai"     // an AI, among candidates
	ByName   MatchedBy = "name"   // name, engine size, fuel and year, which one entry alone fits
	ByCaller MatchedBy = "caller" // the request, with modelBody
)

// Confidence grades a match by the three rules of docs/estimate.md.
type Confidence string

// The grades.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Matched is a car resolved against the authority's database.
type Matched struct {
	Make         string       `json:"make"`      // as the authority spells it
	MakeID       int          `json:"makeId"`    // the authority's, valid for this calculation only
	ModelBody    string       `json:"modelBody"` // the authority's label, byte for byte
	MatchType    MatchType    `json:"matchType"`
	MatchReason  string       `json:"matchReason"`
	Confidence   Confidence   `json:"confidence"`
	Adjustments  []Adjustment `json:"adjustments"` // never null
	YOM          int          `json:"yom"`
	Country      string       `json:"country"`
	FuelType     string       `json:"fuelType"`
	CapacityBand string       `json:"capacityBand"` // "1001 - 1500 CC"

	// Additive.
	MatchedBy  MatchedBy      `json:"matchedBy,omitempty"`
	Candidates []Candidate    `json:"candidates,omitempty"` // with confidence low: what else the car may be, the likeliest first
	ReasonCode string         `json:"reasonCode,omitempty"` // of MatchReason
	Text       *Text          `json:"text,omitempty"`       // MatchReason in both languages
	Values     message.Values `json:"values,omitempty"`     // the values in MatchReason, by name
}

// Adjustment is one field whose resolved value differs from the listing's.
type Adjustment struct {
	Field  string `json:"field"`
	From   any    `json:"from"`
	To     any    `json:"to"`
	Reason string `json:"reason"`
	// Additive.
	Code   string         `json:"code,omitempty"`
	Text   *Text          `json:"text,omitempty"`   // Reason in both languages
	Values message.Values `json:"values,omitempty"` // the values in Reason, by name
}

// Adjusted returns an adjustment with the reason of a key of the table of texts.
func Adjusted(field string, from, to any, key string, values message.Values) Adjustment {
	said := message.New("adjustment/"+key, values)
	return Adjustment{
		Field: field, From: from, To: to, Reason: said.Message, Code: said.Code, Text: said.Text, Values: values,
	}
}

// Tax is the authority's answer, verbatim. Names (exise, custom) are its own.
// Amounts ending in USD or TZS are in that currency; HIVRespLevy is in TZS;
// the unit of IndDevLevy is not known (it has only been seen as 0.00).
type Tax struct {
	ReferenceNumber             string       `json:"referenceNumber"`
	Make                        string       `json:"make"`
	Model                       string       `json:"model"`
	BodyType                    string       `json:"bodyType"`
	ModelBody                   string       `json:"modelBody"`
	YOM                         int          `json:"yom"`
	Country                     string       `json:"country"`
	FuelType                    string       `json:"fuelType"`
	EngineCapacity              string       `json:"engineCapacity"`
	CIFInUSD                    money.Amount `json:"cifInUSD"`
	ImportDutyInUSD             money.Amount `json:"importDutyInUSD"`
	ExiseDutyInUSD              money.Amount `json:"exiseDutyInUSD"`
	ExiseDutyDueToAgeInUSD      money.Amount `json:"exiseDutyDueToAgeInUSD"`
	VATInUSD                    money.Amount `json:"vatInUSD"`
	CustomProcessingFeeInUSD    money.Amount `json:"customProcessingFeeInUSD"`
	RailwayDevLevyInUSD         money.Amount `json:"railwayDevLevyInUSD"`
	IndDevLevy                  money.Amount `json:"indDevLevy"`
	HIVRespLevy                 money.Amount `json:"hivRespLevy"`
	TotalImportTaxesInUSD       money.Amount `json:"totalImportTaxesInUSD"`
	TotalImportTaxesInTZS       money.Amount `json:"totalImportTaxesInTZS"`
	VehicleRegistrationFeeInTZS money.Amount `json:"vehicleRegistrationFeeInTZS"`
	TotalTaxesInTZS             money.Amount `json:"totalTaxesInTZS"`
	Quarter                     int          `json:"quarter"`
	Year                        int          `json:"year"`
}

// Input is the caller's request.
type Input struct {
	URL string `json:"url"`
}

// Warning is a doubt about the figures. Additive.
type Warning = message.Notice

// Estimate is the answer of POST /v1/estimate.
type Estimate struct {
	Summary *Summary `json:"summary,omitempty"` // additive; at the top, because it is what people read

	Input   Input   `json:"input"`
	Car     Car     `json:"car"`
	Matched Matched `json:"matched"`
	Tax     Tax     `json:"tax"`
	Cached  bool    `json:"cached"`
	// Additive.
	Object     string     `json:"object,omitempty"`     // ObjectEstimate, or of a Quote ObjectQuote
	AsOf       string     `json:"asOf,omitempty"`       // when the authority gave its figures: 2026-11-21T17:04:05+03:00
	ValidUntil string     `json:"validUntil,omitempty"` // until when this answer is kept, in the same form
	Stale      bool       `json:"stale,omitempty"`      // the figures of AsOf have expired: the authority could not be asked
	DriveAway  *DriveAway `json:"driveAway,omitempty"`
	MaxPrice   *MaxPrice  `json:"maxPriceUSD,omitempty"` // when the request has a target
	Doubts     []Doubt    `json:"doubts,omitempty"`      // what is grave or not certain about the car, the gravest first
	Warnings   []Warning  `json:"warnings,omitempty"`    // about the figures
}

// The values of the member "object" of an answer, by which programs tell the kinds of answers
// apart.
const (
	ObjectEstimate   = "estimate"
	ObjectQuote      = "quote"
	ObjectComparison = "comparison"
	ObjectReport     = "condition_report"
)

// Comparison is the answer of POST /v1/compare.
type Comparison struct {
	Car1           Estimate `json:"car1"`
	Car2           Estimate `json:"car2"`
	CondReport1    *string  `json:"condReport1"`
	CondReport2    *string  `json:"condReport2"`
	Recommendation string   `json:"recommendation"` // Markdown
	Cached         bool     `json:"cached"`

	// Additive.
	Object   string        `json:"object,omitempty"` // ObjectComparison
	Rate     *money.Number `json:"rate,omitempty"`   // TZS for a dollar, as used for what is not tax
	Lang     string        `json:"lang,omitempty"`   // of the texts: en or sw
	Verdict  *Verdict      `json:"verdict,omitempty"`
	Warnings []Warning     `json:"warnings,omitempty"`
}

// ConditionReport is the answer of POST /v1/condition-report.
type ConditionReport struct {
	Summary string `json:"summary"`
	Cached  bool   `json:"cached"`

	// Additive.
	Object   string          `json:"object,omitempty"` // ObjectReport
	ID       string          `json:"id,omitempty"`     // names the sheet: GET /v1/condition-report/{id}/map.svg
	Lang     string          `json:"lang,omitempty"`   // of the summary
	Report   json.RawMessage `json:"report,omitempty"` // what was read, in the schema of package sheet
	Warnings []Warning       `json:"warnings,omitempty"`

	// Listing is the URL of the listing that the sheet was held against, empty
	// when none is known, and Mismatches is in what they differ.
	Listing    string     `json:"listing,omitempty"`
	Mismatches []Mismatch `json:"mismatches,omitempty"`
}

// Mismatch is a value that differs between an inspection sheet and the listing
// that it belongs to.
type Mismatch struct {
	Field   string `json:"field"` // chassis_code, year, cc, mileage_km or colour
	Sheet   string `json:"sheet"`
	Listing string `json:"listing"`

	YearBasis string `json:"yearBasis,omitempty"` // of the listing's year: manufacture, registration, model or title
}

// Candidate is an entry of the authority's database that a car may be, in an
// error that no entry can be chosen.
type Candidate struct {
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`

	// Additive. Empty or 0 means not known.
	EngineCC int      `json:"engine_cc,omitempty"`
	Fuel     string   `json:"fuel,omitempty"` // petrol, diesel, petrol hybrid, diesel hybrid or electric
	YearFrom int      `json:"yearFrom,omitempty"`
	YearTo   int      `json:"yearTo,omitempty"` // 0 beside a YearFrom means still made
	BodyType string   `json:"bodyType,omitempty"`
	Nearness Nearness `json:"nearness,omitempty"`
	Why      string   `json:"why,omitempty"`  // what agrees with the car and what does not
	Text     *Text    `json:"text,omitempty"` // Why in both languages
	// TotalTaxesInTZS is the authority's total for the car as this entry; nil when
	// its answer is not known.
	TotalTaxesInTZS *money.Amount `json:"totalTaxesInTZS,omitempty"`
}

// Nearness is how near a candidate is to the car.
type Nearness string

// The words for nearness.
const (
	NearExact  Nearness = "exact"  // the car's chassis code
	NearCode   Nearness = "near"   // a code that differs by a letter or a digit, or the other drive of the model
	NearFamily Nearness = "family" // the same or a similar model
)

// ListedCar is one of the cars of a page that lists several, as the page shows it.
type ListedCar struct {
	Name  string `json:"name"`
	Year  int    `json:"year,omitempty"`
	Price string `json:"price,omitempty"` // as it is written
	URL   string `json:"url"`
}

// Shown returns the name, the year that the name lacks, and the price: "Toyota Vitz, 2014, US$ 2,350".
func (c ListedCar) Shown() string {
	shown := c.Name
	if year := strconv.Itoa(c.Year); c.Year > 0 && !strings.Contains(c.Name, year) {
		shown += ", " + year
	}
	if c.Price != "" {
		shown += ", " + c.Price
	}
	return shown
}

// Error is the body of every error. Its code is additive: a stable word for
// programs, where Message is for people.
type Error struct {
	Message string `json:"error"`
	Code    string `json:"code,omitempty"`

	Text   *Text          `json:"text,omitempty"`   // Message in both languages
	Values message.Values `json:"values,omitempty"` // the values in Message, by name

	Candidates []Candidate `json:"candidates,omitempty"` // with no_match and ambiguous_match
	Car        *Car        `json:"car,omitempty"`        // as far as it was read
	Cars       []ListedCar `json:"cars,omitempty"`       // with several_cars: those that the page lists
	RetryAfter int         `json:"retryAfter,omitempty"` // with host_busy: seconds for which the site pauses
	WaitingFor string      `json:"waitingFor,omitempty"` // what the job waits for, with not_finished and host_busy
	Retryable  *bool       `json:"retryable,omitempty"`  // the same request can succeed later
	Param      string      `json:"param,omitempty"`      // field of the request that is to blame
	Request    string      `json:"request,omitempty"`    // id of the request that was answered
	Job        string      `json:"job,omitempty"`        // id of the job that continues, with not_finished and host_busy
}
