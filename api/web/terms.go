package web

import (
	"net/url"
	"strings"

	"ushuru/api/web/frame"
)

// Pricing puts an estimate, as the API has answered it, on the terms of an address. Described says
// that the visitor described the car.
type Pricing func(result []byte, described bool) ([]byte, error)

// The names of the terms in an address. They are signed, so that an address shows what was
// entered in a form here, and nothing else.
const (
	termTarget    = "target" // what the buyer can pay, in shillings
	termPrice     = "price"  // of the car in dollars, as the visitor gave it
	termBasis     = "basis"  // cf when that price has the freight in it
	termFreight   = "freight"
	termInsurance = "insurance" // marine
	termAgent     = "agent"     // the fee of the clearing agent, in shillings
	termRate      = "rate"      // shillings for a dollar
	termLanding   = "landing"   // day
	termWith      = "with"      // what the car is to be compared with, as entered: mostly the address of its answer
	termSignature = "sig"

	termYear = "year" // of manufacture: no term, the authority is asked for it
)

// termSums are the terms that are sums, and their currencies.
var termSums = map[string]string{
	termTarget: "TZS", termPrice: "USD", termFreight: "USD", termInsurance: "USD", termAgent: "TZS", termRate: "TZS",
}

// termsIn returns the terms among the fields of a form or of an address. What is no sum stays as
// it was entered, and is refused by who reads the terms.
func termsIn(fields url.Values) url.Values {
	terms := url.Values{}
	for name, currency := range termSums {
		typed := strings.TrimSpace(fields.Get(name))
		if number, ok := frame.Sum(typed, currency); ok {
			typed = number
		}
		if typed != "" {
			terms.Set(name, typed)
		}
	}
	if day := strings.TrimSpace(fields.Get(termLanding)); day != "" {
		terms.Set(termLanding, day)
	}
	if other := strings.TrimSpace(fields.Get(termWith)); other != "" && len(other) <= maxText {
		terms.Set(termWith, other)
	}
	if terms.Has(termPrice) && fields.Get(termBasis) == "cf" {
		terms.Set(termBasis, "cf")
	}
	return terms
}

// readSum puts the number of a sum in place of how a visitor has typed it; false for what is no sum
// in its currency.
func readSum(form url.Values, name string) bool {
	typed := strings.TrimSpace(form.Get(name))
	if typed == "" {
		return true
	}
	number, ok := frame.Sum(typed, termSums[name])
	if ok {
		form.Set(name, number)
	}
	return ok
}
