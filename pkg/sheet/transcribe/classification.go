package transcribe

import (
	"slices"

	"ushuru/pkg/fetch"
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
	for _, anchor := range anchors {
		if slices.ContainsFunc(quoted, func(q string) bool { return sheet.Fold(q) == sheet.Fold(anchor) }) {
			n++
		}
	}
	return n
}

// refusal returns why the sheet is not read; nil when it can be read.
func (c *Classification) refusal() error {
	switch {
	case !c.IsSheet():
		return &fetch.Error{Code: sheet.NotASheet, Message: "The image does not show a Japanese auction sheet."}
	case !c.FilledIn:
		return &fetch.Error{
			Code: sheet.SheetUnreadable, Message: "The image shows a blank form of an auction sheet, without the data of a car.",
		}
	case !c.MakesSense:
		return &fetch.Error{
			Code: sheet.SheetUnreadable, Message: "The sheet's text is inconsistent and may be fake. Nothing was read.",
		}
	case c.Legibility().Overall == sheet.None:
		return &fetch.Error{
			Code: sheet.SheetUnreadable, Message: "The sheet cannot be read. Send a larger or sharper image of it.",
		}
	}
	return nil
}
