package caller

import (
	"context"
	"fmt"

	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
)

// Bill asks the API what of a clearing agent's bill is owed.
type Bill struct {
	service.API
	outputOptions
	service.Terms
	Date    string `placeholder:"YYYY-MM-DD" help:"Day of the bill; today without one."`
	Listing string `arg:"" name:"URL" help:"URL of the car's listing; - for a bill without a car."`
	File    string `arg:"" name:"FILE" help:"The bill as text, a line for each charge with its amount last; - for standard input."`
}

// maxBill is the size of the largest bill that the API reads.
const maxBill = 8 << 10

// Run is called by kong.
func (c *Bill) Run(s *service.Session) error {
	request := client.BillRequest{Date: c.Date, Lang: c.Lang}
	if c.Listing != "-" {
		request.URL = c.Listing
	}
	var err error
	if request.Terms, err = c.Requested(); err != nil {
		return err
	}
	text, err := s.ReadFile(c.File, maxBill)
	if err != nil {
		return fmt.Errorf("the bill: %w", err)
	}
	request.Text = string(text)
	var bill *client.Bill
	err = c.In(c.Lang).Call(s, func(ctx context.Context, api *client.Client) (err error) {
		bill, err = api.CheckBill(ctx, request)
		return err
	})
	switch {
	case err != nil:
		return err
	case !c.Text():
		return c.Print(s.Streams, bill.JSON)
	}
	return write(s.Out, c.Lang, "bill", bill, 0)
}
