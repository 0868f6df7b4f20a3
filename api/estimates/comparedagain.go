package estimates

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/advice"
	"ushuru/pkg/cache"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// comparedAgain returns a comparison that is kept on the terms of a request, and for cars
// that are bought today: figures, verdict and text are made again, without asking anything
// and without changing what is kept. It is nil when that cannot be done, because the
// reading of a sheet is not kept any more.
func (s *Resource) comparedAgain(
	ctx context.Context, turn *pace.Turn, kept []byte, input tasks.CompareInput,
) ([]byte, error) {
	var c vehicle.Comparison
	if err := json.Unmarshal(kept, &c); err != nil {
		return nil, fmt.Errorf("comparisons: cached comparison: %w", err)
	}
	terms, err := input.Terms()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	pair := advice.Pair{Car1: s.options.Costs.Apply(c.Car1, terms, now), Car2: s.options.Costs.Apply(c.Car2, terms, now)}
	if c.Rate != nil && c.Rate.Decimal().Equal(terms.Rate) && isSameCost(c.Car1, pair.Car1) && isSameCost(c.Car2, pair.Car2) {
		return kept, nil
	}
	turn.Give()
	whole := true
	for _, car := range []struct {
		report    *string
		estimate  vehicle.Estimate
		condition **advice.Condition
	}{{c.CondReport1, pair.Car1, &pair.Condition1}, {c.CondReport2, pair.Car2, &pair.Condition2}} {
		if car.report != nil {
			if *car.condition, _, err = s.conditionOf(ctx, car.estimate, input.Owner, input.Lang); err != nil {
				return nil, err
			}
			whole = whole && *car.condition != nil
		}
	}
	if !whole {
		return nil, nil
	}
	if err := turn.Take(ctx); err != nil {
		return nil, err
	}
	verdict := advice.Judge(pair)
	c.Car1, c.Car2 = pair.Cars()
	c.Verdict = &verdict
	c.Recommendation = advice.Write(verdict, pair, input.Lang)
	rate := money.NewNumber(terms.Rate)
	c.Rate = &rate
	c.Cached = true
	return plainjson.Encode(c)
}

// isSameCost reports whether an estimate has the same cost as another one of the same car.
func isSameCost(a, b vehicle.Estimate) bool {
	first, err1 := plainjson.Encode([]any{a.Summary, a.DriveAway, a.Warnings})
	second, err2 := plainjson.Encode([]any{b.Summary, b.DriveAway, b.Warnings})
	return err1 == nil && err2 == nil && bytes.Equal(first, second)
}

// Compare compares two estimates in a language, with the readings of their sheets that are kept. It
// asks nobody, and keeps nothing.
func (s *Resource) Compare(ctx context.Context, car1, car2 vehicle.Estimate, lang, owner string) (c vehicle.Comparison, err error) {
	pair := advice.Pair{Car1: car1, Car2: car2}
	if pair.Condition1, c.CondReport1, err = s.conditionOf(ctx, car1, owner, lang); err != nil {
		return c, err
	}
	if pair.Condition2, c.CondReport2, err = s.conditionOf(ctx, car2, owner, lang); err != nil {
		return c, err
	}
	verdict := advice.Judge(pair)
	c.Object, c.Lang, c.Verdict = vehicle.ObjectComparison, lang, &verdict
	c.Recommendation = advice.Write(verdict, pair, lang)
	c.Car1, c.Car2 = pair.Cars()
	return c, nil
}

// conditionOf returns the condition of a car by the kept reading of its sheet, and what that says
// in a language; nil for a car without a sheet, and for one whose reading is not kept.
func (s *Resource) conditionOf(
	ctx context.Context, e vehicle.Estimate, owner, lang string,
) (condition *advice.Condition, summary *string, err error) {
	if e.Car.ConditionReportURL == nil {
		return nil, nil, nil
	}
	input := tasks.ReportInput{URL: *e.Car.ConditionReportURL}.For(owner)
	reading, err := s.options.Work.CachedResult(ctx, cache.ReadingKey(input.ID()))
	if err != nil || reading == nil {
		return nil, nil, err
	}
	_, read, err := sheet.ParseReading(reading)
	if err != nil {
		return nil, nil, err
	}
	mismatches := sheet.Compare(read, e.Car)
	text, err := render.Text(read, lang, mismatches)
	return advice.NewCondition(read, mismatches), &text, err
}
