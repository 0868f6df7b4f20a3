package client

import (
	"context"

	"ushuru/pkg/vehicle"
)

// BillRequest asks what of a clearing agent's bill is owed for the car of a listing.
type BillRequest struct {
	Terms

	URL  string `json:"url,omitempty"` // without one only what needs no car is judged
	Text string `json:"text"`          // the bill as pasted
	Date string `json:"date,omitempty"`
	Lang string `json:"lang,omitempty"`
}

// Bill is what became of a bill.
type Bill struct {
	Raw

	Lines         []billLine       `json:"lines"`
	Missing       []billMissing    `json:"missing"` // what will still come
	SumDiffersTZS string           `json:"sumDiffersTZS"`
	Verdict       string           `json:"verdict"`
	Text          vehicle.Sentence `json:"text"` // the one thing to do
	Note          vehicle.Text     `json:"note"`
}

// billLine is a line of a bill with its verdict.
type billLine struct {
	Name      string           `json:"name"`
	AmountTZS string           `json:"amountTZS"`
	Verdict   string           `json:"verdict"`
	Also      []string         `json:"also"`
	LowTZS    string           `json:"lowTZS"`
	HighTZS   string           `json:"highTZS"`
	Text      vehicle.Sentence `json:"text"`
}

// billMissing is a charge that the bill does not have.
type billMissing struct {
	Name vehicle.Text `json:"name"`
	Text vehicle.Text `json:"text"`
}

// CheckBill checks a bill. The API stores none, so a request that takes longer than one
// answer is sent again, which finds the estimate of the car further on.
func (c *Client) CheckBill(ctx context.Context, r BillRequest) (*Bill, error) {
	request, err := posted("/v1/bill-check", r)
	if err != nil {
		return nil, err
	}
	return call[Bill](ctx, c, request)
}
