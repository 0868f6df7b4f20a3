package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// Case is a listing as a page gives it, with the truth if it is known.
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

	Expect string `json:"expect"` // match, ambiguous, fuzzy, abstain; empty: not known
	Gold   []Gold `json:"gold_labels"`
}

// Gold is a label that is right.
type Gold struct {
	Make  string `json:"make"`
	Label string `json:"label"`
}

// Found is what was made of a case: one line of the evaluation.
type Found struct {
	ID         string             `json:"id"`
	Outcome    string             `json:"outcome"`    // match, ambiguous or none
	MatchType  vehicle.MatchType  `json:"matchType"`  // empty without a match, as are the next three
	Confidence vehicle.Confidence `json:"confidence"` // as Resolve would give it with the catalogue's facts
	Make       string             `json:"make"`
	ModelBody  string             `json:"modelBody"`
	Candidates []Scored           `json:"candidates"` // best first, at most ten; never null
}

// ReadCases reads cases, one JSON object a line.
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
			return nil, fmt.Errorf("match: case %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
}

// car makes a Car of a case, as reading a page would.
func (c Case) car() vehicle.Car {
	code, _ := chassis.Parse(string(c.ModelCode))
	model := c.Title
	if n := len(c.Make); len(model) >= n && strings.EqualFold(model[:n], c.Make) {
		model = model[n:]
	}
	return vehicle.Car{
		Make: strings.TrimSpace(c.Make), Model: strings.TrimSpace(model), Version: c.Version,
		RawModelCode: string(c.ModelCode), ModelCode: code.Code, Year: ReadYear(string(c.Year)), EngineCC: ReadCC(string(c.CC)),
		Fuel: c.Fuel, BodyType: c.Body,
	}
}

// Evaluate matches one case. Its error is a context's.
func (m *Matcher) Evaluate(ctx context.Context, c Case, cat *tra.Catalogue) (Found, error) {
	car := c.car()
	choice, scored, err := m.Explain(ctx, car, cat)
	found := Found{ID: c.ID, Outcome: "none", Candidates: append([]Scored{}, scored...)}
	if refused, ok := errors.AsType[*Error](err); ok {
		if refused.Code == AmbiguousMatch {
			found.Outcome = "ambiguous"
		}
		return found, nil
	}
	if err != nil {
		return Found{}, err
	}
	found.Outcome, found.MatchType, found.Make, found.ModelBody = "match", choice.MatchType, choice.Make.Name, choice.Label
	found.Confidence = Confidence(choice.MatchType, m.foreseenAdjustments(car, choice))
	return found, nil
}

// foreseenAdjustments are those of the choice, and those that Resolve would
// add if the authority listed what the facts say.
func (m *Matcher) foreseenAdjustments(car vehicle.Car, choice Choice) []vehicle.Adjustment {
	label := tra.ParseLabel(choice.Make, choice.Label)
	fact := m.options.Facts.of(label)
	adjusted := slices.Clone(choice.Adjustments)
	if off := fact.yearsOff(car.Year); car.Year != 0 && off > 0 {
		_, years := pickYear(car.Year, slices.DeleteFunc([]int{fact.From, fact.To}, func(year int) bool { return year == 0 }))
		adjusted = append(adjusted, years...)
	}
	if word, known := authorityWords[labelFuel(label, fact)]; known {
		code, _ := chassis.Parse(car.RawModelCode)
		_, fuels, _ := pickFuel(car, code, label, []string{word}) // what it refuses, the choice did not
		adjusted = append(adjusted, fuels...)
	}
	return adjusted
}

// isGold says whether a label is right for the case.
func (c Case) isGold(mk, label string) bool {
	return slices.ContainsFunc(c.Gold, func(g Gold) bool { return g.Label == label && (g.Make == "" || g.Make == mk) })
}

// recalled says whether the candidates hold a right label; for an ambiguous
// case all of them, as far as ten can.
func (c Case) recalled(found Found) bool {
	hits := 0
	for _, s := range found.Candidates {
		hits += b2i(c.isGold(s.Make, s.ModelBody))
	}
	if c.Expect == "ambiguous" {
		return hits >= min(len(c.Gold), maxCandidates)
	}
	return hits > 0
}
