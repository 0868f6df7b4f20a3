package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/match"
	"ushuru/pkg/match/evaluate"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
)

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
