package vehicle

// Summary is the cost in the numbers that people read: shillings rounded to 10,000
// and dollars to 10. The three parts add up to OnTheRoad, in each of its numbers.
// What is incomplete is null, and Missing says why. Additive.
type Summary struct {
	OnTheRoad        *Sum      `json:"onTheRoad"`
	CarAndShipping   *Sum      `json:"carAndShipping"`
	Taxes            *TaxesSum `json:"taxes"`
	PortAndLocal     *Sum      `json:"portAndLocal"`
	PortAndTaxesOnly *Sum      `json:"portAndTaxesOnly"` // what is known without a price; null when OnTheRoad is known
	// WithoutFreight is the cost on the road without freight and marine insurance, where
	// nothing but these is missing; null otherwise.
	WithoutFreight *Sum `json:"withoutFreight"`

	// Car and Shipping add up to CarAndShipping. A price C&F is in Car.
	Car      *Sum `json:"car"`
	Shipping *Sum `json:"shipping"`

	AuthorityTaxes AuthorityTaxes `json:"authorityTaxes"`
	IfLandedBy     *IfLandedBy    `json:"ifLandedBy"`
	// EffectiveTaxPercent is Taxes in percent of CarAndShipping.
	EffectiveTaxPercent *int          `json:"effectiveTaxPercent"`
	Landing             Landing       `json:"landing"`
	Exchange            Exchange      `json:"exchange"`   // of the sums
	Confidence          Confidence    `json:"confidence"` // in the number, not in the match alone
	Text                Sentence      `json:"text"`       // one sentence with the number
	Missing             []MissingPart `json:"missing"`    // never null
	Ask                 []Question    `json:"ask"`        // of the seller, before paying; never null
	NotIncluded         []NotIncluded `json:"notIncluded"`
	Pay                 []Payment     `json:"pay,omitempty"` // what is paid when, the first payment first

	ByMonth *ByMonth `json:"byMonth,omitempty"` // on request only
}

// ByMonth is the cost by the month in which the car lands.
type ByMonth struct {
	Months []MonthCost `json:"months"` // twelve, the first is that of the calculation
	Text   Sentence    `json:"text"`   // what is assumed about them
}

// MonthCost is the cost of a car that lands in a month: in the middle of it, the range
// covers all its days.
type MonthCost struct {
	Month     string `json:"month"` // 2027-01
	OnTheRoad *Sum   `json:"onTheRoad"`
	Assumed   bool   `json:"assumed"` // the rules of then are not known yet, those of today are used
}

// Sum is a sum with its range, in both currencies. LowTZS ≤ TZS ≤ HighTZS.
type Sum struct {
	TZS     int64 `json:"tzs"`
	LowTZS  int64 `json:"lowTZS"`
	HighTZS int64 `json:"highTZS"`
	USD     int64 `json:"usd"`
	LowUSD  int64 `json:"lowUSD"`
	HighUSD int64 `json:"highUSD"`
}

// TaxesSum is the taxes and which value they are charged on. Both figures are those
// of the likely landing day.
type TaxesSum struct {
	Sum
	Basis       string   `json:"basis"`       // a Basis… constant: which of the two is the higher
	Used        string   `json:"used"`        // onAuthority or onInvoice: which of the two figures the taxes are
	OnAuthority *TaxOn   `json:"onAuthority"` // on the authority's own CIF; null when its answer has none
	OnInvoice   *TaxOn   `json:"onInvoice"`   // on the invoice's CIF, if that were taxed; null when it is not known
	Why         Sentence `json:"why"`         // which of the two is taxed, and why
}

// TaxOn is the taxes on a customs value.
type TaxOn struct {
	CIFUSD int64 `json:"cifUSD"`
	TZS    int64 `json:"tzs"`
	USD    int64 `json:"usd"`
}

// AuthorityTaxes is what the authority answered: the taxes on its own value for a
// car that lands on the day of the answer.
type AuthorityTaxes struct {
	TZS     int64    `json:"tzs"`
	USD     int64    `json:"usd"`
	Landing string   `json:"landing"` // 2026-11-22
	Why     Sentence `json:"why"`     // why the taxes to expect differ, or that they do not
}

// IfLandedBy is the cost of a car that lands before the taxes rise.
type IfLandedBy struct {
	Date      string `json:"date"` // 2026-12-31
	OnTheRoad *Sum   `json:"onTheRoad"`
}

// Landing is when the car lands. The costs are those of the likely day, their range
// covers the others.
type Landing struct {
	From   string   `json:"from"` // 2027-01-06
	To     string   `json:"to"`
	Likely string   `json:"likely"`
	Basis  Sentence `json:"basis"`
}

// Exchange is the exchange rates of the sums, with a sentence.
type Exchange struct {
	ExchangeRates

	Text Sentence `json:"text"`
}

// MissingPart is why a part of the summary is null.
type MissingPart struct {
	Part string   `json:"part"` // the name of the field
	Code string   `json:"code"` // of the line that is missing
	Text Sentence `json:"text"`
}

// Question is what to ask the seller before paying. The most expensive doubt stands
// first.
type Question struct {
	Code string `json:"code"`
	Text Text   `json:"text"`
	// WorthTZS is how much the answer may change the cost; null where that is not known.
	WorthTZS *int64 `json:"worthTZS"`
}

// Payment is a part of the cost that is paid at one time.
type Payment struct {
	Code string   `json:"code"` // bank or port
	From string   `json:"from"` // the first day on which it may be due: 2027-01-06
	Sum  *Sum     `json:"sum"`  // null when a line of it is not known
	Text Sentence `json:"text"`
}

// NotIncluded is a cost that the sums do not contain.
type NotIncluded struct {
	Code      string   `json:"code"`
	Text      Sentence `json:"text"`
	PerDayUSD *int64   `json:"perDayUSD"`
}
