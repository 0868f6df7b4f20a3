package bench

import (
	"context"
	"io"

	"ushuru/pkg/match"
	"ushuru/pkg/match/evaluate"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra/catalogue"
)

// EvaluateMatch matches cases against a catalogue and prints how many results
// are correct. With lines, and when no case has an expectation, it prints a
// JSON line for each case instead.
func EvaluateMatch(
	ctx context.Context, cases io.Reader, out io.Writer, matcher *match.Matcher, cat *catalogue.Catalogue, lines bool,
) error {
	read, err := evaluate.ReadCases(cases)
	if err != nil {
		return err
	}
	report := evaluate.NewReport()
	all := make([]evaluate.Result, 0, len(read))
	for _, one := range read {
		found, err := evaluate.Run(ctx, matcher, one, cat)
		if err != nil {
			return err
		}
		all = append(all, found)
		report.Add(one, found)
	}
	if !lines && report.Cases() > 0 {
		return report.Write(out)
	}
	encoder := plainjson.NewEncoder(out)
	for _, found := range all {
		if err := encoder.Encode(found); err != nil {
			return err
		}
	}
	return nil
}
