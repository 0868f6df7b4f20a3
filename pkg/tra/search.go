package tra

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
)

// Search lists the labels that hold every word of a query, best first: a word
// that is the label's chassis code, then one that begins it, then one that is
// a word of the model, then one that stands anywhere. Case, width and
// punctuation do not count; a code may have its emission prefix. An empty
// query lists all, in alphabetical order.
func (e *Entries) Search(query string) []Label {
	words := strings.Fields(query)
	type hit struct {
		label Label
		far   int
	}
	var hits []hit
	for _, label := range e.Labels {
		far, fits := 0, true
		for _, word := range words {
			distance, found := label.holds(chassis.Normalise(word))
			far, fits = far+distance, fits && found
		}
		if fits {
			hits = append(hits, hit{label, far})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.far, b.far) })
	labels := make([]Label, 0, len(hits))
	for _, h := range hits {
		labels = append(labels, h.label)
	}
	return labels
}

// holds reports how far a normalised word is from what the label says.
func (l Label) holds(word string) (distance int, found bool) {
	key := chassis.NameKey(word)
	code := key
	if parsed, ok := chassis.Parse(word); ok {
		code = parsed.Code
	}
	switch {
	case key == "": // punctuation asks for nothing
		return 0, true
	case slices.Contains(l.Codes, code):
		return 0, true
	case slices.ContainsFunc(l.Codes, func(c string) bool { return strings.HasPrefix(c, code) }):
		return 1, true
	case slices.ContainsFunc(strings.Fields(l.Model), func(w string) bool { return chassis.NameKey(w) == key }):
		return 2, true
	}
	return 3, strings.Contains(chassis.NameKey(l.Text), key)
}
