package naming

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"ushuru/pkg/datatable"
)

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
