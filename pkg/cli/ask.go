package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/fetch"
	"ushuru/pkg/vehicle"
)

// clientConfig says which API is asked, and how the answer is shown.
type clientConfig struct {
	APIURL  string        `name:"url" env:"USHURU_URL" default:"http://127.0.0.1:8080" help:"Address of the API that is asked."`
	Key     Secret        `env:"USHURU_KEY" help:"API key; ushuru keys create issues one."`
	Timeout time.Duration `default:"10m" help:"Longest time for the answer."`
}

// client returns a client of the API.
func (c clientConfig) client() (*client.Client, error) {
	if c.Key == "" {
		return nil, errors.New("set USHURU_KEY to an API key")
	}
	return client.New(client.Options{URL: c.APIURL, Key: string(c.Key)})
}

// shownAs says how an estimate is shown.
type shownAs struct {
	Table bool   `help:"A table for people, not JSON."`
	Lang  string `enum:"en,sw" default:"en" help:"Language of the table."`
}

// estimateCommand asks the API for the estimate of a listing.
type estimateCommand struct {
	clientConfig
	shownAs
	Rate      string `placeholder:"TZS" help:"Shillings for a dollar in the drive-away cost."`
	ModelBody string `placeholder:"LABEL" help:"The authority's label of the car, one of the candidates of a refusal."`
	HTML      string `name:"html" placeholder:"FILE" type:"existingfile" help:"The saved page, for a site that turns the API away."`
	Explain   bool   `help:"Add where each value came from."`
	Listing   string `arg:"" name:"URL" help:"Address of a listing."`
}

// Run is called by kong.
func (c *estimateCommand) Run(r *run) error {
	question := map[string]any{"url": c.Listing}
	if c.HTML != "" {
		page, err := os.ReadFile(c.HTML)
		if err != nil {
			return err
		}
		question["html"] = string(page)
	}
	put(question, "modelBody", c.ModelBody)
	if c.Explain {
		question["explain"] = true
	}
	return r.ask(c.clientConfig, c.shownAs, "/v1/estimate", question, c.Rate)
}

// quoteCommand asks the API for the estimate of a car without a listing.
type quoteCommand struct {
	clientConfig
	shownAs
	Rate      string `placeholder:"TZS" help:"Shillings for a dollar in the drive-away cost."`
	Make      string `required:"" help:"Make, such as TOYOTA."`
	Model     string `help:"Model."`
	ModelCode string `help:"Chassis code, with its prefix or without: NKE165, DAA-NKE165."`
	Version   string `help:"Trim or grade."`
	Year      int    `required:"" help:"Year of manufacture."`
	EngineCC  int    `name:"engine-cc" help:"Engine displacement in cc."`
	Fuel      string `help:"Fuel."`
	BodyType  string `help:"Body."`
	FOB       string `name:"fob" placeholder:"USD" help:"Price FOB in US dollars."`
	CF        string `name:"cf" placeholder:"USD" help:"Price with freight to Dar es Salaam in US dollars."`
	M3        string `name:"m3" help:"Shipping volume in cubic metres."`
	ModelBody string `placeholder:"LABEL" help:"The authority's label of the car."`
}

// Run is called by kong.
func (c *quoteCommand) Run(r *run) error {
	question := map[string]any{"make": c.Make, "year": c.Year}
	for name, text := range map[string]string{
		"model": c.Model, "modelCode": c.ModelCode, "version": c.Version, "fuel": c.Fuel,
		"bodyType": c.BodyType, "modelBody": c.ModelBody,
	} {
		put(question, name, text)
	}
	for name, number := range map[string]string{"fobPriceUSD": c.FOB, "cfPriceUSD": c.CF, "m3": c.M3} {
		if err := putNumber(question, name, number); err != nil {
			return err
		}
	}
	if c.EngineCC != 0 {
		question["engine_cc"] = c.EngineCC
	}
	return r.ask(c.clientConfig, c.shownAs, "/v1/quote", question, c.Rate)
}

func put(question map[string]any, name, text string) {
	if text != "" {
		question[name] = text
	}
}

// putNumber sends a number as it was written; what it may be is the API's to
// say.
func putNumber(question map[string]any, name, text string) error {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("%s: %q is no number; write 2650 or 2650.5", name, text)
	}
	question[name] = json.RawMessage(text)
	return nil
}

// refusedBody is what goes to standard error when the API answers with an
// error, a page is no readable listing, or a picture no readable sheet.
type refusedBody struct {
	Error      string              `json:"error"`
	Code       string              `json:"code,omitempty"`
	Candidates []vehicle.Candidate `json:"candidates,omitempty"`
}

// refused prints such an error as the API has it, and ends with the status for
// it; any other error comes back.
func (r *run) refused(err error) error {
	var body refusedBody
	if api, ok := errors.AsType[*client.Error](err); ok {
		body = refusedBody{api.Message, api.Code, api.Candidates}
	} else if page, ok := errors.AsType[*fetch.Error](err); ok {
		body = refusedBody{Error: page.Message, Code: page.Code}
	} else {
		return err
	}
	if err := writeJSON(r.Err, body); err != nil {
		return err
	}
	return exitError{exitPage}
}

// ask posts a question and prints the answer.
func (r *run) ask(config clientConfig, as shownAs, path string, question map[string]any, rate string) error {
	if err := putNumber(question, "rate", rate); err != nil {
		return err
	}
	api, err := config.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, config.Timeout)
	defer cancel()
	answer, err := api.PostAndWait(ctx, path, question)
	if err != nil {
		return r.refused(err)
	}
	if !as.Table {
		return writeJSON(r.Out, answer)
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(answer, &estimate); err != nil {
		return fmt.Errorf("the API's answer is no estimate: %w", err)
	}
	return writeTable(r.Out, estimate, as.Lang)
}
