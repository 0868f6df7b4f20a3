package cli

import (
	"errors"
	"os"

	"ushuru/pkg/match"
	"ushuru/pkg/match/evaluate"
	"ushuru/pkg/tra"
)

// matchCommand matches cars against a catalogue.
type matchCommand struct {
	redisConfig
	aiConfig
	Catalogue string `type:"existingfile" help:"CSV file with the columns make and label; the default is the catalogue in Redis."`
	Explain   bool   `help:"Add the candidates that were considered."`
	File      string `arg:"" optional:"" default:"-" help:"JSON lines with make, model, version, modelCode, year, engine_cc, fuel, body; - is standard input."`
}

// Run is called by kong.
func (c *matchCommand) Run(r *run) error {
	catalogue, facts, err := c.catalogue(r)
	if err != nil {
		return err
	}
	options, err := r.matching(c.aiConfig)
	if err != nil {
		return err
	}
	options.Facts = facts
	in, err := r.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return evaluate.Lines(r.ctx, match.New(options), in, r.Out, catalogue, c.Explain)
}

func (c *matchCommand) catalogue(r *run) (*tra.Catalogue, match.Facts, error) {
	if c.Catalogue != "" {
		return readCatalogue(c.Catalogue)
	}
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return nil, nil, err
	}
	catalogue, err := tra.NewStore(conn.Client(), tra.StoreOptions{}).Catalogue(r.ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, nil, errors.New(
			"the catalogue has not been synced; start a worker with the role authority, or use --catalogue")
	}
	return catalogue, nil, err
}

func readCatalogue(name string) (*tra.Catalogue, match.Facts, error) {
	file, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	return match.LoadCatalogueCSV(file)
}
