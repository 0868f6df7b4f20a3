package scan

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
)

// accept lists the supported types, so that a site with several formats of an image
// does not send AVIF.
const accept = "image/jpeg,image/png,image/webp,image/gif,application/pdf;q=0.9,*/*;q=0.5"

// Fetch returns the file at a URL. The URL and the targets of its redirects must be
// on the list of hosts. bulk means that no person waits for it. Errors are
// *fetch.Error, with a code of this package or of fetch.
func (l *Loader) Fetch(ctx context.Context, rawURL string, bulk bool) ([]byte, error) {
	canonical, err := l.options.Hosts.Canonical(rawURL, l.options.AllowLoopback)
	if err != nil {
		return nil, err
	}
	page, err := l.options.Client.Fetch(ctx, fetch.Request{
		URL: canonical, Bulk: bulk, MaxBody: MaxBytes, Accept: accept,
		Allow: func(u *url.URL) error {
			_, err := l.options.Hosts.allow(u, l.options.AllowLoopback)
			return err
		},
	})
	if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Code == fetch.FetchTooLarge {
		return nil, tooLarge(failure)
	}
	if err != nil {
		return nil, err
	}
	if err := outcome(page); err != nil {
		return nil, err
	}
	return page.Body, nil
}

// outcome returns the error of a response; nil when it has the file.
func outcome(page *fetch.Page) error {
	switch page.Status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return refused(NotFound, nil, page.StatusError())
	case http.StatusAccepted, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusTooManyRequests, http.StatusServiceUnavailable:
		failure := &fetch.Error{Notice: message.New("error/"+Blocked, nil), Cause: page.StatusError()}
		if page.Status == http.StatusTooManyRequests || page.Status == http.StatusServiceUnavailable {
			failure.Retryable, failure.Wait, failure.Paused = true, page.Pause(), page.AsksForPause()
		}
		return failure
	}
	return page.StatusError()
}
