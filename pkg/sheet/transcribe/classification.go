package transcribe

import (
	"slices"
	"strings"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
)

// minAnchors is how many different labels the model must quote.
const minAnchors = 2

// IsSheet reports whether the image shows an auction sheet: by the model's word,
// and by enough labels that only such forms print.
func (c *Classification) IsSheet() bool {
	return c.IsAuctionSheet && c.Kind == kindSheet && countAnchors(c.Anchors) >= minAnchors
}

// Legibility returns how much of the sheet can be read: nothing of a blank form
// and of a fake.
func (c *Classification) Legibility() sheet.Readability {
	result := sheet.Readability{Overall: sheet.None, UnreadableAreas: []string{}}
	if extents.Has(c.Readability) && c.FilledIn && c.MakesSense {
		result.Overall = sheet.Extent(c.Readability)
	}
	for _, area := range c.UnreadableAreas {
		if areas.Has(area) && !slices.Contains(result.UnreadableAreas, area) {
			result.UnreadableAreas = append(result.UnreadableAreas, area)
		}
	}
	if len(result.UnreadableAreas) > 0 && result.Overall == sheet.Full {
		result.Overall = sheet.Partial
	}
	return result
}

// countAnchors counts the different labels of forms among the quoted texts.
func countAnchors(quoted []string) (n int) {
	for _, names := range anchors {
		if slices.ContainsFunc(quoted, func(q string) bool { return contains(q, names) }) {
			n++
		}
	}
	return n
}

// contains reports whether a quote has one of the names of a label in it.
func contains(quote string, names []string) bool {
	quote = sheet.Fold(quote)
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(quote, sheet.Fold(name)) })
}

func refused(key string) error { return &fetch.Error{Notice: message.New(key, nil)} }

// refusal returns why the sheet is not read; nil when it can be read.
func (c *Classification) refusal() error {
	switch {
	case !c.IsSheet():
		return refused("error/not_a_sheet")
	case !c.FilledIn:
		return refused("error/sheet_unreadable.empty")
	case !c.MakesSense:
		return refused("error/sheet_unreadable.nonsense")
	case c.Legibility().Overall == sheet.None:
		return refused("error/sheet_unreadable")
	}
	return nil
}
