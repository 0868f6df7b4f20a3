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
	maxAnswer   = 4 << 10  // bytes of a response that are returned
)

// Post sends a body to a URL that a caller gave, and returns the status, the header and
// the first bytes of the response. Redirects are not followed: a 3xx is a response. The
// URL is checked as for Fetch. robots.txt and the host limiter do not apply,
// because the receiver requested the message. All errors are *Error.
func (c *Client) Post(ctx context.Context, rawURL string, header http.Header, body []byte) (
	status int, answerHeader http.Header, answer []byte, err error,
) {
	u, err := CheckURL(rawURL, c.options.AllowLoopback)
	if err != nil {
		return 0, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, c.options.Timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, Fail("error/url_invalid", err)
	}
	request.Header = header.Clone()
	client := http.Client{
		Transport:     guarded{c.transport, c.options.AllowLoopback, 1 << 40},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, nil, classify(err, nil)
	}
	defer response.Body.Close()
	// A body that breaks off is used as far as it came.
	answer, _ = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain)
	return response.StatusCode, response.Header, answer, nil
}
