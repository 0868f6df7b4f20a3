package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// resultCache caches results for the next callers, until they expire.
type resultCache struct {
	results *cache.Cache
}

// put caches the result of a job. It is the engine's BeforeSucceed and may be
// called twice.
func (c *resultCache) put(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	switch job.Kind {
	case tasks.KindEstimate, tasks.KindQuote:
		return c.putEstimate(ctx, job, result)
	case tasks.KindReport:
		return c.putReading(ctx, job, result)
	case tasks.KindCompare:
		return c.putComparison(ctx, job, result)
	}
	return nil
}

// putEstimate also stores which listing a sheet belongs to, for the key of the job.
func (c *resultCache) putEstimate(ctx context.Context, job *jobs.Job, result []byte) error {
	key, err := tasks.ResultKey(job.Kind, job.Input)
	if err != nil {
		return err
	}
	var until time.Time // a result that does not say it is not cached
	if text := jsonobject.Text(result, "validUntil"); text != "" {
		if until, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("worker: result: %w", err)
		}
	}
	return c.results.For(job.Owner).Pipelined(ctx, func(results *cache.Cache) error {
		err := results.Put(ctx, key, result, until)
		return errors.Join(err, tasks.NameListing(ctx, results, job.Owner, job.Kind, job.Input, result))
	})
}

// putReading caches the reading of a sheet, for both languages.
func (c *resultCache) putReading(ctx context.Context, job *jobs.Job, result []byte) error {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return fmt.Errorf("worker: input: %w", err)
	}
	return c.results.For(job.Owner).PutRaw(ctx, cache.ReadingKey(input.ID()), result, time.Now().Add(cache.SheetTTL))
}

// putComparison caches a comparison while both its estimates are valid. A
// comparison without a sheet that may be readable later is not cached.
func (c *resultCache) putComparison(ctx context.Context, job *jobs.Job, result []byte) error {
	for _, name := range []string{tasks.ChildSheet1, tasks.ChildSheet2} {
		if child, has := job.Children[name]; has && isTemporary(child) {
			return nil
		}
	}
	var input tasks.CompareInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return fmt.Errorf("worker: input: %w", err)
	}
	var comparison vehicle.Comparison
	if err := json.Unmarshal(result, &comparison); err != nil {
		return fmt.Errorf("worker: comparison: %w", err)
	}
	now := time.Now()
	expiry := cache.EstimateExpiry(now, tra.QuarterEnd(now))
	for _, car := range []*vehicle.Estimate{&comparison.Car1, &comparison.Car2} {
		car.Cached = true
		if until, err := time.Parse(time.RFC3339, car.ValidUntil); err == nil && until.Before(expiry) {
			expiry = until
		}
	}
	cached, err := plainjson.Encode(comparison)
	if err != nil {
		return err
	}
	return c.results.For(job.Owner).Put(ctx, input.Key(), cached, expiry)
}

// isTemporary reports whether a sheet was not read for a reason that may not last.
func isTemporary(child jobs.Child) bool {
	return child.State != jobs.Succeeded && (child.Error == nil || !slices.Contains(permanentSheetErrors, child.Error.Code))
}

// permanentSheetErrors are the errors whose cause is the sheet itself.
var permanentSheetErrors = []string{
	scan.HostUnsupported, scan.NotFound, scan.TooLarge, scan.TypeUnsupported, scan.Damaged, scan.Encrypted,
	scan.TooManyPages, scan.TooManyPixels, scan.TooSmall, scan.Blank, sheet.NotASheet, sheet.SheetUnreadable,
}
