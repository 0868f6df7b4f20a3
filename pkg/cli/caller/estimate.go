package caller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/vehicle"
)

// clientConfig says how the API is called.
type clientConfig struct {
	APIURL  string         `name:"url" env:"USHURU_URL" default:"http://127.0.0.1:8080" help:"Base URL of the API."`
	Key     console.Secret `env:"USHURU_KEY" help:"API key; ushuru keys create issues one."`
	Timeout time.Duration  `default:"10m" help:"Maximum time to wait for the result."`
}

// client returns a client of the API.
func (c clientConfig) client() (*client.Client, error) {
	if c.Key == "" {
		return nil, errors.New("set USHURU_KEY to an API key")
	}
	return client.New(client.Options{URL: c.APIURL, Key: string(c.Key)})
}

// outputOptions say how an estimate is printed.
type outputOptions struct {
	Table bool   `help:"Print a table, and an error as text, instead of JSON."`
	Lang  string `enum:"en,sw" default:"en" help:"Language of the table: en or sw."`
}

// Estimate requests the estimate of a listing from the API.
type Estimate struct {
	clientConfig
	outputOptions
	Rate      string `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	ModelBody string `placeholder:"LABEL" help:"TRA label of the car, for example a candidate from an error."`
	Known     string `placeholder:"JSON" help:"What you know better than the page, for example {\"year\":2016}."`
	Prices    bool   `name:"price-candidates" help:"Ask for the taxes of every candidate when there is no estimate."`
	HTML      string `name:"html" placeholder:"FILE" type:"existingfile" help:"Saved page, for sites that block the API."`
	Explain   bool   `help:"Show the source of each value."`
	Listing   string `arg:"" name:"URL" help:"URL of a listing."`
}

// Run is called by kong.
func (c *Estimate) Run(r *console.Console) error {
	request := map[string]any{"url": c.Listing}
	if c.HTML != "" {
		page, err := os.ReadFile(c.HTML)
		if err != nil {
			return err
		}
		request["html"] = string(page)
	}
	put(request, "modelBody", c.ModelBody)
	if c.Known != "" {
		request["known"] = json.RawMessage(c.Known)
	}
	putTrue(request, "explain", c.Explain)
	putTrue(request, "priceCandidates", c.Prices)
	return printResult(r, c.clientConfig, c.outputOptions, "/v1/estimate", request, c.Rate)
}

// Quote requests the estimate of a car without a listing from the API.
type Quote struct {
	clientConfig
	outputOptions
	Rate      string `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	Make      string `required:"" help:"Make, for example TOYOTA."`
	Model     string `help:"Model."`
	ModelCode string `help:"Chassis code, with its prefix or without: NKE165, DAA-NKE165."`
	Version   string `help:"Trim or grade."`
	Year      int    `required:"" help:"Year of manufacture."`
	EngineCC  int    `name:"engine-cc" help:"Engine displacement in cc."`
	Fuel      string `help:"Fuel, for example PETROL."`
	BodyType  string `help:"Body type, for example WAGON."`
	FOB       string `name:"fob" placeholder:"USD" help:"FOB price in US dollars."`
	CF        string `name:"cf" placeholder:"USD" help:"Price with freight to Dar es Salaam in US dollars."`
	M3        string `name:"m3" help:"Shipping volume in cubic metres."`
	ModelBody string `placeholder:"LABEL" help:"TRA label of the car, for example a candidate from an error."`
	Prices    bool   `name:"price-candidates" help:"Ask for the taxes of every candidate when there is no estimate."`
}

// Run is called by kong.
func (c *Quote) Run(r *console.Console) error {
	request := map[string]any{"make": c.Make, "year": c.Year}
	for name, text := range map[string]string{
		"model": c.Model, "modelCode": c.ModelCode, "version": c.Version, "fuel": c.Fuel,
		"bodyType": c.BodyType, "modelBody": c.ModelBody,
	} {
		put(request, name, text)
	}
	for name, number := range map[string]string{"fobPriceUSD": c.FOB, "cfPriceUSD": c.CF, "m3": c.M3} {
		if err := putNumber(request, name, number); err != nil {
			return err
		}
	}
	if c.EngineCC != 0 {
		request["engine_cc"] = c.EngineCC
	}
	putTrue(request, "priceCandidates", c.Prices)
	return printResult(r, c.clientConfig, c.outputOptions, "/v1/quote", request, c.Rate)
}

func put(request map[string]any, name, text string) {
	if text != "" {
		request[name] = text
	}
}

func putTrue(request map[string]any, name string, value bool) {
	if value {
		request[name] = true
	}
}

// putNumber puts a number into a request as it was written. The API checks its
// range.
func putNumber(request map[string]any, name, text string) error {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("%s: %q is not a number; example: 2650.5", name, text)
	}
	request[name] = json.RawMessage(text)
	return nil
}

// printResult posts a request and prints the result.
func printResult(r *console.Console, config clientConfig, as outputOptions, path string, request map[string]any, rate string) error {
	if err := putNumber(request, "rate", rate); err != nil {
		return err
	}
	api, err := config.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Ctx, config.Timeout)
	defer cancel()
	result, err := api.PostAndWait(ctx, path, request)
	if err != nil {
		return printRefusal(r, err, as)
	}
	if !as.Table {
		return console.WriteJSON(r.Out, result)
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(result, &estimate); err != nil {
		return fmt.Errorf("the response is not an estimate: %w", err)
	}
	return writeTable(r.Out, estimate, as.Lang)
}
