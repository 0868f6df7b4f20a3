package match

import "ushuru/pkg/chassis"

// CodeYears returns when cars of a code were built, of whatever make: 0 and 0
// when that is not known, 0 for the second alone when they still are.
func CodeYears(code chassis.Code) (from, to int) {
	var all *Fact
	for key, fact := range knownCodes().byCode {
		if key[1] != code.Code {
			continue
		}
		if all != nil {
			fact = common(fact, *all)
		}
		all = &fact
	}
	if all == nil || all.From == 0 {
		return 0, 0
	}
	return all.From, all.To
}
