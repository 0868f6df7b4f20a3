package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing"
	"ushuru/tasks"
)

// scrape reads the listing.
func scrape(client *fetch.Client) stepFunc {
	return func(ctx context.Context, job *jobs.Job) (any, error) {
		var input tasks.EstimateInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return nil, fmt.Errorf("worker: input: %w", err)
		}
		page, err := client.Fetch(ctx, fetch.Request{URL: listing.FetchURL(input.URL), Bulk: job.Class == jobs.Bulk})
		if err != nil {
			return nil, pageFailure(err)
		}
		read, err := listing.Read(page)
		if err != nil {
			return nil, pageFailure(err)
		}
		return tasks.Scraped{Car: read.Car, Warnings: carWarnings(read.Car)}, nil
	}
}

// pageFailure says what an error of fetching or reading means for the job.
func pageFailure(err error) error {
	failure, ok := errors.AsType[*fetch.Error](err)
	switch {
	case !ok:
		return err
	case failure.Code == fetch.HostBusy:
		return tasks.RetryAfter(failure.Wait, tasks.Transient(failure.Code, failure.Message, 0, failure.Cause))
	case failure.Retryable:
		return tasks.Transient(failure.Code, failure.Message, failure.Wait, failure.Cause)
	default:
		return tasks.Permanent(failure.Code, failure.Message, failure.Cause)
	}
}
