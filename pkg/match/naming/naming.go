// Package naming has the words of names: how they are split, what Japanese ones mean, and
// how far two spellings are apart.
package naming

import (
	"strings"
	"unicode"

	"ushuru/pkg/chassis"
)

// Words splits a name at everything that is no letter or digit; each word is its
// own chassis.NameKey.
func Words(text string) []string {
	return strings.FieldsFunc(chassis.Normalise(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// LatinName returns the name of a model with its Japanese words as nameplates write
// them: COROLLA FIELDER for カローラフィールダー. What is not known stays.
func LatinName(name string) string {
	return strings.Join(Latin(strings.Fields(chassis.Normalise(name))), " ")
}

// Digits returns the digits of a text.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}
