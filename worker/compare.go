package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/advice"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// comparedCar is one of the two cars of a comparison.
type comparedCar struct {
	estimate  vehicle.Estimate
	summary   *string           // of its sheet
	condition *advice.Condition // the same in figures
	warnings  []vehicle.Warning // of its sheet
}

// recommend compares two estimated cars. Code computes the figures and the winner, and
// words the recommendation in closed sentences.
func recommend(costs *cost.Tables) stepFunc {
	return func(_ context.Context, job *jobs.Job) (any, error) {
		var input tasks.CompareInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return nil, fmt.Errorf("worker: input: %w", err)
		}
		terms, err := input.Terms()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		car1, err1 := newComparedCar(job, tasks.ChildCar1, tasks.ChildSheet1, "1", input.Lang)
		car2, err2 := newComparedCar(job, tasks.ChildCar2, tasks.ChildSheet2, "2", input.Lang)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		pair := advice.Pair{
			Car1: costs.Apply(car1.estimate, terms, now), Condition1: car1.condition,
			Car2: costs.Apply(car2.estimate, terms, now), Condition2: car2.condition,
		}
		verdict := advice.Judge(pair)
		used := money.NewNumber(terms.Rate)
		first, second := pair.Cars()
		return vehicle.Comparison{
			Object: vehicle.ObjectComparison,
			Car1:   first, Car2: second, CondReport1: car1.summary, CondReport2: car2.summary,
			Recommendation: advice.Write(verdict, pair, input.Lang), Rate: &used, Lang: input.Lang, Verdict: &verdict,
			Warnings: slices.Concat(car1.warnings, car2.warnings),
		}, nil
	}
}

// newComparedCar decodes the estimate and the sheet of a car. A sheet that could
// not be read becomes a warning.
func newComparedCar(job *jobs.Job, car, sheetName, n, lang string) (c comparedCar, err error) {
	if err := json.Unmarshal(job.Children[car].Result, &c.estimate); err != nil {
		return c, fmt.Errorf("worker: %s: %w", car, err)
	}
	child, has := job.Children[sheetName]
	switch {
	case !has:
		return c, nil
	case child.State != jobs.Succeeded:
		why := reasonOf(child)
		c.warnings = append(c.warnings, message.New("warning/sheet_not_read", message.Values{"car": n, "reason": why.Code}))
		return c, nil
	}
	_, report, err := sheet.ParseReading(child.Result)
	if err != nil {
		return c, err
	}
	mismatches := sheet.Compare(report, c.estimate.Car)
	summary, err := render.Text(report, lang, mismatches)
	if err != nil {
		return c, err
	}
	c.summary, c.condition = &summary, advice.NewCondition(report, mismatches)
	if len(mismatches) > 0 {
		c.warnings = append(c.warnings, mismatchWarning(n, mismatches))
	}
	return c, nil
}

// mismatchWarning names the values in which the sheet of car n and its listing
// differ.
func mismatchWarning(n string, mismatches []sheet.Mismatch) vehicle.Warning {
	list := func(lang string) string {
		fields := make([]string, len(mismatches))
		for i, m := range mismatches {
			fields[i] = fmt.Sprintf("%s (%s / %s)", m.Name(lang), m.Sheet, m.Listing)
		}
		return strings.Join(fields, ", ")
	}
	const key = "warning/sheet_mismatch"
	fields := message.Text{EN: list(message.English), SW: list(message.Swahili)}
	text := message.SayWith(key, message.Values{"car": n}, map[string]message.Text{"fields": fields})
	w := message.New(key, message.Values{"car": n, "fields": fields.EN})
	w.Text, w.Message = &text, text.EN
	return w
}

// reasonOf returns why a sheet was not read.
func reasonOf(child jobs.Child) *jobs.Error {
	if child.Error == nil {
		return &jobs.Error{Notice: message.New("error/cancelled.reading", nil)}
	}
	return child.Error
}
