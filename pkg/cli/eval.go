package cli

import (
	"os"

	"ushuru/pkg/match"
	"ushuru/pkg/match/evaluate"
	"ushuru/pkg/plainjson"
)

// evalCommand evaluates against cases whose answers are known.
type evalCommand struct {
	Match evalMatch `cmd:"" help:"Match cases against a catalogue: correct, wrong, abstained and recall@10 by kind."`
}

type evalMatch struct {
	aiConfig
	Catalogue string `type:"existingfile" required:"" help:"CSV file with the columns make and label, and cc, fuel, year_from, year_to if known."`
	Cases     string `type:"existingfile" required:"" help:"JSON lines with id, kind, make, title, version, model_code, year, cc, fuel, body; expect and gold_labels if known."`
	Lines     bool   `help:"Print a JSON line for each case instead; so it is too when no case has an expectation."`
}

// Run is called by kong.
func (c *evalMatch) Run(r *run) error {
	defer r.close()
	catalogue, facts, err := readCatalogue(c.Catalogue)
	if err != nil {
		return err
	}
	file, err := os.Open(c.Cases)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	cases, err := evaluate.ReadCases(file)
	if err != nil {
		return err
	}
	model, err := r.model(c.aiConfig, nil, nil)
	if err != nil {
		return err
	}
	options := c.matching(model)
	options.Facts = facts
	matcher, report := match.New(options), evaluate.NewReport()
	all := make([]evaluate.Result, 0, len(cases))
	for _, one := range cases {
		found, err := evaluate.Run(r.ctx, matcher, one, catalogue)
		if err != nil {
			return err
		}
		all = append(all, found)
		report.Add(one, found)
	}
	if !c.Lines && report.Cases() > 0 {
		return report.Write(r.Out)
	}
	encoder := plainjson.NewEncoder(r.Out)
	for _, found := range all {
		if err := encoder.Encode(found); err != nil {
			return err
		}
	}
	return nil
}
