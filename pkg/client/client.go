// Package client is a client of the HTTP API of Ushuru. It waits as the API asks
// its callers to: after 429 and 503 it repeats the request when Retry-After says,
// and it waits for work that takes longer than one request.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/retry"
	"ushuru/pkg/vehicle"
)

// Options of a Client.
type Options struct {
	URL string // of the API, without /v1: https://ushuru.example
	Key string // API key

	// Retries is how often a request is repeated that was lost or answered with
	// 429 or 503; 0 is 10. The caller's context bounds the time.
	Retries int
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	defaultRetries = 10
	initialBackoff = 500 * time.Millisecond // without a Retry-After
	maxBackoff     = 30 * time.Second
	maxResponse    = 64 << 20 // bytes
)

// Client calls one API with one key. It is safe for concurrent use.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client
}

// New returns a Client, or an error that says what is wrong with the options.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(o.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("client: %.200q is not the URL of an API; example: https://ushuru.example", o.URL)
	}
	if strings.TrimSpace(o.Key) == "" {
		return nil, errors.New("client: an API key is required")
	}
	if o.Retries == 0 {
		o.Retries = defaultRetries
	}
	return &Client{o, base, &http.Client{
		Transport: o.Transport,
		// Following a redirect would silently drop the body of a POST.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Request is one request. It may be sent twice, so it must do no harm then: an
// estimate joins the running job; other requests need an Idempotency-Key.
type Request struct {
	Method string // "" is GET, or POST with a Body
	Path   string // with its query: /v1/vehicles?make=TOYOTA
	Header http.Header
	Body   []byte // JSON unless Header has another Content-Type; nil is none
}

// Error is an error that the API answered with.
type Error struct {
	Status     int // of HTTP; 0 when it is the error of a job
	Message    string
	Code       string
	Text       *message.Text       // Message in both languages
	Candidates []vehicle.Candidate // TRA entries that the car may be, best first
	Car        *vehicle.Car        // as far as it was read; nil when it was not

	location   string        // of the job that continues
	retryAfter time.Duration // 0 when the API does not say
}

// fill copies the fields of an error's body.
func (e *Error) fill(body vehicle.Error) {
	e.Message, e.Code, e.Text, e.Candidates, e.Car = body.Message, body.Code, body.Text, body.Candidates, body.Car
}

func (e *Error) Error() string { return e.Message }

// Response is a successful response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and reads the whole response; one that breaks off is
// requested again. An error of the API is an *Error.
func (c *Client) Do(ctx context.Context, r Request) (result *Response, err error) {
	err = c.retryUntil(ctx, r, func(response *http.Response) error {
		defer func() { _ = response.Body.Close() }()
		body, err := readAll(response.Body)
		if err != nil {
			return fmt.Errorf("client: %s: %w", r.Path, err)
		}
		result = &Response{response.StatusCode, response.Header, body}
		return nil
	})
	return result, err
}

// Open sends a request and returns the response with its body unread; the caller
// closes it. An error of the API is an *Error.
func (c *Client) Open(ctx context.Context, r Request) (result *http.Response, err error) {
	err = c.retryUntil(ctx, r, func(response *http.Response) error {
		result = response
		return nil
	})
	return result, err
}

// retryUntil repeats a request until read has accepted a successful response.
func (c *Client) retryUntil(ctx context.Context, r Request, read func(*http.Response) error) error {
	err := retry.Do(ctx, retry.Policy{
		InitialDelay: initialBackoff, MaxDelay: maxBackoff, MaxAttempts: c.options.Retries + 1,
		IsPermanent: isPermanent, RetryAfter: retryAfterOf,
	}, func() error {
		response, err := c.send(ctx, r) //nolint:bodyclose // read closes it or returns it; errorOf closes it
		if err != nil {
			return err
		}
		if response.StatusCode >= http.StatusMultipleChoices {
			return errorOf(response)
		}
		return read(response)
	})
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// isPermanent reports whether the same request would fail again.
func isPermanent(err error) bool {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Status != http.StatusTooManyRequests && refused.Status != http.StatusServiceUnavailable
	}
	return errors.Is(err, errTooLarge)
}

func retryAfterOf(err error) time.Duration {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.retryAfter
	}
	return 0
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

// errorOf reads the error in a response, and closes it.
func errorOf(response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	failure := &Error{
		Status: response.StatusCode, location: response.Header.Get("Location"), retryAfter: retryAfter(response.Header),
	}
	if response.StatusCode < http.StatusBadRequest {
		failure.Message = fmt.Sprintf("the API has moved (status %d): use %q", response.StatusCode, failure.location)
		return failure
	}
	var parsed vehicle.Error
	body, err := readAll(response.Body)
	if err != nil || json.Unmarshal(body, &parsed) != nil || parsed.Message == "" {
		parsed = vehicle.Error{Message: fmt.Sprintf("the API answered with status %d and no explanation", response.StatusCode)}
	}
	failure.fill(parsed)
	return failure
}

// errTooLarge is permanent: the same response would be as large again.
var errTooLarge = fmt.Errorf("the response is larger than %d MB", maxResponse>>20)

func readAll(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err == nil && len(data) > maxResponse {
		err = errTooLarge
	}
	return data, err
}

// retryAfter parses the header of that name, in seconds as this API sends it.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int(maxBackoff/time.Second))) * time.Second
}
