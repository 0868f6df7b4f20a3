package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// finish makes the answer of an estimate from its result: with its cost on the terms of the
// request, and with the source of each value when the request wants that. The explanation is
// cached beside the estimate, so that callers who do not ask for it get the cached bytes as they
// are.
func (s *Resource) finish(r *request.Request, result []byte, input tasks.EstimateInput) ([]byte, error) {
	estimate, err := s.priced(r, result, vehicle.FromListing)
	if err != nil || !r.Explain {
		return estimate, err
	}
	explanation, err := s.explanation(r.Context(), input)
	if err != nil {
		return nil, err
	}
	return jsonobject.Merge(estimate, explanation), nil
}

// explained adds the source of each value to the error of a car that was read but not matched,
// when the request wants that.
func (s *Resource) explained(r *request.Request, err error, input tasks.EstimateInput) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if !r.Explain || !ok || p.Car == nil {
		return err
	}
	explanation, readErr := s.explanation(r.Context(), input)
	if readErr != nil {
		return err // the error of the request is more useful
	}
	explained := *p
	explained.Explained = explanation
	return &explained
}

// pricing is what the cost of an estimate depends on.
type pricing struct {
	Terms    vehicle.Terms
	Source   vehicle.Source
	Warnings []vehicle.Warning
}

// priced returns an estimate with its cost on the terms of a request.
func (s *Resource) priced(r *request.Request, result []byte, source vehicle.Source) ([]byte, error) {
	warnings := r.Warnings()
	price := func() ([]byte, error) { return terms.Priced(s.options.Costs, result, r.Terms, source, warnings) }
	if r.Terms.IsZero() {
		return s.options.Limits.Compute(r, price)
	}
	return s.options.Limits.ComputeOnce(r, result, pricing{r.Terms, source, warnings}, price)
}

// noExplanation replaces an explanation that is no longer cached.
func noExplanation() []byte {
	said := message.SayCoded("note/no_sources", nil)
	body, _ := plainjson.Encode(map[string]any{"explain": []any{}, "notes": []string{said.EN}, "noteTexts": []any{said}})
	return body
}

// explanation returns the source of each value that was read of a listing, as a JSON object.
// Values of the request replace those of the listing.
func (s *Resource) explanation(ctx context.Context, input tasks.EstimateInput) ([]byte, error) {
	explanation, err := s.options.Cache.Get(ctx, cache.ExplanationKey(input.PageKey()))
	if err != nil {
		return nil, err
	}
	if explanation == nil {
		explanation = noExplanation()
	}
	return explainKnown(explanation, input.Known)
}

// sourceRequest is the source of a value that the caller gave.
const sourceRequest = "request"

// explainKnown marks the values of the request in an explanation. The value of
// the listing becomes one that was not taken.
func explainKnown(explanation []byte, known *vehicle.Known) ([]byte, error) {
	if known == nil {
		return explanation, nil
	}
	var parts struct {
		Explain []map[string]any `json:"explain"`
		Notes   []string         `json:"notes"`
		// NoteTexts are Notes in both languages.
		NoteTexts json.RawMessage `json:"noteTexts,omitempty"`
	}
	var values map[string]any
	encoded, err := plainjson.Encode(known)
	if err == nil {
		err = errors.Join(json.Unmarshal(encoded, &values), json.Unmarshal(explanation, &parts))
	}
	if err != nil {
		return nil, fmt.Errorf("estimates: explanation: %w", err)
	}
	overridden := message.Say("explain/overridden", nil)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		entry := map[string]any{"name": name, "value": fmt.Sprint(values[name]), "source": sourceRequest}
		at := slices.IndexFunc(parts.Explain, func(field map[string]any) bool { return field["name"] == name })
		if at < 0 {
			parts.Explain = append(parts.Explain, entry)
			continue
		}
		if listed := parts.Explain[at]; listed["value"] != "" {
			entry["others"] = []map[string]any{{
				"value": listed["value"], "source": listed["source"], "rank": listed["rank"],
				"reason": overridden.EN, "code": "overridden", "text": overridden,
			}}
		}
		parts.Explain[at] = entry
	}
	return plainjson.Encode(parts)
}
