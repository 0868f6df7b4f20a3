package vehicle

import (
	"regexp"
	"strconv"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// ModelYears is the answer of GET /v1/vehicles/{modelBody}/years: what one model
// is taxed by year of manufacture. Additive.
type ModelYears struct {
	Make      string      `json:"make"`
	ModelBody string      `json:"modelBody"`
	Listed    bool        `json:"yearsListed"` // false when the authority's list of the years is not known
	Years     []YearTaxes `json:"years"`       // never null; the latest first
	Unknown   int         `json:"unknown"`     // years whose answer can be requested
	Pending   int         `json:"pending"`     // jobs that request answers now

	WaitingFor string        `json:"waitingFor,omitempty"` // authority, while it cannot be asked
	Message    string        `json:"message,omitempty"`    // why, as a sentence
	Text       *message.Text `json:"text,omitempty"`       // Message in both languages
}

// YearTaxes are the taxes of a model of one year, as the authority calculated them.
// What is not known is absent.
type YearTaxes struct {
	YOM      int  `json:"yom"`
	Known    bool `json:"known"`
	Cheapest bool `json:"cheapest,omitempty"` // no known year of the answer has lower taxes on landing

	Country      string `json:"country,omitempty"`
	FuelType     string `json:"fuelType,omitempty"`
	CapacityBand string `json:"capacityBand,omitempty"`

	TotalTaxesInTZS *money.Amount `json:"totalTaxesInTZS,omitempty"`
	// TotalTaxesInUSD is that total at the exchange rate of the authority's answer.
	TotalTaxesInUSD *money.Amount `json:"totalTaxesInUSD,omitempty"`
	// ExciseDueToAgePercent is of the value with import duty.
	ExciseDueToAgePercent *money.Number `json:"exciseDueToAgePercent,omitempty"`

	// OnLanding are the taxes on the likely landing day, which another year of age changes.
	OnLanding *LandingTaxes `json:"onLanding,omitempty"`

	AsOf     string          `json:"asOf,omitempty"`     // when the authority gave the figures
	Warnings []Warning       `json:"warnings,omitempty"` // doubts about the figures
	Problem  *message.Notice `json:"problem,omitempty"`  // why no answer can be requested
}

// LandingTaxes are the taxes of a car that lands on a day, computed from the authority's
// answer at its own value; those of the answer itself are of the day that it was given.
type LandingTaxes struct {
	Landing               string        `json:"landing"` // the likely day, as 2006-01-02
	TotalTaxesInTZS       money.Amount  `json:"totalTaxesInTZS"`
	TotalTaxesInUSD       money.Amount  `json:"totalTaxesInUSD"` // at the exchange rate of the answer
	ExciseDueToAgePercent *money.Number `json:"exciseDueToAgePercent,omitempty"`
}

var numberInBand = regexp.MustCompile(`\d{1,6}`)

// BandNumbers returns the numbers of an engine capacity band in cc as the authority writes it,
// at most three: two of "1001 - 1500 CC", one of "ABOVE 2500 CC".
func BandNumbers(band string) (numbers []int) {
	for _, digits := range numberInBand.FindAllString(strings.ReplaceAll(band, ",", ""), 3) {
		n, _ := strconv.Atoi(digits) // six at most
		numbers = append(numbers, n)
	}
	return numbers
}
