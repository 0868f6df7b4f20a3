package claim

import (
	"strings"

	"ushuru/pkg/chassis"
)

// Tolerances between two ways to write the same value.
const (
	maxEngineRounding  = 60  // cc: 1,490cc and 1.5L
	maxMileageRounding = 100 // parts of the distance: kilometres and the same in miles
)

// Equal reports whether two texts give the same value of a field, however they are
// written: "USD 5,930" and "$5,930", "2012/05" and "2012", "1,490cc" and "1.5L". A
// name equals a longer form of it. Texts that cannot be parsed are compared by their
// letters and digits.
func Equal(field, a, b string) bool {
	if a == b {
		return true
	}
	if equal, parsed := equalValues(field, a, b); parsed {
		return equal
	}
	one, two := Squash(a), Squash(b)
	switch field {
	case FieldFuel, FieldTransmission:
		return sameWords.Replace(one) == sameWords.Replace(two)
	case FieldMake:
		one, two = Squash(chassis.AuthorityMake(a)), Squash(chassis.AuthorityMake(b))
		return strings.HasPrefix(one, two) || strings.HasPrefix(two, one)
	case FieldModel:
		return strings.HasPrefix(one, two) || strings.HasPrefix(two, one)
	case FieldStock:
		return strings.HasSuffix(one, two) || strings.HasSuffix(two, one)
	}
	return one == two
}

// Differ reports two texts that both give a value of a field, and not the same one.
func Differ(field, a, b string) bool {
	equal, parsed := equalValues(field, a, b)
	return parsed && !equal
}

// equalValues compares the values of two texts; parsed is false when one of them
// cannot be parsed.
func equalValues(field, a, b string) (equal, parsed bool) {
	switch field {
	case FieldPrice, FieldFOB, FieldCF:
		return equalPrices(a, b)
	case FieldManufacture, FieldRegistration, FieldModelYear, FieldTitleYear:
		one, ok1 := ParseDatedYear(a)
		two, ok2 := ParseDatedYear(b)
		return one == two, ok1 && ok2
	case FieldEngine:
		one, ok1 := ParseEngine(a)
		two, ok2 := ParseEngine(b)
		return max(one, two)-min(one, two) <= maxEngineRounding, ok1 && ok2
	case FieldMileage:
		one, ok1 := ParseMileage(a)
		two, ok2 := ParseMileage(b)
		return (max(one, two)-min(one, two))*maxMileageRounding <= max(one, two), ok1 && ok2
	case FieldCode:
		one, ok1 := chassis.Parse(a)
		two, ok2 := chassis.Parse(b)
		return one.Code == two.Code, ok1 && ok2
	}
	return false, false
}

func equalPrices(a, b string) (equal, parsed bool) {
	one, ok1 := ParsePrice(a)
	two, ok2 := ParsePrice(b)
	if !ok1 || !ok2 {
		return false, false
	}
	sameCurrency := one.Currency == two.Currency || one.Currency == "" || two.Currency == ""
	return sameCurrency && one.Amount.Decimal().Equal(two.Amount.Decimal()), true
}

// sameWords are words of listing pages with the same meaning.
var sameWords = strings.NewReplacer("GASOLINE", "PETROL", "AUTOMATIC", "AT", "MANUAL", "MT", "PETROLPETROL", "PETROL")
