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
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"ushuru/pkg/pace"
)

const (
	// maxRetries is how often a request is repeated that was lost or answered with 429 or 503. The
	// caller's context bounds the time.
	maxRetries = 10
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

// pollInterval is the time between two readings of what has not ended.
const pollInterval = 500 * time.Millisecond

// errTooLarge is permanent: the same response would be as large again.
var errTooLarge = fmt.Errorf("the response is larger than %d MB", maxResponse>>20)

// ErrUnreachable means that there is no API at the URL. It is not retried.
var ErrUnreachable = errors.New("client: there is no API at this URL")

// Options of a Client.
type Options struct {
	URL string // of the API, without /v1: https://ushuru.example
	Key string // API key

	// Language is that of the sentences in the answers: en or sw; "" is en. Beside most
	// sentences there is a text in both.
	Language string

	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

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

// retryUntil repeats a request until read has accepted a successful response.
func (c *Client) retryUntil(ctx context.Context, r Request, read func(*http.Response) error) error {
	failures := 0 // of the work, not of the way to it
	err := pace.Retry(ctx, pace.Backoff{
		InitialDelay: initialBackoff, MaxDelay: maxBackoff, MaxAttempts: maxRetries + 1,
		RetryAfter: retryAfterOf, IsPermanent: func(err error) bool {
			if isPermanent(err) {
				return true
			}
			if failure, ok := errors.AsType[*Error](err); ok && !failure.isPassing() {
				failures++
				return failures > maxResubmits || failure.wait() > maxPause
			}
			return false
		},
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
	if failure, ok := errors.AsType[*Error](err); ok {
		return !failure.canRetry() || failure.Status == http.StatusGatewayTimeout // the job goes on: await waits for it
	}
	return errors.Is(err, errTooLarge) || errors.Is(err, ErrUnreachable)
}

func retryAfterOf(err error) time.Duration {
	if failure, ok := errors.AsType[*Error](err); ok {
		return min(failure.wait(), maxBackoff)
	}
	return 0
}

// lost returns the error of a request that got no response.
func (c *Client) lost(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // it repeats the URL, with its query
	}
	if c.isUnreachable(err) {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.base.Redacted(), err)
	}
	return fmt.Errorf("client: %s: %w", c.base.Redacted(), err)
}

// isUnreachable reports whether a retry cannot help: the host does not exist or is
// another, or refuses connections though the API has never answered there. One that has
// answered restarts.
func (c *Client) isUnreachable(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if c.reached.Load() {
		return false
	}
	unknown, ok := errors.AsType[*net.DNSError](err)
	return ok && unknown.IsNotFound || errors.Is(err, syscall.ECONNREFUSED)
}

func readAll(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err == nil && len(data) > maxResponse {
		err = errTooLarge
	}
	return data, err
}

// Send calls an operation of the API, such as "GET /v1/jobs/ID", with a body unless it is nil. A
// POST is carried out once, however often it is sent.
func Send[T any](ctx context.Context, c *Client, operation string, body any) (*T, error) {
	method, path, _ := strings.Cut(operation, " ")
	r, err := posted(path, body)
	if err != nil {
		return nil, err
	}
	if r.Method = method; method == http.MethodPost {
		r.Header = http.Header{"Idempotency-Key": {rand.Text()}}
	}
	return call[T](ctx, c, r)
}

// posted returns a request with a body unless it is nil.
func posted(path string, body any) (r Request, err error) {
	r.Path = path
	if body != nil {
		if r.Body, err = json.Marshal(body); err != nil {
			return r, fmt.Errorf("client: request: %w", err)
		}
	}
	return r, nil
}

// call returns what the API answers to a request.
func call[T any](ctx context.Context, c *Client, r Request) (*T, error) {
	response, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if response.Status == http.StatusNoContent {
		return new(T), nil // of what was deleted
	}
	return decode[T](response.Body)
}

func decode[T any](data []byte) (*T, error) {
	result := new(T)
	if err := json.Unmarshal(data, result); err != nil {
		return nil, fmt.Errorf("client: response: %w", err)
	}
	if raw, ok := any(result).(interface{ keep(data json.RawMessage) }); ok {
		raw.keep(data)
	}
	return result, nil
}

// Raw is the answer as the API wrote it, and as it is written again: the types of this
// package have the fields that the commands use.
type Raw struct { //nolint:recvcheck // values are encoded too
	JSON json.RawMessage `json:"-"`
}

func (r *Raw) keep(data json.RawMessage) { r.JSON = data }

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) { return r.JSON, nil }

// List returns the entries of a list, page after page; field has them in a page. The
// iteration ends with the first error.
func List[T any](ctx context.Context, c *Client, path, field string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		query := maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		for {
			entries, next, err := page[T](ctx, c, path, field, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			query.Set("cursor", next)
		}
	}
}

// page returns one page of a list, and the cursor of the next one.
func page[T any](ctx context.Context, c *Client, path, field string, query url.Values) (entries []*T, next string, err error) {
	found, err := Send[map[string]json.RawMessage](ctx, c, "GET "+withQuery(path, query), nil)
	if err != nil {
		return nil, "", err
	}
	raw, err := decode[[]json.RawMessage]((*found)[field])
	if err != nil {
		return nil, "", err
	}
	for _, data := range *raw {
		entry, err := decode[T](data)
		if err != nil {
			return nil, "", err
		}
		entries = append(entries, entry)
	}
	_ = json.Unmarshal((*found)["next"], &next) // the last page has none
	return entries, next, nil
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Follow reads what is at a path until it has ended, and returns it. It tells of every reading.
func Follow[T any, P interface {
	*T
	HasEnded() bool
}](ctx context.Context, c *Client, path string, tell ...func(*T)) (*T, error) {
	wait := http.Header{"Prefer": {"wait=25"}} // proxies cut what takes longer
	if len(tell) > 0 {
		wait.Set("Prefer", "wait=1")
	}
	for {
		now, err := call[T](ctx, c, Request{Path: path, Header: wait})
		if err != nil {
			return nil, err
		}
		for _, told := range tell {
			told(now)
		}
		if P(now).HasEnded() {
			return now, nil
		}
		if err := pace.Sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}
