package catalogue

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
	fields := strings.Fields(query)
	words := make([]searched, len(fields))
	for i, word := range fields {
		words[i] = searchedOf(chassis.Normalise(word))
	}
	type hit struct {
		label Label
		far   int
	}
	var hits []hit
	for _, label := range e.Labels {
		if far, fits := label.holds(words); fits {
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

// searched is a word of a query: its letters and digits, and the chassis code that it is.
type searched struct{ key, code string }

func searchedOf(word string) searched {
	key := chassis.NameKey(word)
	if parsed, ok := chassis.Parse(word); ok {
		return searched{key, parsed.Code}
	}
	return searched{key, key}
}

// holds reports how far some words are from what the label says, if it has them all.
func (l Label) holds(words []searched) (far int, found bool) {
	for _, word := range words {
		distance, found := l.holdsWord(word)
		if !found {
			return 0, false
		}
		far += distance
	}
	return far, true
}

// holdsWord reports how far a word is from what the label says, if it has it.
func (l Label) holdsWord(word searched) (distance int, found bool) {
	key, code := word.key, word.code
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
