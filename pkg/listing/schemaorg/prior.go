package schemaorg

import (
	"slices"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
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

// minNumber is the length from which a stock number identifies a car.
const minNumber = 5

// isOther reports that a vehicle which does not name the page as its own is another
// car: it links to another listing, or the names of the page or better sources give
// another make, model, frame number or stock number.
func (car *carEntry) isOther(doc *page.Document, c *claim.List) bool {
	if car.place(doc) == thisPage {
		return false
	}
	n := car.copies[0]
	if slices.ContainsFunc(linksOf(n), doc.IsOtherListing) {
		return true
	}
	maker := makeOf(n)
	if maker == "" {
		maker, _ = page.FindMake(strings.Fields(n.Word("name")))
	}
	if _, otherMake := doc.NamesCar(c, maker, modelOf(n, maker)); otherMake {
		return true
	}
	known := func(name string) bool { _, ok := page.KnownMake(name); return ok }
	whole := func(frame string) bool { return !strings.Contains(frame, "*") }
	numbered := func(stock string) bool { return len(stock) >= minNumber && strings.ContainsAny(stock, "0123456789") }
	named := func(model string) bool { return len(claim.Squash(model)) > 1 }
	return denies(c, claim.FieldMake, maker, known) || denies(c, claim.FieldFrame, frameOf(n), whole) ||
		denies(c, claim.FieldModel, modelOf(n, maker), named) || denies(c, claim.FieldStock, n.Word("sku", "productID"), numbered)
}

// usualMake returns the usual spelling of a make; any other value as it is.
func usualMake(field, value string) string {
	if known, ok := page.KnownMake(value); ok && field == claim.FieldMake {
		return known
	}
	return value
}

// reject records what a vehicle that is not the page's own says.
func (car *carEntry) reject(c *claim.List) {
	said := &claim.List{Source: car.copies[0].Syntax, Rank: claim.RankSchema}
	claimNode(car.copies[0], said)
	claimOffers(car, said)
	for _, claimed := range said.All {
		c.Source = claimed.Source
		c.Reject(claimed.Field, claimed.Value, reasonOtherCar)
	}
}

// reasonOtherCar is the reason why a value of another vehicle is not taken.
const reasonOtherCar = "other_car"

// denies reports a field that was claimed, and never with this value.
func denies(c *claim.List, field, value string, sure func(string) bool) bool {
	denied := false
	for _, claimed := range c.All {
		if claimed.Field != field || claimed.Rejected != "" || value == "" || !sure(value) || !sure(claimed.Value) {
			continue
		}
		one, two := claim.Squash(usualMake(field, claimed.Value)), claim.Squash(usualMake(field, value))
		if strings.Contains(one, two) || strings.Contains(two, one) {
			return false
		}
		denied = true
	}
	return denied
}
