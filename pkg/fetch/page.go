package fetch

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
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
// as a date (RFC 9110, 10.2.3); 0 without the header. The maximum is one day.
func (p *Page) RetryAfter() time.Duration {
	value := p.Header.Get("Retry-After")
	if value == "" {
		return 0
	}
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(seconds, 86400)) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		wait = time.Until(date)
	}
	return max(0, min(wait, 24*time.Hour))
}

// Err returns nil for status 200 and otherwise a fetch_failed error, temporary
// for 429 and 5xx.
func (p *Page) Err() error {
	if p.Status == http.StatusOK {
		return nil
	}
	return &Error{
		Code:      FetchFailed,
		Message:   fmt.Sprintf("The site answered with status %d.", p.Status),
		Retryable: p.Status == http.StatusTooManyRequests || p.Status >= 500,
		Wait:      p.RetryAfter(),
	}
}
