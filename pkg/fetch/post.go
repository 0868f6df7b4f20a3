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
	postAnswer  = 64 << 10 // bytes of an answer that are read, to keep the connection
)

// Post sends a body to an address that a caller gave, and returns the status
// and the header of the answer. Redirects are not followed: a 3xx is an answer.
// Addresses are guarded as for Fetch; robots.txt and the pace of sites do not
// count, for the receiver asked for it. All errors are *Error.
func (c *Client) Post(ctx context.Context, rawURL string, header http.Header, body []byte) (int, http.Header, error) {
	u, err := CheckURL(rawURL, c.options.AllowLoopback)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, c.options.Timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, invalid("The URL is not valid.", err)
	}
	request.Header = header.Clone()
	client := http.Client{
		Transport:     guarded{c.transport, c.options.AllowLoopback, 1 << 40},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, classify(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, postAnswer) // what it says does not matter
	return response.StatusCode, response.Header, nil
}
