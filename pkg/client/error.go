package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Error is an error that the API answered with, or with which a job ended.
type Error struct {
	Status  int // of HTTP; 0 when it is the error of a job
	Message string
	Code    string        // a stable word for programs
	Text    *message.Text // Message in both languages
	// Retryable reports whether the same request may succeed later.
	Retryable  bool
	RetryAfter time.Duration       // 0 when the API does not say
	Param      string              // field of the request that is to blame
	Request    string              // id of the request in the log of the API
	Candidates []vehicle.Candidate // TRA entries that the car may be, best first
	Cars       []vehicle.ListedCar // with several_cars: those that the page lists
	Car        *vehicle.Car        // as far as it was read; nil when it was not
	Rows       []InvalidRow        // of a batch, the first of them
	MoreRows   int                 // further invalid rows

	location string // of the job that continues
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

// errorBody is the body of an error.
type errorBody struct {
	vehicle.Error

	Retryable *bool           `json:"retryable"`
	Param     string          `json:"param"`
	Request   string          `json:"request"`
	Rows      json.RawMessage `json:"rows"`
	More      int             `json:"more"`
}

func (e *Error) Error() string { return e.Message }

// isPassing reports whether the API did not try at all: it is busy or unavailable.
func (e *Error) isPassing() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// isUnfinished reports whether a job continues, whose result is at its location.
func (e *Error) isUnfinished() bool {
	return e.Status == http.StatusGatewayTimeout && strings.HasPrefix(e.location, "/v1/")
}

// fill copies the fields of an error's body.
func (e *Error) fill(body errorBody) {
	e.Message, e.Code, e.Text, e.Candidates = body.Message, body.Code, body.Text, body.Candidates
	e.Car, e.Cars = body.Car, body.Cars
	e.Param, e.Request, e.MoreRows = body.Param, body.Request, body.More
	_ = json.Unmarshal(body.Rows, &e.Rows) // another error may have another field of that name
	if e.RetryAfter == 0 {
		e.RetryAfter = time.Duration(body.RetryAfter) * time.Second
	}
	e.Retryable = e.isPassing()
	if body.Retryable != nil {
		e.Retryable = *body.Retryable
	}
}

// errorOf reads the error in a response, and closes it.
func errorOf(response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	failure := &Error{
		Status: response.StatusCode, location: response.Header.Get("Location"), RetryAfter: retryAfter(response.Header),
	}
	if response.StatusCode < http.StatusBadRequest {
		failure.Message = fmt.Sprintf("the API has moved (status %d): use %q", response.StatusCode, failure.location)
		return failure
	}
	var parsed errorBody
	body, err := readAll(response.Body)
	if err != nil || json.Unmarshal(body, &parsed) != nil || parsed.Message == "" {
		parsed = errorBody{}
		parsed.Message = fmt.Sprintf("the API answered with status %d and no explanation", response.StatusCode)
	}
	failure.fill(parsed)
	if failure.Request == "" {
		failure.Request = response.Header.Get("X-Request-ID")
	}
	return failure
}

// maxRetryAfter bounds what a header can say.
const maxRetryAfter = 24 * time.Hour

// retryAfter parses the header of that name, in seconds as this API sends it.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
}
