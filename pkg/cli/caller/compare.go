package caller

import (
	"context"
	"fmt"
	"path/filepath"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Compare asks the API which of two listings is the better buy.
type Compare struct {
	clientConfig
	outputOptions
	termFlags
	First  string `arg:"" name:"URL1" help:"URL of a listing."`
	Second string `arg:"" name:"URL2" help:"URL of another listing."`
}

// Run is called by kong.
func (c *Compare) Run(r *console.Console) error {
	terms, err := c.terms()
	if err != nil {
		return err
	}
	request := client.CompareRequest{URL1: c.First, URL2: c.Second, Terms: terms}
	comparison, err := await(r, c.in(c.Lang), !c.Table,
		func(ctx context.Context, api *client.Client, progress func(*client.Job)) (*client.Comparison, error) {
			return api.Compare(ctx, request, progress)
		})
	if err != nil {
		return printRefusal(r, err, c.outputOptions)
	}
	return printComparison(r, comparison, c.outputOptions)
}

// printComparison prints a comparison: with --table its recommendation, which has the
// costs of both cars.
func printComparison(r *console.Console, comparison *client.Comparison, as outputOptions) error {
	if !as.Table {
		return printJSON(r, comparison.JSON)
	}
	_, err := fmt.Fprintln(r.Out, comparison.Recommendation)
	return err
}

// maxSheet is the size of the largest file that the API reads.
const maxSheet = 12 << 20

// Report asks the API what an inspection sheet says.
type Report struct {
	clientConfig
	console.Format
	Lang  string `enum:"en,sw" default:"en" help:"Language of the report: en or sw."`
	Map   string `placeholder:"FILE.svg" type:"path" help:"Also write the damage map as SVG."`
	Sheet string `arg:"" name:"FILE-or-URL" help:"Image or PDF file, - for standard input, or a URL of an auction site."`
}

// Run is called by kong.
func (c *Report) Run(r *console.Console) error {
	request := client.ReportRequest{URL: c.Sheet}
	if !console.IsURL(c.Sheet) {
		file, err := r.ReadFile(c.Sheet, maxSheet)
		if err != nil {
			return err
		}
		request = client.ReportRequest{File: file, Name: filepath.Base(c.Sheet)}
	}
	report, err := await(r, c.in(c.Lang), c.JSON,
		func(ctx context.Context, api *client.Client, progress func(*client.Job)) (*client.ConditionReport, error) {
			return api.ConditionReport(ctx, request, progress)
		})
	if err != nil {
		return printRefusal(r, err, outputOptions{Table: !c.JSON, Lang: c.Lang})
	}
	if c.Map != "" {
		if err := c.writeMap(r, report.ID); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(r, report.JSON)
	}
	_, err = fmt.Fprintln(r.Out, report.Summary)
	return err
}

// writeMap writes the damage map of a report.
func (c *Report) writeMap(r *console.Console, id string) error {
	return c.in(c.Lang).call(r, func(ctx context.Context, api *client.Client) error {
		drawing, err := api.DamageMap(ctx, id)
		if err != nil {
			return err
		}
		return console.WriteFile(c.Map, drawing)
	})
}
