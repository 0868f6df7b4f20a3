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
	var has1, has2 bool
	if pair.Condition1, has1, err = s.conditionOf(ctx, c.CondReport1, pair.Car1, input.Owner); err != nil {
		return nil, err
	}
	if pair.Condition2, has2, err = s.conditionOf(ctx, c.CondReport2, pair.Car2, input.Owner); err != nil || !has1 || !has2 {
		return nil, err
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

// conditionOf returns the condition of a car by the kept reading of its sheet; false when
// that is not kept any more. A car without a report has none.
func (s *Resource) conditionOf(
	ctx context.Context, report *string, e vehicle.Estimate, owner string,
) (condition *advice.Condition, ok bool, err error) {
	if report == nil {
		return nil, true, nil
	}
	if e.Car.ConditionReportURL == nil {
		return nil, false, nil
	}
	input := tasks.ReportInput{URL: *e.Car.ConditionReportURL}.For(owner)
	reading, err := s.options.Cache.Get(ctx, cache.ReadingKey(input.ID()))
	if err != nil || reading == nil {
		return nil, false, err
	}
	_, read, err := sheet.ParseReading(reading)
	if err != nil {
		return nil, false, err
	}
	return advice.NewCondition(read, sheet.Compare(read, e.Car)), true, nil
}
