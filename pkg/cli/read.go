package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// readCommand prints the car that a page describes, or the cars of a list page.
type readCommand struct {
	console.Answer

	URL           string        `name:"url" placeholder:"URL" help:"Original URL of FILE."`
	Cards         bool          `help:"Print every car of a list page, one per line."`
	Explain       bool          `help:"Show the source of each value."`
	Timeout       time.Duration `default:"30s" help:"Maximum time to fetch the page."`
	AllowLoopback bool          `help:"Allow URLs on this machine (not in production)."`
	Page          string        `arg:"" name:"URL-or-FILE" help:"URL of a listing, a saved page, or - for standard input."`
}

// explained is a Car with the source of each value.
type explained struct {
	vehicle.Car
	Explain  []listing.Field   `json:"explain"`
	Notes    []string          `json:"notes"`
	Warnings []vehicle.Warning `json:"warnings"`
	Sold     bool              `json:"sold"`
}

// listedCar is a car of a list page, with the URL of its own page.
type listedCar struct {
	URL      string            `json:"url"`
	Car      vehicle.Car       `json:"car"`
	Explain  []listing.Field   `json:"explain,omitempty"`
	Notes    []string          `json:"notes,omitempty"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
	Sold     bool              `json:"sold,omitempty"`
}

// Run is called by kong.
func (c *readCommand) Run(r *run) error {
	if c.AllowLoopback && r.common.production() {
		return console.Usage("--allow-loopback cannot be used in production")
	}
	return r.printError(c.print(r))
}

func (c *readCommand) print(r *run) error {
	page, err := c.page(r)
	if err != nil {
		return err
	}
	if c.Cards {
		return c.printCards(r, page)
	}
	read, err := listing.Read(r.ctx, page)
	if err != nil {
		return err
	}
	if c.Explain {
		return c.Print(r.Streams, explained{
			read.Car, read.Fields, read.NotesInEnglish(), append([]vehicle.Warning{}, read.Warnings...), read.Sold,
		})
	}
	return c.Print(r.Streams, read.Car)
}

func (c *readCommand) printCards(r *run, page *fetch.Page) error {
	cards, err := listing.Cards(r.ctx, page)
	if err != nil {
		return err
	}
	if c.Text() || c.CSV() {
		const header = "NAME\tYEAR\tCC\tFUEL\tFOB USD\tC&F USD\tURL"
		return console.Listed(header, func(card listing.Card) []any {
			car := card.Car
			return []any{
				console.OneLine(car.Make, car.Model, car.ModelCode), known(car.Year), known(car.EngineCC), car.Fuel,
				priceText(car.FOBPriceUSD), priceText(car.CFPriceUSD), card.URL,
			}
		})(cards)(r.Streams, console.Format{Output: c.Output})
	}
	lines := plainjson.NewEncoder(r.Out)
	for _, card := range cards {
		line := listedCar{URL: card.URL, Car: card.Car}
		if c.Explain {
			line.Explain, line.Notes, line.Warnings, line.Sold = card.Fields, card.NotesInEnglish(), card.Warnings, card.Sold
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// known returns a number; "" for one that is not known.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func priceText(price *money.Number) string {
	if price == nil {
		return ""
	}
	return price.String()
}

// page fetches or opens the page.
func (c *readCommand) page(r *run) (*fetch.Page, error) {
	if console.IsURL(c.Page) {
		client, err := fetch.New(fetch.Options{Timeout: c.Timeout, AllowLoopback: c.AllowLoopback})
		if err != nil {
			return nil, err
		}
		r.cleanup.Add(client.Close)
		return client.Get(r.ctx, c.Page)
	}
	body, err := r.ReadFile(c.Page, maxPage)
	if err != nil {
		return nil, err
	}
	if len(body) > maxPage {
		return nil, fmt.Errorf("%s is larger than %d MB", c.Page, maxPage>>20)
	}
	return listing.FromFile(body, c.URL), nil
}

const maxPage = listing.MaxBytes

// printError prints why a page is not a readable listing, or an image not a readable
// sheet, in the form of the API and returns the exit status for it. Any other error is
// returned as it is.
func (r *run) printError(err error) error {
	page, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	said := vehicle.Error{Message: page.Message, Code: page.Code}
	if page.Details != nil {
		if err := json.Unmarshal(page.Details, &said); err != nil {
			return err
		}
	}
	return r.Refuse(said)
}
