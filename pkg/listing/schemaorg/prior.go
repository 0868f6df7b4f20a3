package schemaorg

import (
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
)

// carFields are those that only the page of a vehicle has.
var carFields = map[string]bool{
	claim.FieldCode: true, claim.FieldFrame: true, claim.FieldEngine: true,
	claim.FieldMileage: true, claim.FieldRegistration: true, claim.FieldManufacture: true,
}

// describesCar reports whether better sources have already seen a car.
func describesCar(c *claim.List) bool {
	fields := map[string]bool{}
	for _, claimed := range c.All {
		if carFields[claimed.Field] && claimed.Rejected == "" {
			fields[claimed.Field] = true
		}
	}
	return len(fields) >= 2
}

// deniesCar reports whether better sources describe another car than the one
// that was chosen without knowing that it is the page's: by make, when both are
// known ones, or by a frame number that is whole on both sides.
func deniesCar(c *claim.List, n *graph.Node) bool {
	known := func(name string) bool { _, ok := page.KnownMake(name); return ok }
	whole := func(frame string) bool { return !strings.Contains(frame, "*") }
	return denies(c, claim.FieldMake, makeOf(n), known) || denies(c, claim.FieldFrame, frameOf(n), whole)
}

// denies reports a field that was claimed, and never with this value.
func denies(c *claim.List, field, value string, sure func(string) bool) bool {
	denied := false
	for _, claimed := range c.All {
		if claimed.Field != field || claimed.Rejected != "" || value == "" || !sure(value) || !sure(claimed.Value) {
			continue
		}
		one, two := claim.Squash(claimed.Value), claim.Squash(value)
		if strings.Contains(one, two) || strings.Contains(two, one) {
			return false
		}
		denied = true
	}
	return denied
}
