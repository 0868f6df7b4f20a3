package vehicles

import (
	"context"
	"errors"
	"net/url"
	"time"

	"ushuru/api/terms"
	"ushuru/pkg/chassis"
	"ushuru/pkg/localtime"
	"ushuru/pkg/match"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// KnownCosts returns what a car costs as some entries of its make, by the entry, on the terms of the
// address of a page and as of the time at which it was made, as far as the known answers of the
// authority say. It never asks the authority.
func (s *Resource) KnownCosts(
	ctx context.Context, car vehicle.Car, labels []string, query url.Values, made time.Time,
) (map[string]vehicle.Estimate, error) {
	priced, given, err := terms.OfAddress(query, made)
	if err != nil {
		return nil, err
	}
	given.Apply(&car)
	cat, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, nil //nolint:nilnil // none is known
	}
	if err != nil {
		return nil, err
	}
	costs := map[string]vehicle.Estimate{}
	for _, label := range labels {
		input := vehicle.QuoteInput{
			Make: chassis.Normalise(car.Make), ModelBody: label, Year: car.Year, Fuel: car.Fuel, EngineCC: car.EngineCC,
		}
		choice, err := s.matcher.ChooseLabel(input.Car(), cat, label)
		if err != nil {
			continue // the list has changed
		}
		matched, got, err := s.knownAnswer(ctx, choice, input)
		if _, refused := errors.AsType[*match.Error](err); refused || errors.Is(err, tra.ErrNotKnown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known := vehicle.Estimate{Car: car, Matched: matched, Tax: got.Tax, AsOf: localtime.Stamp(got.At)}
		answer := s.options.Costs.Calculate(known, priced, made)
		known.Summary = &answer.Summary
		costs[label] = known
	}
	return costs, nil
}
