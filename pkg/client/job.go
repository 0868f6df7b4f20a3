package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

const (
	// preferWait asks the API to answer a request for a job when the job ends, or
	// after this many seconds. Proxies cut what takes longer.
	preferWait  = "wait=25"
	preferAsync = "respond-async"

	// pollInterval is the minimum time between two such requests, should the API
	// answer at once.
	pollInterval = time.Second
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
	Steps []Step `json:"steps"` // in the order in which they come
}

// Step is one part of a job.
type Step struct {
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
	var record struct {
		Error errorBody `json:"error"`
	}
	if err := json.Unmarshal(j.JSON, &record); err != nil {
		return fmt.Errorf("client: job: %w", err)
	}
	failure := &Error{}
	failure.fill(record.Error)
	return failure
}

func jobPath(id string) string { return "/v1/jobs/" + url.PathEscape(id) }

// Job returns a job as it is now. With terms the cost in its result is that on these
// terms; the zero Terms are those of Ushuru.
func (c *Client) Job(ctx context.Context, id string, terms Terms) (*Job, error) {
	query, err := terms.query()
	if err != nil {
		return nil, err
	}
	query.Set("fields", "all")
	return get[Job](ctx, c, jobPath(id), query)
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

// Jobs returns the jobs that the caller's key has requested, newest first. With a state
// it returns those in it.
func (c *Client) Jobs(ctx context.Context, state string) iter.Seq2[*ListedJob, error] {
	query := url.Values{}
	setText(query, "state", state)
	return list[ListedJob](ctx, c, "/v1/jobs", "jobs", query)
}

// RetryJob submits the request of a failed job again, and returns the new job.
func (c *Client) RetryJob(ctx context.Context, id string) (*Job, error) {
	return create[Job](ctx, c, jobPath(id)+"/retry", nil)
}

// CancelJob cancels a job that no other caller waits for.
func (c *Client) CancelJob(ctx context.Context, id string) (*Job, error) {
	return call[Job](ctx, c, Request{Method: http.MethodDelete, Path: jobPath(id)})
}

// JobEvents returns a job now, and whenever its state or progress has changed. The last
// one has its result or error.
func (c *Client) JobEvents(ctx context.Context, id string, terms Terms) iter.Seq2[*Job, error] {
	query, err := terms.query()
	if err != nil {
		return func(yield func(*Job, error) bool) { yield(nil, err) }
	}
	return events[Job](ctx, c, withQuery(jobPath(id)+"/events", query))
}

// await submits an operation and returns its result as the API wrote it.
func (c *Client) await(ctx context.Context, o Operation, progress []func(*Job)) (json.RawMessage, error) {
	prefer := preferWait
	if len(progress) > 0 {
		prefer = preferAsync
	}
	r, err := preferring(o, prefer)
	if err != nil {
		return nil, err
	}
	var result json.RawMessage
	err = pace.Retry(ctx, pace.Backoff{
		InitialDelay: initialBackoff, MaxDelay: maxBackoff, MaxAttempts: maxResubmits + 1, RetryAfter: retryAfterOf,
		// What is an error of HTTP was repeated by Do.
		IsPermanent: func(err error) bool {
			failure, ok := errors.AsType[*Error](err)
			return !ok || failure.Status != 0 || !failure.Retryable || failure.RetryAfter > maxPause
		},
	}, func() (err error) {
		result, err = c.resultOf(ctx, r, progress)
		return err
	})
	return result, err
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
		job, err := c.awaitJob(ctx, location, progress)
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
	if failure, ok := errors.AsType[*Error](err); ok && failure.isUnfinished() {
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

// awaitJob waits for the end of a job. It tells progress of it by the job's stream; when
// that cannot be had it polls.
func (c *Client) awaitJob(ctx context.Context, location string, progress []func(*Job)) (*Job, error) {
	tell := func(job *Job) {
		for _, told := range progress {
			told(job)
		}
	}
	if len(progress) > 0 {
		path, query, _ := strings.Cut(location, "?")
		if query != "" {
			query = "?" + query
		}
		for job, err := range events[Job](ctx, c, path+"/events"+query) {
			if err != nil {
				break
			}
			tell(job)
			if job.HasEnded() {
				return job, nil
			}
		}
	}
	for {
		job, err := call[Job](ctx, c, Request{Path: location, Header: http.Header{"Prefer": {preferWait}}})
		if err != nil {
			return nil, err
		}
		tell(job)
		if job.HasEnded() {
			return job, nil
		}
		if err := pace.Sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}
