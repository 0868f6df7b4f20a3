package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/upload"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// resultCache keeps results where the next caller looks first, until they lose
// their validity.
type resultCache struct {
	results *cache.Cache
	uploads *upload.Store
}

// put keeps the result of a job. It may be called twice.
func (a *resultCache) put(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	switch job.Kind {
	case tasks.KindEstimate, tasks.KindQuote:
		return a.putEstimate(ctx, job, result)
	case tasks.KindReport:
		return a.putReading(ctx, job, result)
	case tasks.KindCompare:
		return a.putComparison(ctx, job, result)
	}
	return nil
}

// putEstimate also stores which listing a sheet belongs to.
func (a *resultCache) putEstimate(ctx context.Context, job *jobs.Job, result []byte) error {
	key, err := tasks.ResultKey(job.Kind, job.Input)
	if err != nil {
		return err
	}
	var made struct {
		ValidUntil time.Time `json:"validUntil"`
		Car        struct {
			Sheet string `json:"conditionReportUrl"`
		} `json:"car"`
	}
	if err := json.Unmarshal(result, &made); err != nil {
		return fmt.Errorf("worker: result: %w", err)
	}
	var input tasks.EstimateInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return fmt.Errorf("worker: input: %w", err)
	}
	// What a caller made up is nobody else's.
	listed := made.Car.Sheet != "" && job.Kind == tasks.KindEstimate && input == (tasks.EstimateInput{URL: input.URL})
	return a.results.Pipelined(ctx, func(results *cache.Cache) error {
		if err := results.Put(ctx, key, result, made.ValidUntil); err != nil || !listed {
			return err
		}
		id := tasks.ReportInput{URL: made.Car.Sheet}.ID()
		return results.PutRaw(ctx, cache.ListingKey(id), []byte(key), made.ValidUntil)
	})
}

// putReading keeps what was read of a sheet, for both languages. The file, if
// a caller sent it, is not needed any more.
func (a *resultCache) putReading(ctx context.Context, job *jobs.Job, result []byte) error {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return fmt.Errorf("worker: input: %w", err)
	}
	err := a.results.PutRaw(ctx, cache.ReadingKey(input.ID()), result, time.Now().Add(cache.SheetTTL))
	if err != nil || input.Upload == "" {
		return err
	}
	return a.uploads.Delete(ctx, input.Upload)
}

// putComparison keeps a comparison as long as both its estimates hold. One
// that lacks a sheet which another time might be read is not kept.
func (a *resultCache) putComparison(ctx context.Context, job *jobs.Job, result []byte) error {
	for _, name := range []string{tasks.ChildSheet1, tasks.ChildSheet2} {
		if child, has := job.Children[name]; has && isTemporary(child) {
			return nil
		}
	}
	var input tasks.CompareInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return fmt.Errorf("worker: input: %w", err)
	}
	var made vehicle.Comparison
	if err := json.Unmarshal(result, &made); err != nil {
		return fmt.Errorf("worker: comparison: %w", err)
	}
	now := time.Now()
	expiry := cache.EstimateExpiry(now, tra.QuarterEnd(now))
	for _, car := range []*vehicle.Estimate{&made.Car1, &made.Car2} {
		car.Cached = true
		if until, err := time.Parse(time.RFC3339, car.ValidUntil); err == nil && until.Before(expiry) {
			expiry = until
		}
	}
	kept, err := plainjson.Encode(made)
	if err != nil {
		return err
	}
	return a.results.Put(ctx, cache.CompareKey(input.URL1, input.URL2, input.Lang), kept, expiry)
}

// isTemporary reports whether a sheet was not read for a reason that another time
// may not have.
func isTemporary(child jobs.Child) bool {
	return child.State != jobs.Succeeded && (child.Error == nil || !slices.Contains(permanentSheetErrors, child.Error.Code))
}

// permanentSheetErrors are the errors that lie in the sheet itself.
var permanentSheetErrors = []string{
	scan.HostUnsupported, scan.NotFound, scan.TooLarge, scan.TypeUnsupported, scan.Damaged, scan.Encrypted,
	scan.TooManyPages, scan.TooManyPixels, scan.TooSmall, scan.Blank, sheet.NotASheet, sheet.SheetUnreadable,
}
