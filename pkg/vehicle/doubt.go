package vehicle

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
