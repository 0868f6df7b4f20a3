package client

import (
	"context"

	"ushuru/pkg/vehicle"
)

// BillRequest asks what of a clearing agent's bill is owed for a car. Without a car only
// what needs none is said.
type BillRequest struct {
	Terms

	URL   string         `json:"url,omitempty"`   // the listing of the car
	Known *vehicle.Known `json:"known,omitempty"` // what the caller knows better than the listing
	Car   *QuoteRequest  `json:"car,omitempty"`   // in place of URL; its terms do not count

	Lines []BillLine `json:"lines,omitempty"`
	Text  string     `json:"text,omitempty"` // the bill as pasted
	Date  string     `json:"date,omitempty"` // of the bill; "" is today
}

// BillLine is a line of a bill.
type BillLine struct {
	Name     string `json:"name"`
	Amount   string `json:"amount"`             // as people write it: "450,000", "laki 4 na nusu"
	Currency string `json:"currency,omitempty"` // TZS or USD; "" is what the amount says, else TZS
}

// Bill is a bill with the verdicts on it. Money has two decimals and no commas.
type Bill struct {
	Raw

	Lines          []JudgedLine     `json:"lines"`
	Missing        []MissingCharge  `json:"missing"` // what is not on the bill and will still come
	BilledTZS      string           `json:"billedTZS"`
	StatedTotalTZS string           `json:"statedTotalTZS,omitempty"`
	SumDiffersTZS  string           `json:"sumDiffersTZS,omitempty"`
	QuestionedTZS  string           `json:"questionedTZS"`
	UnexplainedTZS string           `json:"unexplainedTZS"`
	Verdict        string           `json:"verdict"` // fits, ask or too_high
	Text           vehicle.Sentence `json:"text"`    // the one thing to do
	Note           vehicle.Text     `json:"note"`    // that this is no assessment
	Car            *vehicle.Car     `json:"car,omitempty"`
}

// JudgedLine is a line of a bill with its verdict.
type JudgedLine struct {
	Row       int              `json:"row"`
	Name      string           `json:"name"`
	AmountTZS string           `json:"amountTZS,omitempty"`
	Code      string           `json:"code,omitempty"`
	Codes     []string         `json:"codes,omitempty"` // what an ambiguous name can mean
	Verdict   string           `json:"verdict"`
	Also      []string         `json:"also,omitempty"`
	LowTZS    string           `json:"lowTZS,omitempty"`
	LikelyTZS string           `json:"likelyTZS,omitempty"`
	HighTZS   string           `json:"highTZS,omitempty"`
	OverTZS   string           `json:"overTZS,omitempty"`
	Bound     string           `json:"bound,omitempty"` // law, tariff, authority or estimate
	Issuer    string           `json:"issuer,omitempty"`
	Pay       string           `json:"pay,omitempty"` // control_number, invoice or receipt
	Text      vehicle.Sentence `json:"text"`
	Sources   []BillSource     `json:"sources,omitempty"`
}

// BillSource is on what a range rests.
type BillSource struct {
	Source string `json:"source"`
	Date   string `json:"date"`
}

// MissingCharge is what a bill does not have.
type MissingCharge struct {
	Code    string       `json:"code"`
	LowTZS  string       `json:"lowTZS"`
	HighTZS string       `json:"highTZS"`
	Text    vehicle.Text `json:"text"`
}

// billCheck is the operation. It cannot be submitted: the job has the estimate of the car as
// its result, and the bill is stored nowhere.
type billCheck struct{ BillRequest }

func (r billCheck) request() (Request, error) { return posted("/v1/bill-check", r.BillRequest) }

// CheckBill compares a clearing agent's bill with what is owed, and waits for the estimate of
// the car.
func (c *Client) CheckBill(ctx context.Context, r BillRequest, options ...Option) (*Bill, error) {
	return await[Bill](ctx, c, billCheck{r}, options)
}
