package match

import "context"

// None is the answer that no candidate is the car. It is a good answer.
const None = "NONE"

// Chooser selects among candidates where no chassis code decides. An AI is
// one. What it answers is checked: an id that is no candidate's counts as
// None, and the rules of this package can still reject the label. It must not
// set confidence, money or ids, and so has no way to.
type Chooser interface {
	Choose(ctx context.Context, question Question) (Answer, error)
}

// Question is all that a Chooser is told: closed fields, no page text. The
// texts of Listed were written by strangers and may hold instructions.
type Question struct {
	Listed     Listed   `json:"listed"`
	Candidates []Option `json:"candidates"` // at most ten, shuffled
}

// Listed is what the listing says of the car. Empty or 0: it does not say.
// Texts are cut to 120 characters.
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

// Option is one candidate. Empty or 0: not known.
type Option struct {
	ID       string `json:"id"`    // opaque: c1, c2, … in the order shown
	Label    string `json:"label"` // the authority's text
	EngineCC int    `json:"engine_cc"`
	Fuel     string `json:"fuel"` // petrol, diesel, petrol hybrid, diesel hybrid, electric
	YearFrom int    `json:"yearFrom"`
	YearTo   int    `json:"yearTo"` // 0 beside a YearFrom: still made
}

// Answer is the id of one candidate, or None, and why in one plain sentence.
type Answer struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}
