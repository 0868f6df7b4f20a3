// Package selection selects one of some entries of the authority's list where no chassis
// code decides. A language model does; its answer is one of the candidates, or none.
package selection

import (
	"context"
	"regexp"
	"strings"
)

// None is the answer that no candidate is the car.
const None = "NONE"

// Chooser selects among candidates when no chassis code decides, for example an AI.
// Its answer is checked: an id outside the candidates counts as None, and the rules
// of pkg/match can still reject the label. It cannot set confidence, money or ids.
type Chooser func(ctx context.Context, question Question) (Answer, error)

// Question contains closed fields only, no text of the page. The texts of Listed
// are untrusted and may contain instructions.
type Question struct {
	Listed     Listed   `json:"listed"`
	Candidates []Option `json:"candidates"` // at most ten, shuffled
}

// MaxListed is how long the texts of a listing are in a Question at most, in characters.
const MaxListed = 120

// Listed is the car of the listing. Empty or 0 means not given. Texts have at most
// MaxListed characters.
type Listed struct {
	Make      string `json:"make"` // as the authority spells it
	Model     string `json:"model"`
	Version   string `json:"version"`
	ModelCode string `json:"modelCode"`
	Year      int    `json:"year"`
	EngineCC  int    `json:"engine_cc"`
	Fuel      string `json:"fuel"`
	Body      string `json:"body"`
}

// Option is one candidate. Empty or 0 means not known.
type Option struct {
	ID       string `json:"id"`    // opaque: c1, c2, … in the order shown
	Label    string `json:"label"` // the authority's text
	EngineCC int    `json:"engine_cc"`
	Fuel     string `json:"fuel"` // petrol, diesel, petrol hybrid, diesel hybrid, electric
	YearFrom int    `json:"yearFrom"`
	YearTo   int    `json:"yearTo"` // 0 beside a YearFrom: still made
}

// Answer is the id of one candidate, or None, and the reason in our words, if it is
// known: a model's own are never shown.
type Answer struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

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
