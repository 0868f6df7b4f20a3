// Package naming has the words of names: how they are split, what Japanese ones mean, and
// how far two spellings are apart.
package naming

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
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

//go:embed names.csv
var namesTable string

// writtenNames maps a word as titles write it to the words of nameplates.
var writtenNames, longestWritten = loadNames(namesTable)

func loadNames(table string) (names map[string][]string, longest int) {
	names = map[string][]string{}
	for _, row := range datatable.Lines(table, 2) {
		names[row[0]] = strings.Fields(row[1])
		longest = max(longest, len(row[0]))
	}
	return names, longest
}

// Latin puts Japanese words of a name into the words of nameplates. A word
// may hold several: カローラフィールダー. What is not in the table stays.
func Latin(words []string) []string {
	for i, word := range words {
		if _, listed := writtenNames[word]; !listed && isLatinOnly(word) {
			continue
		}
		put := append([]string{}, words[:i]...)
		for _, word := range words[i:] {
			put = append(put, latinWord(word)...)
		}
		return put
	}
	return words
}

func isLatinOnly(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxLatin1 }) < 0
}

// latinWord cuts a word into names of the table, the longest first.
func latinWord(word string) []string {
	if meant, ok := writtenNames[word]; ok {
		return meant
	}
	if isLatinOnly(word) {
		return []string{word}
	}
	var put []string
	rest := 0 // where the text not understood yet begins
	for at := 0; at < len(word); {
		meant, size := longestName(word[at:])
		if size == 0 {
			_, size = utf8.DecodeRuneInString(word[at:])
			at += size
			continue
		}
		if rest < at {
			put = append(put, word[rest:at])
		}
		put = append(put, meant...)
		at += size
		rest = at
	}
	if rest < len(word) {
		put = append(put, word[rest:])
	}
	return put
}

// longestName finds the longest name of the table that a text begins with.
// A Japanese name of one or two characters begins too many other words.
func longestName(text string) (meant []string, size int) {
	for size = min(len(text), longestWritten); size >= 3*utf8.RuneLen('ノ'); size-- {
		if meant, ok := writtenNames[text[:size]]; ok {
			return meant, size
		}
	}
	return nil, 0
}
