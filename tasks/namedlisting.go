package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
)

// namedListing says that an API key has named a listing with an inspection sheet: a
// report on that sheet for that key is compared with it. A page can name any sheet, so
// that a listing which only others named is never compared.
type namedListing struct {
	key    cache.Key
	value  []byte    // the key of the listing's estimate
	expiry time.Time // of the estimate; zero when there is nothing to store
}

// nameOf returns what to store for an API key that gets an estimate.
func nameOf(owner string, request EstimateInput, estimate json.RawMessage) (n namedListing, err error) {
	// A page or label that a caller sent says nothing about the site's listing.
	listed := EstimateInput{URL: request.URL, Owner: request.Owner}
	if owner == "" || request != listed {
		return n, nil
	}
	sheet, until := jsonobject.Text(estimate, "car", "conditionReportUrl"), jsonobject.Text(estimate, "validUntil")
	if sheet == "" || until == "" {
		return n, nil
	}
	if n.expiry, err = time.Parse(time.RFC3339, until); err != nil {
		return n, fmt.Errorf("tasks: result: %w", err)
	}
	n.key, n.value = cache.ListingKey(ReportInput{URL: sheet}.For(owner).ID(), owner), []byte(listed.Key())
	return n, nil
}

// NameListing stores what an API key has named with a job that ended with a result. It may
// be called with any result of any job.
func NameListing(ctx context.Context, results *cache.Cache, owner, kind string, input, result json.RawMessage) error {
	if kind != KindEstimate {
		return nil
	}
	var request EstimateInput
	if err := json.Unmarshal(input, &request); err != nil {
		return fmt.Errorf("tasks: input: %w", err)
	}
	n, err := nameOf(owner, request, result)
	if err != nil {
		return err
	}
	return results.PutRaw(ctx, n.key, n.value, n.expiry)
}

// NameCached names the listing of an estimate that came from the cache. That happens often.
func (e *Engine) NameCached(ctx context.Context, owner string, request EstimateInput, estimate json.RawMessage) error {
	n, err := nameOf(owner, request, estimate)
	if err != nil {
		return err
	}
	return e.options.Results.For(owner).PutOften(ctx, n.key, n.value, n.expiry)
}

// nameListings names the listing of a job that has ended for the API keys among its
// subscribers. For the owner of the job it was named with the result.
func (e *Engine) nameListings(ctx context.Context, owners []string, job *jobs.Job) error {
	if job.State != jobs.Succeeded {
		return nil
	}
	errs := make([]error, 0, len(owners))
	for _, owner := range owners {
		if owner != job.Owner {
			errs = append(errs, NameListing(ctx, e.options.Results.For(owner), owner, job.Kind, job.Input, job.Result))
		}
	}
	return errors.Join(errs...)
}
