package fetch

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Page is a response of a site with any status.
type Page struct {
	URL      string // as requested
	FinalURL string // after redirects
	Status   int
	Header   http.Header
	Body     []byte // decompressed, in the site's own character set
}

// RetryAfter returns the pause that the Retry-After header asks for, in seconds or
// as a date (RFC 9110, 10.2.3); 0 without the header. The maximum is an hour: a
// site that asks for more is asked again after that.
func (p *Page) RetryAfter() time.Duration {
	return pace.RetryAfter(p.Header, time.Now(), maxPause)
}

// AsksForPause reports whether a response itself asks us to pause, by its status or
// its Retry-After.
func (p *Page) AsksForPause() bool {
	return p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable && p.RetryAfter() > 0
}

// Pause returns how long a response asks us not to request anything from its site:
// a 429 or 503, with or without Retry-After. It is 0 for any other response.
func (p *Page) Pause() time.Duration {
	switch p.Status {
	case http.StatusTooManyRequests:
		return cmp.Or(p.RetryAfter(), pauseTooMany)
	case http.StatusServiceUnavailable:
		return cmp.Or(p.RetryAfter(), pauseUnavailable)
	}
	return 0
}

// StatusError returns nil for status 200 and otherwise a fetch_failed error, temporary
// for 429 and 5xx.
func (p *Page) StatusError() error {
	if p.Status == http.StatusOK {
		return nil
	}
	return &Error{
		Notice:    message.New("error/fetch_failed.status", message.Values{"status": strconv.Itoa(p.Status)}),
		Retryable: p.Status == http.StatusTooManyRequests || p.Status >= 500,
		Wait:      p.RetryAfter(),
	}
}
