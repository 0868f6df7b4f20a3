package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/pkg/match"
	"ushuru/pkg/match/evaluate"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/selection"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
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

// matchCommand matches cars against a catalogue.
type matchCommand struct {
	service.Redis
	AIConfig
	console.Answer

	Catalogue string `type:"existingfile" help:"CSV file with the columns make and label, - for standard input; the default is the catalogue in Redis."`
	Explain   bool   `help:"Add the candidates that were considered."`
	File      string `arg:"" optional:"" default:"-" help:"JSON lines with make, model, version, modelCode, year, engine_cc, fuel, body; - is standard input."`
}

// Run is called by kong.
func (c *matchCommand) Run(r *run) error {
	cat, known, err := c.catalogue(r)
	if err != nil {
		return err
	}
	options, err := r.matching(c.AIConfig)
	if err != nil {
		return err
	}
	options.Facts = known
	in, err := r.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if !c.Text() && !c.CSV() {
		return evaluate.Lines(r.ctx, match.New(options), in, r.Out, cat, c.Explain)
	}
	var lines bytes.Buffer
	if err := evaluate.Lines(r.ctx, match.New(options), in, &lines, cat, c.Explain); err != nil {
		return err
	}
	var found []matchedLine
	for decoder := json.NewDecoder(&lines); ; {
		var line matchedLine
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		found = append(found, line)
	}
	const header = "ID\tMAKE\tLABEL\tTYPE\tCONFIDENCE\tREASON\tCODE"
	return console.Listed(header, func(l matchedLine) []any {
		return []any{
			strings.Trim(string(l.ID), `"`), l.Make, l.ModelBody, l.MatchType, l.Confidence,
			cmp.Or(l.Error, l.MatchReason), l.Code,
		}
	})(found)(r.Streams, console.Format{Output: c.Output})
}

// matchedLine is what a table shows of the outcome of a line.
type matchedLine struct {
	ID          json.RawMessage `json:"id"`
	Make        string          `json:"make"`
	ModelBody   string          `json:"modelBody"`
	MatchType   string          `json:"matchType"`
	Confidence  string          `json:"confidence"`
	MatchReason string          `json:"matchReason"`
	Error       string          `json:"error"`
	Code        string          `json:"code"`
}

func (c *matchCommand) catalogue(r *run) (*catalogue.Catalogue, facts.Facts, error) {
	if c.Catalogue != "" {
		return readCatalogue(r, c.Catalogue)
	}
	conn, err := r.connect(c.Redis, false, false)
	if err != nil {
		return nil, nil, err
	}
	cat, err := tra.NewStore(conn.Client(), tra.StoreOptions{}).Catalogue(r.ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, nil, errors.New(
			"the catalogue has not been synced; start a worker with the role authority, or use --catalogue")
	}
	return cat, nil, err
}

func readCatalogue(r *run, name string) (*catalogue.Catalogue, facts.Facts, error) {
	file, err := r.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	return facts.LoadCSV(file)
}

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

// model returns the AI of the settings for a command that has no Redis: no
// answer is cached and no token counted. It is nil without an AI.
func (r *run) model(config AIConfig) (*ai.Client, error) {
	options, err := config.options()
	if err != nil || len(options.Endpoints) == 0 {
		return nil, err
	}
	options.DailyTokens, options.AnswerTTL, options.Log = 0, 0, r.log
	client, err := ai.New(options)
	if err != nil {
		return nil, err
	}
	r.cleanup.Add(client.Close)
	return client, nil
}

// Matching returns how cars are matched by settings of the AI.
type Matching func(AIConfig) (match.Options, error)

// matching returns how cars are matched: with the AI of the settings, or
// without.
func (r *run) matching(config AIConfig) (match.Options, error) {
	model, err := r.model(config)
	if err != nil || model == nil {
		return match.Options{}, err
	}
	return match.Options{Chooser: selection.NewAI(model).Choose}, nil
}

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
