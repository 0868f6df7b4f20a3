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

// MaxDistance is the largest distance that is distinguished.
const MaxDistance = 9

// Distance counts the insertions, deletions, substitutions and swaps of
// neighbours between two texts (optimal string alignment), in bytes, up to
// MaxDistance. Texts longer than names and codes are far from everything.
func Distance(a, b string) int {
	var rows [3][64]int
	if len(b) >= len(rows[0]) || len(a)-len(b) >= MaxDistance || len(b)-len(a) >= MaxDistance {
		return MaxDistance
	}
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], MaxDistance)
}
