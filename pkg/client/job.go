package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// Job is work that the API does for one or more callers.
type Job struct {
	Raw

	ID         string          `json:"id"`
	Kind       string          `json:"kind"`    // estimate, quote, compare or report
	State      string          `json:"state"`   // queued, running, succeeded, failed or cancelled
	Attempt    int             `json:"attempt"` // of the present step
	Created    time.Time       `json:"created"`
	Ended      time.Time       `json:"ended"`      // zero until then
	WaitingFor string          `json:"waitingFor"` // authority or site, while it cannot be asked
	Message    string          `json:"message"`    // why
	Progress   Progress        `json:"progress"`
	Result     json.RawMessage `json:"result"` // once succeeded
	Error      *vehicle.Error  `json:"error"`  // once failed or cancelled
}

// Progress is how far a job has come.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Steps []step `json:"steps"` // in the order in which they come
}

// step is one part of a job.
type step struct {
	Name  string `json:"name"`
	State string `json:"state"` // waiting, queued, running, done, failed or skipped
}

// HasEnded reports whether the job has a result or an error.
func (j *Job) HasEnded() bool {
	return j.State == "succeeded" || j.State == "failed" || j.State == "cancelled"
}

// Failure returns the error of a job as an *Error; nil when it has none.
func (j *Job) Failure() error {
	if j.Error == nil {
		return nil
	}
	return &Error{Body: *j.Error}
}

// JobPath is where a job is. With terms the cost in its result is that on these terms; the
// zero Terms are those of Ushuru.
func JobPath(id string, terms Terms, more ...string) (string, error) {
	query, err := terms.query()
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return withQuery("/v1/jobs/"+url.PathEscape(id), query), err
}

// ListedJob is a job in the list of those that the caller's key has requested.
type ListedJob struct {
	Raw

	ID      string              `json:"id"`
	Kind    string              `json:"kind"`
	State   string              `json:"state"`
	Created time.Time           `json:"created"`
	Ended   time.Time           `json:"ended"`
	URLs    []string            `json:"urls"`  // of its listings or its sheet
	Car     *vehicle.QuoteInput `json:"car"`   // that the caller described
	Error   *vehicle.Error      `json:"error"` // once failed or cancelled
}

// await submits a request and waits for its result. It tells progress of the job, when its
// state or progress changes.
func await[T any](ctx context.Context, c *Client, r Request, progress []func(*Job)) (*T, error) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Prefer", "wait=25")
	if len(progress) > 0 {
		r.Header.Set("Prefer", "respond-async")
	}
	var result json.RawMessage
	err := pace.Retry(ctx, pace.Backoff{
		InitialDelay: initialBackoff, MaxDelay: maxBackoff, MaxAttempts: maxResubmits + 1, RetryAfter: retryAfterOf,
		// What is an error of HTTP was repeated by Do.
		IsPermanent: func(err error) bool {
			failure, ok := errors.AsType[*Error](err)
			return !ok || failure.Status != 0 || !failure.canRetry() || failure.wait() > maxPause
		},
	}, func() (err error) {
		result, err = c.resultOf(ctx, r, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decode[T](result)
}

// resultOf sends a request and returns its result, or that of the job that it starts.
func (c *Client) resultOf(ctx context.Context, r Request, progress []func(*Job)) (json.RawMessage, error) {
	for {
		response, err := c.Do(ctx, r)
		location := unfinishedJob(response, err)
		if location == "" {
			if err != nil {
				return nil, err
			}
			return response.Body, nil
		}
		job, err := Follow(ctx, c, location, progress...)
		if err != nil {
			return nil, err
		}
		if err := job.Failure(); err != nil {
			return nil, err
		}
		if job.Result != nil {
			return job.Result, nil
		}
		// The record has no result anymore; the request finds it in the cache.
	}
}

// unfinishedJob returns the path of the job that continues after a response; ""
// when the response is final.
func unfinishedJob(response *Response, err error) (location string) {
	if failure, ok := errors.AsType[*Error](err); ok && failure.Status == http.StatusGatewayTimeout {
		location = failure.location
	}
	if err == nil && response.Status == http.StatusAccepted {
		location = response.Header.Get("Location")
	}
	if !strings.HasPrefix(location, "/v1/") { // of another server
		return ""
	}
	return location
}
