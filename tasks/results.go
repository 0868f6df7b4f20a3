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
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// ResultKey returns the cache key of the result for an input, "" for a kind whose
// results are not cached under their input alone.
func ResultKey(kind string, input json.RawMessage) (cache.Key, error) {
	var err error
	switch kind {
	case KindEstimate:
		var request EstimateInput
		if err = json.Unmarshal(input, &request); err == nil {
			return request.Key(), nil
		}
	case KindQuote:
		var request vehicle.QuoteInput
		if err = json.Unmarshal(input, &request); err == nil {
			return QuoteKey(request)
		}
	case KindReport:
		var request ReportInput
		if err = json.Unmarshal(input, &request); err == nil {
			return cache.ReadingKey(request.ID()), nil
		}
	default:
		return "", nil
	}
	return "", fmt.Errorf("tasks: input of a job of the kind %s: %w", kind, err)
}

// Key returns the cache key of the estimate. A label or values that the caller
// chose are part of it, so that they never change the estimate of others.
func (i EstimateInput) Key() cache.Key {
	choice := i.ModelBody
	if i.Known != nil {
		known, err := plainjson.Encode(i.Known)
		if err != nil {
			panic(fmt.Errorf("tasks: known values: %w", err)) // our own type
		}
		choice += "\x00" + string(known)
	}
	return cache.LabelKey(i.PageKey(), choice)
}

// PageKey returns the cache key of what belongs to the page alone, without the
// caller's choice.
func (i EstimateInput) PageKey() cache.Key {
	return cache.OwnedKey(cache.UploadKey(i.URL, i.Page), i.Owner)
}

// QuoteKey returns the cache key of the estimate of a described car. The
// description must be in canonical form.
func QuoteKey(request vehicle.QuoteInput) (cache.Key, error) {
	request.PriceCandidates = false // it changes errors, not results
	input, err := plainjson.Encode(request)
	return cache.QuoteKey(input), err
}

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
	sheet := jsonobject.Text(estimate, "car", "conditionReportUrl")
	if sheet == "" { // most have none, and the rest of the estimate is long
		return n, nil
	}
	until := jsonobject.Text(estimate, "validUntil")
	if until == "" {
		return n, nil
	}
	if n.expiry, err = time.Parse(time.RFC3339, until); err != nil {
		return n, fmt.Errorf("tasks: result: %w", err)
	}
	n.value = []byte(listed.PageKey())
	n.key = cache.ListingKey(ReportInput{URL: sheet}.For(owner).ID(), owner)
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
