package listing

import "strings"

// carFields are those that only the page of a vehicle has.
var carFields = map[string]bool{
	fieldCode: true, fieldFrame: true, fieldEngine: true, fieldMileage: true, fieldRegistration: true, fieldManufacture: true,
}

// describesCar reports whether better sources have already seen a car.
func (c *claims) describesCar() bool {
	fields := map[string]bool{}
	for _, claimed := range c.list {
		if carFields[claimed.field] && claimed.rejected == "" {
			fields[claimed.field] = true
		}
	}
	return len(fields) >= 2
}

// contradicts reports whether better sources describe another car than the one
// that was chosen without knowing that it is the page's: by make, when both are
// known ones, or by a frame number that is whole on both sides.
func (c *claims) contradicts(n *node) bool {
	known := func(name string) bool { return makes[squash(name)] != "" }
	whole := func(frame string) bool { return !strings.Contains(frame, "*") }
	return c.denies(fieldMake, makeOf(n), known) || c.denies(fieldFrame, frameOf(n), whole)
}

// denies reports a field that was claimed, and never with this value.
func (c *claims) denies(field, value string, sure func(string) bool) bool {
	denied := false
	for _, claimed := range c.list {
		if claimed.field != field || claimed.rejected != "" || value == "" || !sure(value) || !sure(claimed.value) {
			continue
		}
		one, two := squash(claimed.value), squash(value)
		if strings.Contains(one, two) || strings.Contains(two, one) {
			return false
		}
		denied = true
	}
	return denied
}
