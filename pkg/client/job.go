package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/retry"
	"ushuru/pkg/vehicle"
)

const (
	// preferWait asks the API to answer a request for a job when the job ends, or
	// after this many seconds.
	preferWait = "wait=30"

	// pollInterval is the minimum time between two such requests, should the API
	// answer at once.
	pollInterval = time.Second
)

// job is the part of a job's record that the client needs.
type job struct {
	State string         `json:"state"`
	Error *vehicle.Error `json:"error"`
}

func (j job) hasEnded() bool {
	return j.State == "succeeded" || j.State == "failed" || j.State == "cancelled"
}

// PostAndWait posts a request that may take long, to /v1/estimate for example,
// and waits for its result until ctx ends. The result is as the API wrote it. An
// error of the API or of the job is an *Error.
func (c *Client) PostAndWait(ctx context.Context, path string, req any) (json.RawMessage, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("client: request: %w", err)
	}
	for {
		response, err := c.Do(ctx, Request{Path: path, Body: body})
		location := unfinishedJob(response, err)
		if location == "" {
			if err != nil {
				return nil, err
			}
			return response.Body, nil
		}
		if err := c.waitForJob(ctx, location); err != nil {
			return nil, err
		}
		// The request is sent again, because the stored result of a job is not
		// always in the form that was requested.
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

// waitForJob polls a job until it ends, and returns its error if it has one.
func (c *Client) waitForJob(ctx context.Context, location string) error {
	for {
		response, err := c.Do(ctx, Request{Path: location, Header: http.Header{"Prefer": {preferWait}}})
		if err != nil {
			return err
		}
		var j job
		if err := json.Unmarshal(response.Body, &j); err != nil {
			return fmt.Errorf("client: job: %w", err)
		}
		switch {
		case j.Error != nil:
			failure := &Error{}
			failure.fill(*j.Error)
			return failure
		case j.hasEnded():
			return nil
		}
		if err := retry.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}
