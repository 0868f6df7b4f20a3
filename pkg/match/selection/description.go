package selection

import (
	"regexp"
	"strings"
)

// orders is where a cell of a listing stops to describe a car and begins to
// speak to a model: markup, or a word that is no trim of a car. It cannot know
// every wording; what a model may be talked into is bounded by the vetoes and
// by the names that a candidate must share with the listing.
var injectionPattern = regexp.MustCompile(`(?i)[<>{}]|://|` +
	`\b(?:ignore|disregard|forget|override|instructions?|prompt|assistant|candidates?|answer|reply|respond|output|choose|` +
	`correct|previous|above|please|must|select (?:the|id|entry|number|only)|pick (?:the|id|entry|number|only)|` +
	`(?:the|right|best|only) match|match(?:es)? is|json|none)\b|無視|指示|候補|選択して|選んで|回答`)

// description returns the part of a cell that describes the car: the text before
// an instruction, and before the id or the label of a candidate, which a seller
// does not know.
func description(cell string, candidates []Option) string {
	end := len(cell)
	if at := injectionPattern.FindStringIndex(cell); at != nil {
		end = at[0]
	}
	for _, option := range candidates {
		for _, text := range []string{option.ID, option.Label} {
			if at := wordIndex(cell, text); at >= 0 {
				end = min(end, at)
			}
		}
	}
	return strings.TrimSpace(cell[:end])
}

// wordIndex finds a text as a whole word, whatever its case; -1 without one.
func wordIndex(cell, text string) int {
	word := regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])(` + regexp.QuoteMeta(text) + `)(?:[^A-Za-z0-9]|$)`)
	at := word.FindStringSubmatchIndex(cell)
	if at == nil || text == "" {
		return -1
	}
	return at[2]
}
