package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// readCommand prints the car that a page describes, or those that it lists.
type readCommand struct {
	URL           string        `name:"url" placeholder:"URL" help:"Where a FILE was saved from; some pages say less without it."`
	Cards         bool          `help:"Print the cars of a page that lists several, one a line."`
	Explain       bool          `help:"Add where each value came from."`
	Timeout       time.Duration `default:"30s" help:"Longest time for fetching the page."`
	AllowLoopback bool          `help:"Also read pages that this machine serves. Refused in production."`
	Page          string        `arg:"" name:"URL-or-FILE" help:"Address of a listing, a saved page, or - for standard input."`
}

// explained is a Car with where its values came from.
type explained struct {
	vehicle.Car
	Explain []listing.Field `json:"explain"`
	Notes   []string        `json:"notes"`
}

// listedCar is a car of a list, with the address of its own page.
type listedCar struct {
	URL     string          `json:"url"`
	Car     vehicle.Car     `json:"car"`
	Explain []listing.Field `json:"explain,omitempty"`
	Notes   []string        `json:"notes,omitempty"`
}

// Run is called by kong.
func (c *readCommand) Run(r *run) error {
	if c.AllowLoopback && r.common.production() {
		return errors.New("--allow-loopback is refused in production")
	}
	return r.refused(c.print(r))
}

func (c *readCommand) print(r *run) error {
	page, err := c.page(r)
	if err != nil {
		return err
	}
	if c.Cards {
		return c.printCards(r, page)
	}
	read, err := listing.Read(page)
	if err != nil {
		return err
	}
	if c.Explain {
		return writeJSON(r.Out, explained{read.Car, read.Fields, append([]string{}, read.Notes...)})
	}
	return writeJSON(r.Out, read.Car)
}

func (c *readCommand) printCards(r *run, page *fetch.Page) error {
	cards, err := listing.Cards(page)
	if err != nil {
		return err
	}
	lines := plainjson.NewEncoder(r.Out)
	for _, card := range cards {
		line := listedCar{URL: card.URL, Car: card.Car}
		if c.Explain {
			line.Explain, line.Notes = card.Fields, card.Notes
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// page fetches or opens the page.
func (c *readCommand) page(r *run) (*fetch.Page, error) {
	if isURL(c.Page) {
		client, err := fetch.New(fetch.Options{Timeout: c.Timeout, AllowLoopback: c.AllowLoopback})
		if err != nil {
			return nil, err
		}
		r.cleanup.Add(client.Close)
		return client.Get(r.ctx, c.Page)
	}
	body, err := r.readFile(c.Page, maxPage)
	if err != nil {
		return nil, err
	}
	if len(body) > maxPage {
		return nil, fmt.Errorf("%s is larger than %d MB", c.Page, maxPage>>20)
	}
	return listing.FromFile(body, c.URL), nil
}

const maxPage = 12 << 20

func writeJSON(w io.Writer, value any) error {
	encoder := plainjson.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
