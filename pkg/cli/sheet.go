package cli

import (
	"errors"
	"io"
	"os"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/fetch"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
)

// sheetCommand reads one auction sheet and prints the report.
type sheetCommand struct {
	AIConfig
	console.Format

	Lang    string        `enum:"en,sw" default:"en" help:"Language of the text: en or sw."`
	Map     string        `placeholder:"FILE.svg" type:"path" help:"Also write the damage map as SVG."`
	Timeout time.Duration `default:"30s" help:"Maximum time to fetch the sheet."`
	Sheet   string        `arg:"" name:"FILE-or-URL" help:"Image or PDF file, - for standard input, or a URL."`
}

// Run is called by kong.
func (c *sheetCommand) Run(r *run) error {
	report, err := c.read(r)
	if err != nil {
		return r.printError(err)
	}
	if c.Map != "" {
		//nolint:gosec // everyone may see the drawing
		if err := os.WriteFile(c.Map, render.Map(report, c.Lang), 0o644); err != nil {
			return err
		}
	}
	switch {
	case c.JSON():
		return console.WriteJSON(r.Out, report)
	case c.CSV():
		return console.Answer{Output: "csv"}.Print(r.Streams, report)
	}
	text, err := render.Text(report, c.Lang, nil)
	if err != nil {
		return err
	}
	_, err = io.WriteString(r.Out, text)
	return err
}

func (c *sheetCommand) read(r *run) (*sheet.Report, error) {
	model, err := r.model(c.AIConfig)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, errors.New("reading a sheet needs an AI model with vision; set AI_MODEL")
	}
	pages, err := fetch.New(fetch.Options{Timeout: c.Timeout})
	if err != nil {
		return nil, err
	}
	r.cleanup.Add(pages.Close)
	loader, err := scan.NewLoader(scan.Options{Client: pages})
	if err != nil {
		return nil, err
	}
	r.cleanup.Add(func() { _ = loader.Close() })
	data, err := c.bytes(r, loader)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load(r.ctx, data)
	if err != nil {
		return nil, err
	}
	transcript, err := transcribe.Sheet(r.ctx, model, loaded.JPEGs())
	if err != nil {
		return nil, err
	}
	return interpret.Transcript(*transcript, interpret.Known{Years: facts.CodeYears}), nil
}

// bytes fetches or opens the sheet.
func (c *sheetCommand) bytes(r *run, loader *scan.Loader) ([]byte, error) {
	if console.IsURL(c.Sheet) {
		return loader.Fetch(r.ctx, c.Sheet, false)
	}
	return r.ReadFile(c.Sheet, scan.MaxBytes)
}
