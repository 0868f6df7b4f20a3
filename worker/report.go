package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"

	"ushuru/pkg/sheet/render"
)

// summarize writes the text of a sheet that has been read, and holds the sheet
// against the listing that it belongs to, when that is known.
func summarize(results *cache.Cache) stepFunc {
	return func(ctx context.Context, job *jobs.Job) (any, error) {
		var input tasks.ReportInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return nil, fmt.Errorf("worker: input: %w", err)
		}
		listed, err := listingOf(ctx, results, input.ID())
		if err != nil {
			return nil, err
		}
		read, err := readingOf(job.Children[tasks.ChildReading])
		if err != nil {
			return nil, err
		}
		answer := vehicle.ConditionReport{ID: input.ID(), Lang: input.Lang, Report: read.raw}
		var differ []sheet.Mismatch
		if listed != nil {
			differ = sheet.Check(read.Report, factsOf(listed.Car))
			answer.Listing, answer.Mismatches = listed.Input.URL, mismatches(differ)
		}
		answer.Summary, err = render.Text(read.Report, input.Lang, differ)
		return answer, err
	}
}

// sheetReading is what was read of a sheet.
type sheetReading struct {
	*sheet.Report
	raw json.RawMessage
}

func readingOf(child jobs.Child) (*sheetReading, error) {
	var kept tasks.Reading
	if err := json.Unmarshal(child.Result, &kept); err != nil {
		return nil, fmt.Errorf("worker: reading: %w", err)
	}
	report := &sheet.Report{}
	if err := json.Unmarshal(kept.Report, report); err != nil {
		return nil, fmt.Errorf("worker: reading: %w", err)
	}
	return &sheetReading{report, kept.Report}, nil
}

// factsOf is what a listing says that a sheet may contradict.
func factsOf(car vehicle.Car) sheet.Facts {
	return sheet.Facts{
		ChassisCode: car.RawModelCode, Year: car.Year, YearBasis: car.YearBasis, EngineCC: car.EngineCC, MileageKM: car.MileageKM,
		Colour: car.Colour,
	}
}

func mismatches(list []sheet.Mismatch) []vehicle.Mismatch {
	shown := make([]vehicle.Mismatch, len(list))
	for i, m := range list {
		shown[i] = vehicle.Mismatch{Field: m.Field, Sheet: m.Sheet, Listing: m.Listing}
	}
	return shown
}

// listingOf returns the estimate whose listing has a sheet, nil when none is
// known.
func listingOf(ctx context.Context, results *cache.Cache, id string) (*vehicle.Estimate, error) {
	key, err := results.Get(ctx, cache.ListingKey(id))
	if err == nil {
		key, err = results.Get(ctx, cache.Key(key))
	}
	if errors.Is(err, cache.ErrMiss) {
		return nil, nil //nolint:nilnil // no listing is no error
	}
	if err != nil {
		return nil, err
	}
	estimate := &vehicle.Estimate{}
	if err := json.Unmarshal(key, estimate); err != nil {
		return nil, fmt.Errorf("worker: kept estimate: %w", err)
	}
	return estimate, nil
}
