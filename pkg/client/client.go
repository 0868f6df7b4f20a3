// Package client calls the HTTP API of Ushuru for the command line.
//
// It waits as the API asks its callers to. A request that was lost, or answered with 429, 503
// or an error that the API calls retryable, is repeated when Retry-After says; a POST that
// creates something has an Idempotency-Key, the same in every attempt. Estimates, quotes,
// comparisons and reports need none: equal requests share one job, for which the methods wait
// however long it takes. The context of a call bounds all of that. Lists and streams are
// iterators, which fetch the next page, or reconnect, by themselves.
//
// An error of the API, or of a job, is an *Error.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options of a Client.
type Options struct {
	URL string // of the API, without /v1: https://ushuru.example
	Key string // API key

	// Language is that of the sentences in the answers: en or sw; "" is en. Beside most
	// sentences there is a text in both.
	Language string

	// Retries is how often a request is repeated that was lost or answered with
	// 429 or 503; 0 is 10. The caller's context bounds the time.
	Retries int
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	defaultRetries = 10
	// maxResubmits is how often work is submitted again that failed in a way that the
	// API calls retryable.
	maxResubmits = 2
	// maxPause is the longest Retry-After of such an error that the client waits for: what
	// passes later, such as the pause of a site, the caller should know now.
	maxPause       = 5 * time.Second
	initialBackoff = 500 * time.Millisecond // without a Retry-After
	maxBackoff     = 30 * time.Second
	maxResponse    = 64 << 20 // bytes
)

// Client calls one API with one key. It is safe for concurrent use.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client
	reached atomic.Bool // the API has answered: an address that refuses is one that restarts
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
	return &Client{options: o, base: base, http: &http.Client{
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

// send sends a request once.
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
	if query := request.URL.Query(); c.options.Language != "" && !query.Has("lang") {
		query.Set("lang", c.options.Language)
		request.URL.RawQuery = query.Encode()
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(request.Header, r.Header)
	request.Header.Set("Authorization", "Bearer "+c.options.Key)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lost(err)
	}
	c.reached.Store(true)
	return response, nil
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
