package vehicle

import "ushuru/pkg/money"

// Verdict is which of two cars is the better buy, and why. Code finds it from
// figures alone; the recommendation only words it. Additive.
type Verdict struct {
	Winner   string      `json:"winner"`        // car1, car2 or none
	Why      string      `json:"why,omitempty"` // with none: close, or cost_unknown
	Score1   int         `json:"score1"`        // 0 to 100, over the criteria that were compared
	Score2   int         `json:"score2"`        //
	Criteria []Criterion `json:"criteria"`      // never null
	Points1  []string    `json:"points1"`       // what speaks for (+code) and against (-code) the first car; never null
	Points2  []string    `json:"points2"`       //
	Cheaper  string      `json:"cheaper"`       // car1, car2 or none
	// What the dearer car costs more on the road; null when either cost is not known.
	DifferenceUSD *money.Amount `json:"differenceUSD"`
	DifferenceTZS *money.Amount `json:"differenceTZS"`
}

// Criterion is one thing in which two cars were compared.
type Criterion struct {
	Code     string `json:"code"`     // drive_away_cost, condition, mileage, age_step, match_confidence
	Weight   int    `json:"weight"`   // of 100
	Compared bool   `json:"compared"` // false when it is not known of both: it does not count
	Score1   int    `json:"score1"`   // 0 to 100; 0 when not compared
	Score2   int    `json:"score2"`
	Value1   string `json:"value1"` // what was compared; empty when it is not known
	Value2   string `json:"value2"`
	Better   string `json:"better"` // car1, car2 or none
}
