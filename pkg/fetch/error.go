package fetch

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"ushuru/pkg/message"
)

// Codes of the errors of this package.
const (
	urlInvalid    = "url_invalid"     // not a URL
	URLForbidden  = "url_forbidden"   // private or reserved address, other scheme or port, user name
	FetchTimeout  = "fetch_timeout"   // no complete answer in time
	FetchTooLarge = "fetch_too_large" // more bytes than allowed, counted after decompression
	FetchFailed   = "fetch_failed"    // any other failure between this server and the site

	// RobotsForbidden means that the site's robots.txt forbids the page to us.
	RobotsForbidden = "robots_forbidden"
	// HostBusy means that no request was sent, because the rate of the site is
	// used up or the site asked for a pause; Wait is the time to wait. The work
	// has not begun, so it is not a failure.
	HostBusy = "host_busy"
)

// Error describes a failure to fetch or read a page. The notice may be
// shown to any caller; Cause is for the operator's logs only. Package listing
// returns *Error too, so that a caller has one type to check.
type Error struct {
	message.Notice // without addresses or other internals

	Details   json.RawMessage // for the caller, in the shape of the code; nil for most
	Cause     error           // private; nil when there is nothing to add
	Retryable bool            // the same request may succeed later
	Wait      time.Duration   // the earliest retry; 0 when no pause is needed
	Paused    bool            // the site itself has asked for that pause
}

// Error returns the public message only.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// Fail returns the lasting failure of a key of the table of texts.
func Fail(key string, cause error) *Error {
	return &Error{Notice: message.New(key, nil), Cause: cause}
}

// classify turns what the HTTP client returned into an *Error. isKnown reports
// whether a host is known to exist: that its name cannot be resolved is then a
// fault of the resolver, which passes.
func classify(err error, isKnown func(host string) bool) error {
	var own *Error
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return Fail("error/url_forbidden.not_public", err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return &Error{Notice: message.New("error/fetch_timeout", nil), Cause: err, Retryable: true}
	case errors.As(err, &lookup) && isKnown != nil && isKnown(strings.TrimSuffix(lookup.Name, ".")):
		return &Error{Notice: message.New("error/fetch_failed.resolver", nil), Cause: err, Retryable: true}
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return Fail("error/fetch_failed.no_host", err)
	case errors.As(err, &certificate):
		return Fail("error/fetch_failed.certificate", err)
	}
	return &Error{Notice: message.New("error/fetch_failed.unreachable", nil), Cause: err, Retryable: true}
}
