package commands

import (
	"os"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/lab/bench"
	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
)

// evalCommand evaluates against labelled cases.
type evalCommand struct {
	Listings evalListings `cmd:"" help:"Read pages and compare them with their truth: precision, recall and F1 of each attribute, as a table in Markdown."`
	Match    evalMatch    `cmd:"" help:"Match cases against a catalogue: correct, wrong, abstained and recall@10 by kind."`
}

type evalMatch struct {
	cli.AIConfig

	Catalogue string `type:"existingfile" required:"" help:"CSV file with the columns make and label, and cc, fuel, year_from, year_to if known."`
	Cases     string `type:"existingfile" required:"" help:"JSON lines with id, kind, make, title, version, model_code, year, cc, fuel, body; expect and gold_labels if known."`
	Lines     bool   `help:"Print a JSON line for each case instead, as is done when no case has an expectation."`
}

// Run is called by kong.
func (c *evalMatch) Run(s *service.Session, matching cli.Matching) error {
	file, err := os.Open(c.Catalogue)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	catalogue, known, err := facts.LoadCSV(file)
	if err != nil {
		return err
	}
	cases, err := os.Open(c.Cases)
	if err != nil {
		return err
	}
	defer func() { _ = cases.Close() }()
	options, err := matching(c.AIConfig)
	if err != nil {
		return err
	}
	options.Facts = known
	return bench.EvaluateMatch(s.Ctx, cases, s.Out, match.New(options), catalogue, c.Lines)
}

type evalListings struct {
	Folder string `type:"existingdir" default:"pkg/listing/testdata" help:"Folder with pages and truth.txt."`
}

// Run is called by kong.
func (c *evalListings) Run(s *service.Session) error {
	return bench.EvaluateListings(s.Ctx, s.Out, c.Folder)
}
