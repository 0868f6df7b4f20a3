// Package caller is the commands that only a caller of the API has: they ask what a car costs, what
// its sheet says and what of a bill is owed, and print the answer.
package caller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
	"ushuru/pkg/cost"
	"ushuru/pkg/export"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// maxPage is more than the API reads, which says so itself.
const maxPage = 16 << 20

// maxBill is the size of the largest bill that the API reads.
const maxBill = 8 << 10

// maxSheet is the size of the largest file that the API reads.
const maxSheet = 12 << 20

// outputOptions say how an answer is printed.
type outputOptions struct {
	console.Answer

	Lang string `enum:"en,sw" default:"en" help:"Language of the text: en or sw."`
}

// targetFlag is what the caller can pay.
type targetFlag struct {
	Target *money.Number `placeholder:"TZS" help:"What you can pay on the road: the answer has the highest prices for it."`
}

// addTo adds the target to the terms of a request.
func (f targetFlag) addTo(terms *client.Terms) {
	if f.Target != nil {
		terms.Target = &vehicle.Target{OnTheRoadTZS: *f.Target}
	}
}

// Estimate requests the estimate of a listing from the API.
type Estimate struct {
	service.API
	outputOptions
	service.Terms
	targetFlag
	ModelBody string `placeholder:"LABEL" help:"TRA label of the car, for example a candidate from an error."`
	Known     string `placeholder:"JSON" help:"What you know better than the page, for example {\"year\":2016}."`
	Prices    bool   `name:"price-candidates" help:"Ask for the taxes of every candidate when there is no estimate."`
	HTML      string `name:"html" placeholder:"FILE" type:"existingfile" help:"Saved page, for sites that block the API; - for standard input."`
	Explain   bool   `help:"Show the source of each value."`
	Listing   string `arg:"" name:"URL" help:"URL of a listing."`
}

// Run is called by kong.
func (c *Estimate) Run(s *service.Session) error {
	request := client.EstimateRequest{URL: c.Listing, ModelBody: c.ModelBody, PriceCandidates: c.Prices, Explain: c.Explain}
	var err error
	if request.Terms, err = c.Requested(); err != nil {
		return err
	}
	c.addTo(&request.Terms)
	if request.Known, err = knownFlag(c.Known); err != nil {
		return err
	}
	if c.HTML != "" {
		page, err := s.ReadFile(c.HTML, maxPage)
		if err != nil {
			return err
		}
		request.HTML = string(page)
	}
	estimate, err := service.Await(s, c.In(c.Lang), !c.Text(), (*client.Client).Estimate, request)
	if err != nil {
		return printUnpriced(s, err, c.Listing, c.outputOptions)
	}
	return printEstimate(s, estimate.Estimate, estimate.JSON, c.outputOptions)
}

// Quote requests the estimate of a car without a listing from the API.
type Quote struct {
	service.API
	outputOptions
	service.Terms
	targetFlag
	Make      string        `required:"" help:"Make, for example TOYOTA."`
	Model     string        `help:"Model."`
	ModelCode string        `help:"Chassis code, with its prefix or without: NKE165, DAA-NKE165."`
	Version   string        `help:"Trim or grade."`
	Year      int           `required:"" help:"Year of manufacture."`
	EngineCC  int           `name:"engine-cc" help:"Engine displacement in cc."`
	Fuel      string        `help:"Fuel, for example PETROL."`
	BodyType  string        `help:"Body type, for example WAGON."`
	FOB       *money.Number `name:"fob" placeholder:"USD" help:"FOB price in US dollars."`
	CF        *money.Number `name:"cf" placeholder:"USD" help:"Price with freight to Dar es Salaam in US dollars."`
	FOBYen    *money.Number `name:"fob-jpy" placeholder:"JPY" help:"FOB price in yen, with --jpy-per-usd."`
	CFYen     *money.Number `name:"cf-jpy" placeholder:"JPY" help:"Price with freight to Dar es Salaam in yen, with --jpy-per-usd."`
	JPYPerUSD *money.Number `name:"jpy-per-usd" placeholder:"RATE" help:"How many yen one US dollar is."`
	M3        *money.Number `name:"m3" placeholder:"STRING" help:"Shipping volume in cubic metres."`
	ModelBody string        `placeholder:"LABEL" help:"TRA label of the car, for example a candidate from an error."`
	Prices    bool          `name:"price-candidates" help:"Ask for the taxes of every candidate when there is no estimate."`
}

// Run is called by kong.
func (c *Quote) Run(s *service.Session) error {
	terms, err := c.Requested()
	if err != nil {
		return err
	}
	c.addTo(&terms)
	request := client.QuoteRequest{
		Terms: terms, PriceCandidates: c.Prices, FOBPriceJPY: c.FOBYen, CFPriceJPY: c.CFYen, JPYPerUSD: c.JPYPerUSD,
		QuoteInput: vehicle.QuoteInput{
			Make: c.Make, Model: c.Model, ModelCode: c.ModelCode, Version: c.Version, Year: c.Year, EngineCC: c.EngineCC,
			Fuel: c.Fuel, BodyType: c.BodyType, ModelBody: c.ModelBody, FOBPriceUSD: c.FOB, CFPriceUSD: c.CF, M3: c.M3,
		},
	}
	quote, err := service.Await(s, c.In(c.Lang), !c.Text(), (*client.Client).Quote, request)
	if err != nil {
		return printUnpriced(s, err, "", c.outputOptions)
	}
	return printEstimate(s, quote.Estimate, quote.JSON, c.outputOptions)
}

// knownFlag parses what the caller knows better than a page; nil for "".
func knownFlag(text string) (*vehicle.Known, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing is known
	}
	known := &vehicle.Known{}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(known); err != nil {
		return nil, console.Usage(`--known: %w; example: {"year": 2016, "engine_cc": 1500}`, err)
	}
	return known, nil
}

// printEstimate prints an estimate in the form that the caller wants.
func printEstimate(s *service.Session, estimate vehicle.Estimate, answer json.RawMessage, as outputOptions) error {
	switch {
	case as.Text():
		return Print(s.Out, estimate, as.Lang)
	case as.CSV():
		return printRow(s, as.Lang, export.Line{URL: estimate.Input.URL, State: batch.Succeeded, Estimate: &estimate})
	}
	return as.Print(s.Streams, answer)
}

// printRow prints a car as CSV, as the results of a batch have it.
func printRow(s *service.Session, lang string, line export.Line) error {
	options := export.Options{Lang: lang}
	for _, code := range cost.Embedded().Codes() {
		options.Lines = append(options.Lines, export.CostLine(code))
	}
	table, err := export.NewCSV(s.Out, options)
	if err != nil {
		return err
	}
	line.Number = 1
	return errors.Join(table.Line(line), table.Close())
}

// Bill asks the API what of a clearing agent's bill is owed.
type Bill struct {
	service.API
	outputOptions
	service.Terms
	Date    string `placeholder:"YYYY-MM-DD" help:"Day of the bill; today without one."`
	Listing string `arg:"" name:"URL" help:"URL of the car's listing; - for a bill without a car."`
	File    string `arg:"" name:"FILE" help:"The bill as text, a line for each charge with its amount last; - for standard input."`
}

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
