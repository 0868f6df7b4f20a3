// Package refusal knows the errors of jobs that the same request would meet again: the listing is gone, or the authority does not list the car. The caller must send
// another request.
package refusal

import "slices"

// definite are their codes.
var definite = []string{
	// Of a page or a sheet:
	"fetch_too_large", "listing_gone", "listing_sold", "not_a_listing", "page_unreadable", "robots_forbidden", "several_cars", "sheet_not_found",
	// Of the car: the authority does not list it, several of its entries fit, or what the
	// caller or the listing says of it contradicts itself.
	"ambiguous_match", "fuel_conflict", "listing_incomplete", "no_capacity_band", "no_match", "not_listed", "year_not_listed",
}

// IsDefinite reports whether the same request meets an error with this code again.
func IsDefinite(code string) bool { return slices.Contains(definite, code) }

// Codes returns the codes of all such errors.
func Codes() []string { return slices.Clone(definite) }
