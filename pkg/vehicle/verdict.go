package vehicle

import (
	"ushuru/pkg/money"
)

// Verdict is which of two cars is the better buy, and why. Code finds it from
// figures alone; the recommendation only words it. Additive.
type Verdict struct {
	Winner *int   `json:"winner"` // 1 or 2; null when neither car is our advice
	Reason Reason `json:"reason"`
	Text   Text   `json:"text"` // the reason in a sentence
	// OnFigures is the car that is better on cost, tax, age and kilometres alone,
	// whatever its condition: 1 or 2; null when neither is, when a cost is not known,
	// and for a car that is disqualified.
	OnFigures *int `json:"onFigures"`
	// Vetoes are the doubts for which a car is never our advice; never null.
	Vetoes []Veto `json:"vetoes"`
	// Doubts are those of both cars, the gravest first; the vetoes are among them.
	Doubts   []Doubt     `json:"doubts"`
	Criteria []Criterion `json:"criteria"` // never null; their weights add up to 100
	Points1  int         `json:"points1"`  // of 100, the sum over the criteria
	Points2  int         `json:"points2"`
	// What speaks for each car and what against it.
	Arguments1 *Arguments `json:"arguments1,omitempty"`
	Arguments2 *Arguments `json:"arguments2,omitempty"`
	// Cheaper is 1 or 2; null when a cost is not known or the ranges overlap.
	Cheaper *int `json:"cheaper"`
	// What the dearer car costs more on the road, likely figures; null when either
	// cost is not known.
	DifferenceUSD *money.Amount `json:"differenceUSD"`
	DifferenceTZS *money.Amount `json:"differenceTZS"`
}

// Reason says why a verdict is as it is.
type Reason string

// The reasons. The first two have a winner, the others none.
const (
	BetterBuy      Reason = "better_buy"      // more points
	OtherVetoed    Reason = "other_vetoed"    // the other car has a veto, and the condition of this one is known
	AskFirst       Reason = "ask_first"       // the condition of a car that could win is not known
	BothVetoed     Reason = "both_vetoed"     // each car has a veto
	SameCar        Reason = "same_car"        // one car at two addresses
	CostUnknown    Reason = "cost_unknown"    // the cost of one or both cars on the road is not complete
	DifferentClass Reason = "different_class" // one costs too many times as much as the other
	TooClose       Reason = "too_close"       // the points differ too little
)

// Arguments are what speaks for a car and against it, the gravest against it first.
type Arguments struct {
	For     []Text `json:"for"`     // never null
	Against []Text `json:"against"` // never null
}

// Veto is a fact for which a car is never our advice.
type Veto struct {
	Car  int    `json:"car"`  // 1 or 2
	Code string `json:"code"` // of the doubt
	Text Text   `json:"text"`
}

// Criterion is one thing in which two cars were compared. What is not known of a
// car has few points, so that it never pays to leave it out.
type Criterion struct {
	Code    string  `json:"code"`    // drive_away_cost, condition, mileage, year, age_step, match_confidence
	Weight  int     `json:"weight"`  // the most points
	Car1    *string `json:"car1"`    // what was compared; null when it is not known
	Car2    *string `json:"car2"`    //
	Points1 int     `json:"points1"` // 0 to Weight
	Points2 int     `json:"points2"`
	Text    Text    `json:"text"`
}

// Doubt is something that a buyer should know of the condition of a car or settle
// before paying. There is one list of them for each car, the gravest first.
type Doubt struct {
	Car int `json:"car,omitempty"` // 1 or 2, in a comparison
	// Code is a stable word: a category of the condition such as flood, a rule of the
	// sheet's red flags, or no_sheet, sheet_not_read, no_grade, mileage_not_known,
	// sheet_mismatch, sold, match_uncertain, match_by_ai, year_substituted.
	Code string `json:"code"`
	// Level is disqualify or grave (the car is never our advice), doubt (it does not
	// win before the question is answered) or caution.
	Level  string `json:"level"`
	Source string `json:"source"`          // sheet, drawing, grade, reading, listing, auction_score, match or year
	Quote  string `json:"quote,omitempty"` // what the source says, as written
	Panel  string `json:"panel,omitempty"` // of the drawing
	Text   Text   `json:"text"`
	Ask    *Text  `json:"ask,omitempty"` // what to ask the seller
}
