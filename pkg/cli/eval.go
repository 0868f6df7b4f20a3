package cli

import (
	"os"

	"ushuru/pkg/lab"
	"ushuru/pkg/match"
)

// evalCommand evaluates against labelled cases.
type evalCommand struct {
	Match evalMatch `cmd:"" help:"Match cases against a catalogue: correct, wrong, abstained and recall@10 by kind."`
}

type evalMatch struct {
	aiConfig
	Catalogue string `type:"existingfile" required:"" help:"CSV file with the columns make and label, and cc, fuel, year_from, year_to if known."`
	Cases     string `type:"existingfile" required:"" help:"JSON lines with id, kind, make, title, version, model_code, year, cc, fuel, body; expect and gold_labels if known."`
	Lines     bool   `help:"Print a JSON line for each case instead, as is done when no case has an expectation."`
}

// Run is called by kong.
func (c *evalMatch) Run(r *run) error {
	catalogue, facts, err := readCatalogue(c.Catalogue)
	if err != nil {
		return err
	}
	cases, err := os.Open(c.Cases)
	if err != nil {
		return err
	}
	defer func() { _ = cases.Close() }()
	options, err := r.matching(c.aiConfig)
	if err != nil {
		return err
	}
	options.Facts = facts
	return lab.EvaluateMatch(r.ctx, cases, r.Out, match.New(options), catalogue, c.Lines)
}
