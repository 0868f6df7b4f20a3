package tra

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"ushuru/pkg/logs"
	"ushuru/pkg/pace"
	"ushuru/pkg/trace"
)

// param is one parameter of a query, whose order is kept.
type param struct{ name, value string }

// query encodes a space as %20, as TRA's own web page does.
func query(params []param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.name + "=" + strings.ReplaceAll(url.QueryEscape(p.value), "+", "%20"))
	}
	return b.String()
}

// get makes one call and returns the body of a 200 response. When the caller's
// context ends, the error is that of the context.
func (c *Client) get(ctx context.Context, call string, params ...param) (_ []byte, err error) {
	ctx, span := trace.Start(ctx, trace.Client, "TRA "+call)
	defer func() { span.End(err) }()
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := c.base + "/" + call
	if len(params) > 0 {
		address += "?" + query(params)
	}
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("tra: %s: %w", call, err)
	}
	req.Header.Set("Accept", "application/json, text/plain, */*")
	req.Header.Set("User-Agent", "ushuru")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, call, 0, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	failure := &Error{Call: call, Status: res.StatusCode, excerpt: logs.Excerpt(body)}
	switch {
	case res.StatusCode != http.StatusOK:
		failure.Kind = statusKind(res.StatusCode)
		failure.RetryAfter = pace.RetryAfter(res.Header, time.Now(), maxRetryAfter)
		return nil, failure
	case err != nil:
		return nil, c.transportError(ctx, call, res.StatusCode, err)
	case int64(len(body)) > c.maxBody:
		failure.Kind, failure.cause = BadAnswer, fmt.Errorf("longer than %d bytes", c.maxBody)
		return nil, failure
	}
	return body, nil
}

// transportError classifies the error of a call without a complete response.
func (c *Client) transportError(ctx context.Context, call string, status int, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("tra: %s: %w", call, ctx.Err())
	}
	kind := Unavailable
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		kind = Certificate
	}
	return &Error{Kind: kind, Call: call, Status: status, cause: err}
}

// undecodable wraps a decoding error into an *Error of the call.
func (c *Client) undecodable(call string, body []byte, err error) error {
	if err == nil {
		return nil
	}
	kind := BadAnswer
	switch {
	case errors.Is(err, errNotJSON):
		kind = Unavailable // a maintenance page, or a log-in page
	case errors.Is(err, errNoVehicle):
		kind = NoSuchVehicle
	}
	return &Error{Kind: kind, Call: call, Status: http.StatusOK, cause: err, excerpt: logs.Excerpt(body)}
}

func sameHostOnly(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirect to another place: %.100s", req.URL.Host)
	}
	if len(via) > 3 {
		return errors.New("more than three redirects")
	}
	return nil
}

// certificates returns the system's certificates and those of a file.
func certificates(file string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("tra: system certificates: %w", err)
	}
	if file == "" {
		return roots, nil
	}
	pem, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("tra: CA file: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tra: CA file %s holds no certificate", file)
	}
	return roots, nil
}
