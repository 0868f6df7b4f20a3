package dom

import (
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
)

// struckClasses are words in class names of prices that no longer hold.
var struckClasses = map[string]bool{
	"old": true, "was": true, "original": true, "strike": true, "strikethrough": true, "striked": true, "struck": true,
	"crossed": true, "previous": true, "linethrough": true, "before": true,
}

// struckParts are the beginnings of the words of struckClasses; few class names have one.
var struckParts = claim.NewWords("old", "was", "original", "stri", "struck", "crossed", "previous", "line", "before")

// isStruckTag reports an element that strikes out.
func isStruckTag(tag atom.Atom) bool { return tag == atom.S || tag == atom.Del || tag == atom.Strike }

// isStruckClass reports a class such as "old-price", "price--was" or "line-through".
func isStruckClass(classes string) bool {
	if !struckParts.In(classes) {
		return false
	}
	lower := strings.ToLower(classes)
	if strings.Contains(lower, "line-through") {
		return true
	}
	for class := range strings.FieldsSeq(lower) {
		words := strings.FieldsFunc(class, func(r rune) bool { return r == '-' || r == '_' })
		for _, word := range words {
			certain := len(words) == 1 || strings.Contains(class, "price") || strings.HasPrefix(word, "strike")
			if certain && struckClasses[word] {
				return true
			}
		}
	}
	return strings.Contains(lower, "oldprice") || strings.Contains(lower, "priceold") || strings.Contains(lower, "wasprice")
}
