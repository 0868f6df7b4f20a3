package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Body is what the API says of an error.
type Body = vehicle.Error

// Error is an error that the API answered with, or with which a job ended.
type Error struct {
	Body

	Status   int         `json:"-"`    // of HTTP; 0 when it is the error of a job
	Rows     InvalidRows `json:"rows"` // of a batch, the first of them
	MoreRows int         `json:"more"` // further invalid rows

	location string // of the job that continues
}

// InvalidRows are the rows of a batch that the API does not accept.
type InvalidRows []InvalidRow

// UnmarshalJSON reads the rows; another error may have another field of that name.
func (r *InvalidRows) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, (*[]InvalidRow)(r))
	return nil
}

// InvalidRow is a row of a batch that the API does not accept.
type InvalidRow struct {
	Row       int           `json:"row"`
	Sheet     string        `json:"sheet"`
	Reference string        `json:"reference"`
	URL       string        `json:"url"`
	Code      string        `json:"code"`
	Error     string        `json:"error"`
	Text      *message.Text `json:"text"` // Error in both languages
}

func (e *Error) Error() string { return e.Message }

// isPassing reports whether the API did not try at all: it is busy or unavailable.
func (e *Error) isPassing() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// wait returns how long to wait before the request is sent again; 0 when the API does not say.
func (e *Error) wait() time.Duration { return time.Duration(e.RetryAfter) * time.Second }

// canRetry reports whether the same request may succeed later.
func (e *Error) canRetry() bool { return e.Retryable != nil && *e.Retryable }

// errorOf reads the error in a response, and closes it.
func errorOf(response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	failure := &Error{Status: response.StatusCode, location: response.Header.Get("Location")}
	body, err := readAll(response.Body)
	switch {
	case response.StatusCode < http.StatusBadRequest:
		failure.Message = fmt.Sprintf("the API has moved (status %d): use %q", response.StatusCode, failure.location)
		return failure
	case err != nil || json.Unmarshal(body, failure) != nil || failure.Message == "":
		failure.Body = Body{
			Message: fmt.Sprintf("the API answered with status %d and no explanation", response.StatusCode),
		}
	}
	if seconds := retryAfter(response.Header); seconds > 0 {
		failure.RetryAfter = seconds
	}
	failure.Request = cmp.Or(failure.Request, response.Header.Get("X-Request-ID"))
	if passing := failure.isPassing(); failure.Retryable == nil {
		failure.Retryable = &passing
	}
	return failure
}

// maxRetryAfter bounds what a header can say, in seconds.
const maxRetryAfter = 24 * 60 * 60

// retryAfter parses the header of that name, in seconds as this API sends it.
func retryAfter(h http.Header) int {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return min(seconds, maxRetryAfter)
}
