package caller

import (
	"context"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Years compares the taxes of one model by year of manufacture.
type Years struct {
	clientConfig
	Make          string `help:"Make; required when several makes have the label."`
	Fuel          string `help:"Fuel, for example PETROL."`
	EngineCC      int    `name:"engine-cc" help:"Engine displacement in cc."`
	Landing       string `placeholder:"DAY[..DAY]" help:"When the car lands, such as 2027-01-28 or 2027-01-06..2027-02-20; the usual days by default."`
	CheapestFirst bool   `help:"Order by taxes on landing instead of by year."`
	Refresh       bool   `help:"Request the years that are not known from TRA, and wait for them."`
	Label         string `arg:"" name:"LABEL" help:"TRA label, for example of a candidate or of GET /v1/vehicles."`
}

// Run is called by kong.
func (c *Years) Run(r *console.Console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Ctx, c.Timeout)
	defer cancel()
	query := client.YearsQuery{
		ModelBody: c.Label, Make: c.Make, Fuel: c.Fuel, EngineCC: c.EngineCC, Landing: c.Landing,
		CheapestFirst: c.CheapestFirst,
	}
	found, err := api.ModelYears(ctx, query)
	if err == nil && c.Refresh {
		found, err = api.AwaitModelYears(ctx, query)
	}
	if err != nil {
		return printError(r, err)
	}
	return console.WriteJSON(r.Out, found)
}
