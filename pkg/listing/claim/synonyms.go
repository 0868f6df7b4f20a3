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

// maxLabel is the maximum length of a label in bytes; longer texts are not labels.
const maxLabel = 80

// FieldOf returns the field that a label means, "" when the label is unknown.
func FieldOf(s string) string {
	if s == "" || len(s) > maxLabel {
		return ""
	}
	label := NormalizeLabel(s)
	if field := synonyms[label]; field != "" {
		return field
	}
	return yearField(label)
}
