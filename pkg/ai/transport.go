package ai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"ushuru/pkg/pace"
)

const (
	maxBody       = 1 << 20
	maxRetryAfter = time.Hour
	idleTimeout   = 90 * time.Second
	maxIdle       = 16
	connectionCap = 64
)

var errRedirect = errors.New("ai: redirect")

// newTransport returns the HTTP client of one endpoint. go-openai takes 3xx for
// success and reads a body to its end, whatever its length.
func newTransport() *http.Client {
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, // the operator names the endpoint and the proxy
		MaxIdleConnsPerHost: maxIdle, MaxConnsPerHost: connectionCap, IdleConnTimeout: idleTimeout,
	}
	return &http.Client{Transport: guard{base}}
}

// guard turns redirects into errors and bounds bodies.
type guard struct{ base *http.Transport }

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		return nil, errRedirect
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	return response, nil
}

// CloseIdleConnections is called by http.Client.
func (g guard) CloseIdleConnections() { g.base.CloseIdleConnections() }

// isEncoding reports whether an error is of JSON that could not be read.
func isEncoding(err error) bool {
	return is[*json.SyntaxError](err) || is[*json.UnmarshalTypeError](err) || errors.Is(err, io.EOF) // EOF: an empty body
}

// secretPattern is what keys look like in servers' messages: long runs of
// letters and digits, perhaps masked.
var secretPattern = regexp.MustCompile(`[A-Za-z0-9_*-]*(?:[0-9*][A-Za-z0-9_*-]*){4,}`)

// retryAfter parses the delay that a server asks for, at most an hour: OpenAI's
// milliseconds, seconds or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 { // NaN is not
		return time.Duration(min(ms/1000, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	return pace.RetryAfter(header, now, maxRetryAfter)
}
