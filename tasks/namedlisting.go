package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// NameListing stores that an API key has named a listing, if the listing has an
// inspection sheet: a report on that sheet for that key is compared with it. A page
// can name any sheet, so that a listing which only others named is never compared.
// It may be called with any result of any job.
func NameListing(ctx context.Context, results *cache.Cache, owner, kind string, input, result json.RawMessage) error {
	if owner == "" || kind != KindEstimate || !bytes.Contains(result, []byte(`"conditionReportUrl"`)) {
		return nil
	}
	var estimate struct {
		ValidUntil time.Time `json:"validUntil"`
		Car        struct {
			Sheet string `json:"conditionReportUrl"`
		} `json:"car"`
	}
	if err := json.Unmarshal(result, &estimate); err != nil {
		return fmt.Errorf("tasks: result: %w", err)
	}
	var request EstimateInput
	if err := json.Unmarshal(input, &request); err != nil {
		return fmt.Errorf("tasks: input: %w", err)
	}
	// A page or label that a caller sent says nothing about the site's listing.
	listed := EstimateInput{URL: request.URL, Owner: request.Owner}
	if estimate.Car.Sheet == "" || request != listed {
		return nil
	}
	id := ReportInput{URL: estimate.Car.Sheet}.For(owner).ID()
	return results.PutRaw(ctx, cache.ListingKey(id, owner), []byte(listed.Key()), estimate.ValidUntil)
}

// NameCached is NameListing for a result that came from the cache.
func (e *Engine) NameCached(ctx context.Context, owner, kind string, input any, result json.RawMessage) error {
	encoded, err := plainjson.Encode(input)
	if err != nil {
		return err
	}
	return NameListing(ctx, e.results.For(owner), owner, kind, encoded, result)
}

// nameListings does so for the API keys among the subscribers of a job that has
// ended; the owner of the job was named with its result.
func (e *Engine) nameListings(ctx context.Context, owners []string, job *jobs.Job) error {
	if job.State != jobs.Succeeded {
		return nil
	}
	errs := make([]error, 0, len(owners))
	for _, owner := range owners {
		if owner != job.Owner {
			errs = append(errs, NameListing(ctx, e.results.For(owner), owner, job.Kind, job.Input, job.Result))
		}
	}
	return errors.Join(errs...)
}
