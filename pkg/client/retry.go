package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"ushuru/pkg/pace"
)

// retryUntil repeats a request until read has accepted a successful response.
func (c *Client) retryUntil(ctx context.Context, r Request, read func(*http.Response) error) error {
	failures := 0 // of the work, not of the way to it
	err := pace.Retry(ctx, pace.Backoff{
		InitialDelay: initialBackoff, MaxDelay: maxBackoff, MaxAttempts: c.options.Retries + 1,
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

// ErrUnreachable means that there is no API at the URL. It is not retried.
var ErrUnreachable = errors.New("client: there is no API at this URL")

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
