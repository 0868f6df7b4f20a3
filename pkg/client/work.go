package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/vehicle"
)

// patience is how long the API is asked to hold on to one look at a job.
const patience = "wait=30"

// betweenLooks is the least time between two looks at a job, should the API
// not hold on to one.
const betweenLooks = time.Second

// job is what is needed of a job's record.
type job struct {
	State string         `json:"state"`
	Error *vehicle.Error `json:"error"`
}

func (j job) ended() bool {
	return j.State == "succeeded" || j.State == "failed" || j.State == "cancelled"
}

// PostAndWait posts a question that may take long, /v1/estimate for example, and
// waits for its result until ctx ends. The result comes as the API wrote it.
// It is an *Error when the API says so, or when the job failed.
func (c *Client) PostAndWait(ctx context.Context, path string, question any) (json.RawMessage, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, fmt.Errorf("client: question: %w", err)
	}
	for {
		answer, err := c.Do(ctx, Request{Path: path, Body: body})
		unfinished, location := waiting(answer, err)
		if !unfinished {
			if err != nil {
				return nil, err
			}
			return answer.Body, nil
		}
		if err := c.follow(ctx, location); err != nil {
			return nil, err
		}
		// The question again, now that it is answered: what a job keeps is not
		// always in the form that was asked for.
	}
}

// waiting reports whether an answer says that the work goes on, and where its
// job is.
func waiting(answer *Answer, err error) (unfinished bool, location string) {
	if failure, ok := errors.AsType[*Error](err); ok && failure.Status == http.StatusGatewayTimeout {
		location = failure.location
	}
	if err == nil && answer.Status == http.StatusAccepted {
		location = answer.Header.Get("Location")
	}
	return strings.HasPrefix(location, "/v1/"), location
}

// follow waits for the end of a job, and returns its error if it has one.
func (c *Client) follow(ctx context.Context, location string) error {
	for {
		answer, err := c.Do(ctx, Request{Path: location, Header: http.Header{"Prefer": {patience}}})
		if err != nil {
			return err
		}
		var seen job
		if err := json.Unmarshal(answer.Body, &seen); err != nil {
			return fmt.Errorf("client: job: %w", err)
		}
		switch {
		case seen.Error != nil:
			failure := &Error{}
			failure.told(*seen.Error)
			return failure
		case seen.ended():
			return nil
		}
		if err := pause(ctx, betweenLooks); err != nil {
			return err
		}
	}
}
