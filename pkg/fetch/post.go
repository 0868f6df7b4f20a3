package fetch

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

const (
	postTimeout = 15 * time.Second
	maxDrain    = 64 << 10 // bytes of a response that are read, so that the connection can be reused
)

// Post sends a body to a URL that a caller gave, and returns the status and the
// header of the response. Redirects are not followed: a 3xx is a response. The
// URL is checked as for Fetch. robots.txt and the host limiter do not apply,
// because the receiver requested the message. All errors are *Error.
func (c *Client) Post(ctx context.Context, rawURL string, header http.Header, body []byte) (int, http.Header, error) {
	u, err := CheckURL(rawURL, c.options.AllowLoopback)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, c.options.Timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, invalid("error/url_invalid", err)
	}
	request.Header = header.Clone()
	client := http.Client{
		Transport:     guarded{c.transport, c.options.AllowLoopback, 1 << 40},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, classify(err, nil)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain) // the body is not used
	return response.StatusCode, response.Header, nil
}
