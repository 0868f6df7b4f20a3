package message

import "slices"

// definite are the codes of errors with which a job can end that the same request meets again:
// the listing is gone, or the authority does not list the car. The caller must send another
// request.
var definite = []string{
	// Of a page or a sheet:
	"fetch_too_large", "listing_gone", "listing_sold", "not_a_listing", "page_unreadable", "robots_forbidden",
	"several_cars", "sheet_not_found",
	// Of the car: the authority does not list it, several of its entries fit, or what the
	// caller or the listing says of it contradicts itself.
	"ambiguous_match", "fuel_conflict", "listing_incomplete", "no_capacity_band", "no_match", "not_listed", "year_not_listed",
}

// IsDefinite reports whether the same request meets an error with this code again.
func IsDefinite(code string) bool { return slices.Contains(definite, code) }

// DefiniteCodes returns the codes of all such errors.
func DefiniteCodes() []string { return slices.Clone(definite) }
