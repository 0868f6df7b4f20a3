// Package evaluate measures pkg/match: it matches labelled cases, counts what
// was right, wrong and abstained by kind, and matches listings given as JSON
// lines. The product never imports it.
package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Case is one labelled listing: the fields as a page gives them, and the
// expected outcome where it is known.
type Case struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Make      string `json:"make"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	ModelCode text   `json:"model_code"`
	Year      text   `json:"year"`
	CC        text   `json:"cc"`
	Fuel      string `json:"fuel"`
	Body      string `json:"body"`
	Frame     text   `json:"frame_number"`

	Expect string `json:"expect"` // match, ambiguous, fuzzy, abstain; empty when it is not known
	Gold   []Gold `json:"gold_labels"`
}

// Gold is a correct label of a case.
type Gold struct {
	Make  string `json:"make"`
	Label string `json:"label"`
}

// Result is the outcome of one case: one line of the evaluation.
type Result struct {
	ID         string             `json:"id"`
	Outcome    string             `json:"outcome"`    // match, ambiguous or none
	MatchType  vehicle.MatchType  `json:"matchType"`  // empty without a match, as are the next three
	Confidence vehicle.Confidence `json:"confidence"` // of Resolve, with the lists that the catalogue's facts promise
	Make       string             `json:"make"`
	ModelBody  string             `json:"modelBody"`
	Candidates []match.Scored     `json:"candidates"` // best first, at most ten; never null
}

// ReadCases parses cases, one JSON object per line.
func ReadCases(in io.Reader) ([]Case, error) {
	decoder := json.NewDecoder(in)
	var cases []Case
	for {
		var c Case
		err := decoder.Decode(&c)
		if errors.Is(err, io.EOF) {
			return cases, nil
		}
		if err != nil {
			return nil, fmt.Errorf("evaluate: case %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
}

// car converts a case to a Car, as reading a page would.
func (c Case) car() vehicle.Car {
	code, _ := chassis.Parse(string(c.ModelCode))
	model := c.Title
	if n := len(c.Make); len(model) >= n && strings.EqualFold(model[:n], c.Make) {
		model = model[n:]
	}
	return vehicle.Car{
		Make: strings.TrimSpace(c.Make), Model: strings.TrimSpace(model), Version: c.Version,
		RawModelCode: string(c.ModelCode), ModelCode: code.Code,
		Year: readYear(string(c.Year)), EngineCC: readCC(string(c.CC)),
		Fuel: c.Fuel, BodyType: c.Body, FrameNumber: string(c.Frame),
	}
}

// Run matches one case. It returns an error only when the context ends.
func Run(ctx context.Context, matcher *match.Matcher, c Case, cat *catalogue.Catalogue) (Result, error) {
	car := c.car()
	choice, scored, err := matcher.Explain(ctx, car, cat)
	result := Result{ID: c.ID, Outcome: "none", Candidates: append([]match.Scored{}, scored...)}
	if refused, ok := errors.AsType[*match.Error](err); ok {
		if refused.Code == match.AmbiguousMatch {
			result.Outcome = "ambiguous"
		}
		return result, nil
	}
	if err != nil {
		return Result{}, err
	}
	result.Outcome, result.MatchType, result.Make, result.ModelBody = "match", choice.MatchType, choice.Make.Name, choice.Label
	return resolve(ctx, matcher, car, choice, result)
}

// resolve runs the second step of a match, with the lists that the catalogue's
// facts promise. A car without a year, which the service would refuse, is low.
func resolve(ctx context.Context, matcher *match.Matcher, car vehicle.Car, choice match.Choice, result Result) (Result, error) {
	lists := expectedLists{matcher, car}
	if car.Year == 0 {
		years, _ := lists.List(ctx, choice.Make, catalogue.Vehicle{ModelBody: choice.Label})
		car.Year = slices.Max(catalogue.YearsOf(years))
		choice.Adjustments = append(slices.Clone(choice.Adjustments), vehicle.Adjustment{Field: "yom", From: 0, To: car.Year})
	}
	matched, _, err := match.Resolve(ctx, car, choice, lists)
	if refused, ok := errors.AsType[*match.Error](err); ok {
		result = Result{ID: result.ID, Outcome: "none", Candidates: result.Candidates}
		if refused.Code == match.AmbiguousMatch {
			result.Outcome = "ambiguous"
		}
		return result, nil
	}
	result.Confidence = matched.Confidence
	return result, err
}

// isGold reports whether a label is a correct one of the case.
func (c Case) isGold(mk, label string) bool {
	return slices.ContainsFunc(c.Gold, func(g Gold) bool { return g.Label == label && (g.Make == "" || g.Make == mk) })
}

// recalled reports whether the candidates include a correct label; for an
// ambiguous case all correct labels, as far as ten candidates can hold them.
func (c Case) recalled(result Result) bool {
	hits := 0
	for _, s := range result.Candidates {
		if c.isGold(s.Make, s.ModelBody) {
			hits++
		}
	}
	if c.Expect == "ambiguous" {
		return hits >= min(len(c.Gold), match.MaxCandidates)
	}
	return hits > 0
}
