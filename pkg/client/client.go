// Package client asks the HTTP API of Ushuru. It has the patience that the API
// asks of its callers: it comes again after 429 and 503 when Retry-After says,
// and waits for work that takes longer than one request.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/vehicle"
)

// Options of a Client.
type Options struct {
	URL string // of the API, without /v1: https://ushuru.example
	Key string // of the caller

	// Retries is how often a request is sent again that was turned away (429,
	// 503) or lost; 0 is 10. The caller's context bounds the time.
	Retries int
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	defaultRetries = 10
	firstWait      = 500 * time.Millisecond // without a Retry-After
	longestWait    = 30 * time.Second
	maxAnswer      = 64 << 20
)

// Client asks one API with one key. It is safe for concurrent use.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client
}

// New makes a Client, or says what is wrong with the options.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(o.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("client: %.200q is not the address of an API, as https://ushuru.example", o.URL)
	}
	if strings.TrimSpace(o.Key) == "" {
		return nil, errors.New("client: an API key is needed")
	}
	if o.Retries == 0 {
		o.Retries = defaultRetries
	}
	return &Client{o, base, &http.Client{
		Transport: o.Transport,
		// Following would lose the body of a POST, without a word.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Request is one request. Sending it twice must do no harm: an estimate joins
// the work that is under way; what is not so needs an Idempotency-Key.
type Request struct {
	Method string // "" is GET, and POST with a Body
	Path   string // with its query: /v1/vehicles?make=TOYOTA
	Header http.Header
	Body   []byte // JSON unless Header has another Content-Type; nil is none
}

// Error is an answer of the API that is an error.
type Error struct {
	Status     int // of HTTP; 0 when it is the error of a job
	Message    string
	Code       string
	Candidates []vehicle.Candidate

	location string // where the work goes on
}

// told takes over what the body of an error says.
func (e *Error) told(said vehicle.Error) {
	e.Message, e.Code, e.Candidates = said.Message, said.Code, said.Candidates
}

func (e *Error) Error() string { return e.Message }

// Answer is an answer that is no error.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and reads the whole answer; one that breaks off is lost,
// and the request sent again. It is an *Error when the API says so.
func (c *Client) Do(ctx context.Context, r Request) (answer *Answer, err error) {
	err = c.until(ctx, r, func(response *http.Response) error {
		defer func() { _ = response.Body.Close() }()
		body, err := readAll(response.Body)
		if err != nil {
			return fmt.Errorf("client: %s: %w", r.Path, err)
		}
		answer = &Answer{response.StatusCode, response.Header, body}
		return nil
	})
	return answer, err
}

// Open sends a request until it is answered with something else than "come
// again later", and leaves the body of the answer to the caller, who closes
// it. It is an *Error when the API says so.
func (c *Client) Open(ctx context.Context, r Request) (answer *http.Response, err error) {
	err = c.until(ctx, r, func(response *http.Response) error {
		answer = response
		return nil
	})
	return answer, err
}

// until sends a request until an answer that is no error was taken.
func (c *Client) until(ctx context.Context, r Request, take func(*http.Response) error) error {
	for tried := 0; ; tried++ {
		response, err := c.send(ctx, r) //nolint:bodyclose // take closes it or gives it to who does; errorOf closes it
		wait := firstWait << min(tried, 6)
		switch {
		case err != nil:
		case response.StatusCode < http.StatusMultipleChoices:
			if err = take(response); err == nil || errors.Is(err, errTooLarge) {
				return err
			}
		default:
			err = errorOf(response)
			if !comeAgain(response.StatusCode) {
				return err
			}
			wait = max(wait, retryAfter(response.Header))
		}
		if tried >= c.options.Retries || ctx.Err() != nil {
			return err
		}
		wait = min(wait, longestWait)
		if pauseErr := pause(ctx, wait+rand.N(wait/4)); pauseErr != nil { //nolint:gosec // so that not all come at once
			return errors.Join(pauseErr, err)
		}
	}
}

// comeAgain reports whether a status means that the same request may be
// served later.
func comeAgain(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
		if r.Body != nil {
			method = http.MethodPost
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.String()+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(request.Header, r.Header)
	request.Header.Set("Authorization", "Bearer "+c.options.Key)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return response, nil
}

// errorOf reads the error in an answer, and closes it.
func errorOf(response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	failure := &Error{Status: response.StatusCode, location: response.Header.Get("Location")}
	if response.StatusCode < http.StatusBadRequest {
		failure.Message = fmt.Sprintf("the API has moved (status %d): use %q", response.StatusCode, failure.location)
		return failure
	}
	var said vehicle.Error
	body, err := readAll(response.Body)
	if err != nil || json.Unmarshal(body, &said) != nil || said.Message == "" {
		said = vehicle.Error{Message: fmt.Sprintf("the API answered with status %d and no explanation", response.StatusCode)}
	}
	failure.told(said)
	return failure
}

// errTooLarge: the same answer would be as large again.
var errTooLarge = fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)

func readAll(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = errTooLarge
	}
	return data, err
}

// retryAfter reads the header of that name, in seconds as this API sends it.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
