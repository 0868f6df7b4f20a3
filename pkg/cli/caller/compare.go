package caller

import (
	"context"
	"fmt"
	"path/filepath"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
)

// Compare asks the API which of two listings is the better buy.
type Compare struct {
	service.API
	outputOptions
	service.Terms
	First  string `arg:"" name:"URL1" help:"URL of a listing."`
	Second string `arg:"" name:"URL2" help:"URL of another listing."`
}

// Run is called by kong.
func (c *Compare) Run(s *service.Session) error {
	terms, err := c.Requested()
	if err != nil {
		return err
	}
	request := client.CompareRequest{URL1: c.First, URL2: c.Second, Terms: terms}
	comparison, err := service.Await(s, c.In(c.Lang), !c.Text(), (*client.Client).Compare, request)
	if err != nil {
		return printRefusal(s, err, c.outputOptions)
	}
	if !c.Text() {
		return c.Print(s.Streams, comparison.JSON)
	}
	_, err = fmt.Fprintln(s.Out, comparison.Recommendation)
	return err
}

// maxSheet is the size of the largest file that the API reads.
const maxSheet = 12 << 20

// Report asks the API what an inspection sheet says.
type Report struct {
	service.API
	console.Format
	Lang  string `enum:"en,sw" default:"en" help:"Language of the report: en or sw."`
	Map   string `placeholder:"FILE.svg" type:"path" help:"Also write the damage map as SVG."`
	Sheet string `arg:"" name:"FILE-or-URL" help:"Image or PDF file, - for standard input, or a URL of an auction site."`
}

// Run is called by kong.
func (c *Report) Run(s *service.Session) error {
	request := client.ReportRequest{URL: c.Sheet}
	if !console.IsURL(c.Sheet) {
		file, err := s.ReadFile(c.Sheet, maxSheet)
		if err != nil {
			return err
		}
		request = client.ReportRequest{File: file, Name: filepath.Base(c.Sheet)}
	}
	report, err := service.Await(s, c.In(c.Lang), c.JSON(), (*client.Client).ConditionReport, request)
	if err != nil {
		return printRefusal(s, err, outputOptions{console.Answer{Table: !c.JSON()}, c.Lang})
	}
	if c.Map != "" {
		if err := c.writeMap(s, report.ID); err != nil {
			return err
		}
	}
	switch {
	case c.JSON():
		return console.WriteJSON(s.Out, report.JSON)
	case c.CSV():
		return console.Answer{Output: "csv"}.Print(s.Streams, report.JSON)
	}
	_, err = fmt.Fprintln(s.Out, report.Summary)
	return err
}

// writeMap writes the damage map of a report.
func (c *Report) writeMap(s *service.Session, id string) error {
	return c.In(c.Lang).Call(s, func(ctx context.Context, api *client.Client) error {
		drawing, err := api.DamageMap(ctx, id)
		if err != nil {
			return err
		}
		return console.WriteFile(c.Map, drawing)
	})
}

// Years compares the taxes of one model by year of manufacture.
type Years struct {
	service.API
	console.Answer

	Make          string `help:"Make; required when several makes have the label."`
	Fuel          string `help:"Fuel, for example PETROL."`
	EngineCC      int    `name:"engine-cc" help:"Engine displacement in cc."`
	Landing       string `placeholder:"DAY[..DAY]" help:"When the car lands, such as 2027-01-28 or 2027-01-06..2027-02-20; the usual days by default."`
	CheapestFirst bool   `help:"Order by taxes on landing instead of by year."`
	Refresh       bool   `help:"Request the years that are not known from TRA, and wait for them."`
	Label         string `arg:"" name:"LABEL" help:"TRA label, for example of a candidate or of GET /v1/vehicles."`
}

// Run is called by kong.
func (c *Years) Run(s *service.Session) error {
	query := client.YearsQuery{
		ModelBody: c.Label, Make: c.Make, Fuel: c.Fuel, EngineCC: c.EngineCC, Landing: c.Landing,
		CheapestFirst: c.CheapestFirst,
	}
	return c.Call(s, func(ctx context.Context, api *client.Client) error {
		found, err := api.ModelYears(ctx, query)
		if err == nil && c.Refresh {
			found, err = api.AwaitModelYears(ctx, query)
		}
		if err != nil {
			return err
		}
		return c.Print(s.Streams, found)
	})
}
