package claim

import (
	_ "embed"
	"strings"
)

//go:embed labels.csv
var labelTable string

// synonyms maps a normalized label to its field.
var synonyms = func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(labelTable) {
		field, name, ok := strings.Cut(strings.TrimSpace(line), ",")
		if ok && !strings.HasPrefix(line, "#") {
			table[NormalizeLabel(name)] = field
		}
	}
	return table
}()

// firstWords are the words with which known labels begin.
var firstWords = func() map[string]bool {
	begin := map[string]bool{}
	for label := range synonyms {
		word, _, _ := strings.Cut(label, " ")
		begin[word] = true
	}
	for word := range yearWords.whole {
		begin[word] = true
	}
	return begin
}()

// MayBeLabel reports whether a text begins as a known label does; most texts of a page do
// not. A text that begins with an initial or outside ASCII always may, and one that ends
// within its first word.
func MayBeLabel(s string) bool {
	var buffer [maxLabel]byte
	word, whole, ok := firstWord(buffer[:0], s[:min(len(s), maxLabel)])
	return !ok || !whole || len(word) == 1 || firstWords[string(word)] || yearWords.hasStem(string(word))
}

// maxLabel is the maximum length of a label in bytes; longer texts are not labels.
const maxLabel = 80

// FieldOf returns the field that a label means, "" when the label is unknown.
func FieldOf(s string) string {
	if s == "" || len(s) > maxLabel {
		return ""
	}
	if !MayBeLabel(s) {
		return ""
	}
	label := NormalizeLabel(s)
	if field := synonyms[label]; field != "" {
		return field
	}
	return yearField(label)
}
